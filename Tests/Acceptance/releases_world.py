"""The daemon and the repository of the parts of Tests/Acceptance/releases."""
import os, sys

import showcase_world
from showcase_world import run, write

failures = 0


def claim(holds, what, figure=""):
    global failures
    failures += not holds
    print(f"{'ok' if holds else 'FAILED':8} {what:100} {figure}", flush=True)


class World(showcase_world.World):
    """A bot `kit` that publishes from release branches."""

    def __init__(self, martlet, bot="", settings="", publish="version: branch"):
        super().__init__(martlet, "releases", ("bots", "secrets", "state"))
        self.url = f"http://127.0.0.1:{self.port}"
        write(f"{self.home}/martlet.yml",
              f"listen: 127.0.0.1:{self.port}\nurl: {self.url}\nstate: {self.home}/state\nisolation: sandbox\n{settings}")
        write(f"{self.home}/bots/kit.yml",
              f"repository: {self.remote}\npoll: off\n{bot}triggers:\n"
              f"  - {{ name: publish, branches: ['release/*'], publish: {{ {publish} }} }}\n")
        self.environment = os.environ | {"XDG_CONFIG_HOME": f"{self.home}/config"}

    def command(self, *words, cwd=None):
        return run(self.martlet, *words, cwd=cwd, env=self.environment, check=False)

    def integrate(self, branch):
        """Pushes HEAD to a branch and has the daemon integrate it; the completed integration."""
        self.git("push", "-q", self.remote, f"HEAD:refs/heads/{branch}")
        done = self.command("integrate", "kit", "--commit", branch, "--wait", "--server", f"{self.home}/state/martlet.socket")
        if done.returncode not in (0, 1):
            sys.exit(f"releases: {branch} could not be integrated: {done.stderr}")
        return self.api("bots/kit/integrations/latest")
