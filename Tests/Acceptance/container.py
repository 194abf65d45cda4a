"""A container with systemd as PID 1, on a tree of a new Debian."""
import itertools, json, re, time

from acceptance import at_exit, claim, end, launch, lives, not_here, note, read, run, since, within


class Container:
    """systemd as PID 1. The tree is not written to: what happens goes into memory and is gone afterwards."""

    def __init__(self, what, place, root, swift, shown, written={}):
        """`swift` is a toolchain's directory, or None. `shown` has further directories of this machine, and where in there they are seen; those of
        `written` can be written to."""
        self.what, self.place, self.swift, self.leader = what, place, swift, None
        binds = [f"--bind-ro={here}:{there}" for here, there in (({swift: swift} if swift else {}) | shown).items()]
        self.words = [*self.tree(root), "--boot", "--machine=martlet-acceptance", "--register=no", "--keep-unit", "--private-network",
                      "--link-journal=no", "--console=pipe", *binds, *(f"--bind={here}:{there}" for here, there in written.items())]
        at_exit.callback(self.stop)
        begun = time.monotonic()
        if not self.boots():
            self.leader = None
            note(*read(place / "console").splitlines()[-5:])
            not_here(what, "systemd-nspawn could not boot a container here (the lines above are its console)")
        claim(True, "systemd is PID 1 of a container of its own",
              f"{self('systemctl', '--version').stdout.splitlines()[0]}, booted in {since(begun)}")

    def tree(self, root):
        """The options of systemd-nspawn that name the tree."""
        return ["-D", root, "--volatile=overlay"]

    def boots(self):
        """Starts the container. Returns whether its services have started."""
        with open(self.place / "console", "w") as console:
            self.nspawn = launch("systemd-nspawn", "-q", *self.words, stdout=console, stderr=console)
        if not within(120, lambda: self.nspawn.poll() is not None or self.is_running(), pause=0.2) or self.nspawn.poll() is not None:
            return False
        # The kernel gives a user namespace a /proc of its own only where it sees a whole one; the container's is partly covered.
        self("mkdir", "-p", "/mnt/proc")
        self("mount", "-t", "proc", "proc", "/mnt/proc")
        return True

    def is_running(self):
        children = run("pgrep", "-P", self.nspawn.pid).stdout.split()
        self.leader = children[0] if children else None
        return self.leader and self("systemctl", "is-system-running").stdout.strip() in ("running", "degraded")

    def __call__(self, *words, **options):
        """Runs a program in there."""
        return run("nsenter", "-t", self.leader, "-m", "-u", "-i", "-n", "-p", "-C", "-r", "-w", "env", "-i",
                   f"PATH={f'{self.swift}/usr/bin:' if self.swift else ''}/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/root", "LANG=C.UTF-8",
                   *words, **options)

    def text(self, *words, **options):
        """What it printed, both streams."""
        done = self(*words, **options)
        return (done.stdout + done.stderr).strip()

    def bash(self, script):
        return self("bash", "-euo", "pipefail", "-c", script)

    def stop(self):
        if self.leader and lives(self.leader):
            self("systemctl", "poweroff")
        within(10, lambda: self.nspawn.poll() is not None)
        end(self.nspawn, limit=1)
        self.leader = None
        self.remove_groups()

    def remove_groups(self):
        """Removes what --keep-unit leaves beneath our own group."""
        for group in itertools.product(("systemd", "unified", "."), ("payload", "supervisor")):
            run("find", "/sys/fs/cgroup/" + "/".join(group), "-depth", "-type", "d", "-exec", "rmdir", "{}", "+")

    def newest(self):
        """The number of the bot's newest integration; None without one."""
        found = re.search(r'"number":(\d+)', self("martlet", "integrations", "kit", "--limit", "1", "--json").stdout)
        return found and int(found[1])

    def show(self, number):
        try:
            return json.loads(self("martlet", "show", f"kit#{number}", "--json").stdout)
        except ValueError:
            return {}

    def judged(self, number):
        """The whole integration, when it is completed; what there is after 300 s."""
        within(300, lambda: self.show(number).get("state") == "completed", pause=0.5)
        return self.show(number)

    def supervisor(self):
        """The process of the job that runs, and the tick of its start: the same process has both."""
        pid = (self("pgrep", "-f", "martlet-supervisor --attempt").stdout.split() or [""])[0]
        return pid, (self("cat", f"/proc/{pid}/stat").stdout.rpartition(") ")[2].split() + [""] * 20)[19]

    def main(self, unit):
        """The main process of a unit."""
        return self("systemctl", "show", unit, "--property=MainPID", "--value").stdout.strip()

    def building(self, ref="release/1.0"):
        """Starts an integration of a branch and awaits its build. Returns its number."""
        self("martlet", "integrate", "kit", "--commit", ref, "--clean")
        number = self.newest()
        within(300, lambda: '"step":"building"' in self("martlet", "show", f"kit#{number}", "--json").stdout, pause=0.5)
        return number


class KeptContainer(Container):
    """The same on a tree that keeps what is written to it while the machine restarts. What it keeps is in memory, and gone after `stop`."""

    def tree(self, root):
        self.kept = self.place / "kept"
        self.kept.mkdir(parents=True)
        run("mount", "-t", "tmpfs", "-o", "mode=755", "tmpfs", self.kept, check=True)
        at_exit.callback(self.forget)
        for name in ("upper", "work", "tree"):
            (self.kept / name).mkdir()
        run("mount", "-t", "overlay", "-o", f"lowerdir={root},upperdir={self.kept}/upper,workdir={self.kept}/work", "overlay",
            self.kept / "tree", check=True)
        return ["-D", self.kept / "tree"]

    @property
    def boot(self):
        """The identifier of the present boot."""
        return self("cat", "/proc/sys/kernel/random/boot_id").stdout.strip()

    def has_started_again(self):
        """Restarts the machine. Returns whether its services have started with another boot."""
        boot = self.boot
        self("systemctl", "reboot")
        # With --keep-unit it ends instead of starting the container again.
        if not within(120, lambda: self.nspawn.poll() is not None, pause=0.2):
            return False
        self.remove_groups()
        return self.boots() and self.boot not in ("", boot)

    def stop(self):
        super().stop()
        self.forget()

    def forget(self):
        """Removes what the machine has written."""
        for path in (self.kept / "tree", self.kept):
            if path.is_mount():
                run("umount", "-l", path)


def held(container, holds, what, figure, otherwise=""):
    """A claim; where it fails, with what the two services said last."""
    if not claim(holds, what, figure if holds else otherwise or figure):
        note(*container.text("journalctl", "-n", "12", "--no-pager", "-o", "cat", "-u", "martlet", "-u", "martlet-launcher").splitlines())
    return holds
