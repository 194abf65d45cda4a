"""New machines for Tests/Acceptance/operate: a Debian with systemd as PID 1 that is kept across a reboot, and what is outside of it.

Paths beneath /root and /srv are those of the container's tree, made for the run; this machine has none of them.
"""
import json, sys

from acceptance import Repository, last, note, run, within
from container import KeptContainer
from machines import archive, tree
from package_machine import APT, TREE, debs, downloaded, swift_of_programs

WHAT = "operation on new machines"
# Where a machine sees what is outside of it: git repositories, backups, published files that are left, the jobs' ledger.
OUTSIDE = "/srv/outside"


class World:
    """What all machines of a run share. It is made when the first machine is."""

    def __init__(self, package, place):
        self.package, self.place, self.machines = package, place, 0
        self.outside = place / "outside"
        self.shown = None

    def prepare(self):
        if self.shown:
            return
        self.root, self.swift = tree(WHAT, *TREE, archive()), swift_of_programs()
        self.shown = {debs(self.package, self.place, "newer", "newest"): "/srv/debs", self.package: "/root/martlet.deb",
                      downloaded(self.package, self.root, self.place): "/srv/archives"}
        for name in ("git", "backup", "left", "ledger"):
            (self.outside / name).mkdir(parents=True)
        # The jobs' user is the machines' own.
        (self.outside / "ledger").chmod(0o777)
        note(f"the machines see {self.swift or 'no Swift toolchain'}")

    def machine(self):
        """A new machine without Martlet."""
        self.prepare()
        self.machines += 1
        return Machine(self, self.place / f"machine-{self.machines}")

    def repository(self, name):
        """A repository on a git server that outlives the machines."""
        self.prepare()
        return Repository(self.outside / "git", name)


class Machine(KeptContainer):
    def __init__(self, world, place):
        super().__init__(WHAT, place, world.root, world.swift, world.shown, {world.outside: OUTSIDE})
        self.bash("cp /srv/archives/*.deb /var/cache/apt/archives/; printf '[safe]\\n\\tdirectory = *\\n' >/etc/gitconfig")

    def install(self):
        """Installs Martlet. Raises RuntimeError where that fails."""
        done = self(*APT, "install", "/root/martlet.deb")
        if done.returncode:
            raise RuntimeError(f"the package could not be installed: {last(done.stdout + done.stderr, 5)}")

    def settings(self, *lines):
        """Appends lines to the settings, and restarts the service."""
        self.write("/etc/martlet/martlet.yml", self("cat", "/etc/martlet/martlet.yml").stdout + "".join(line + "\n" for line in lines))
        self("systemctl", "restart", "martlet")

    def write(self, path, text):
        self("bash", "-c", f"cat >{path}", input=text)

    def bot(self, name, text):
        """Writes a bot file of a repository of that name, and awaits the bot."""
        self.write(f"/etc/martlet/bots/{name}.yml", f"repository: {OUTSIDE}/git/{name}.git\n{text}")
        if not within(30, lambda: self("martlet", "bot", name).returncode == 0, pause=0.2):
            raise RuntimeError(f"there is no bot {name}: {self.text('martlet', 'bots')}")

    def json(self, *words):
        """What a command prints with --json; empty where it fails."""
        done = self("martlet", *words, "--json")
        try:
            return json.loads(done.stdout)
        except ValueError:
            return {}

    def integrations(self, name="kit"):
        """All integrations of a bot, the newest first."""
        return self.json("integrations", name, "--limit", "200").get("items", [])

    def all_completed(self, commits, limit=300):
        """Awaits that the newest integration of each commit is completed. Returns them by commit."""
        def look():
            views = {view["commit"]: view for view in reversed(self.integrations()) if view["commit"] in commits}
            return views if len(views) == len(set(commits)) and all(view["state"] == "completed" for view in views.values()) else None
        return within(limit, look, pause=0.5) or {}

    def page(self, path="/"):
        """A page of the service, asked for by a program of this machine in the network of that one."""
        words = f"import urllib.request as r; print(r.urlopen('http://127.0.0.1:8080{path}', timeout=30).read().decode())"
        return run("nsenter", "-t", self.leader, "-n", sys.executable, "-c", words).stdout

    def has_service(self, limit=60):
        """Awaits that the service answers."""
        return within(limit, lambda: self("martlet", "bots").returncode == 0, pause=0.2)
