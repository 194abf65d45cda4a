"""The daemon of the parts of Tests/Acceptance/releases: in the sandbox, with a bot `kit` that publishes from release branches."""
from acceptance import Daemon, Repository


class PublishingDaemon(Daemon):
    def __init__(self, place, bot="", settings="", publish="version: branch"):
        super().__init__(place, f"isolation: sandbox\n{settings}")
        self.kit = Repository(place, "kit")
        self.file("kit", f"repository: {self.kit.url}\npoll: off\n{bot}triggers:\n"
                         f"  - {{ name: publish, branches: ['release/*'], publish: {{ {publish} }} }}\n")

    def integrated(self, branch):
        """Pushes the repository's HEAD to a branch and has it integrated. Returns the completed integration."""
        self.kit.push(branch)
        done = self.command("integrate", "kit", "--commit", branch, "--wait")
        if done.returncode not in (0, 1):
            raise RuntimeError(f"{branch} could not be integrated: {done.stderr}")
        return self.api("bots/kit/integrations/latest")
