"""A new Debian 12 in a tree of its own, with an ordinary user who has sudo and a password, and a terminal there."""
import fcntl, os, pathlib, pty, select, signal, socket, struct, termios, time

from acceptance import ROOT, at_exit, end, last, launch, not_here, read, run, within
from machines import archive_options

PASSWORD = "correct horse"
# The first process stays: it takes the orphans that a daemon leaves.
ENTER = """tree=$1
shift
mount -t proc proc "$tree/proc"
mount -t tmpfs -o mode=755 dev "$tree/dev"
for device in null zero full random urandom tty; do
    : >"$tree/dev/$device"
    mount --bind "/dev/$device" "$tree/dev/$device"
done
mkdir "$tree/dev/pts" "$tree/dev/shm"
mount --bind /dev/pts "$tree/dev/pts"
mount -t tmpfs -o mode=1777 shm "$tree/dev/shm"
ln -s pts/ptmx "$tree/dev/ptmx"
ln -s /proc/self/fd "$tree/dev/fd"
for directory; do
    mkdir -p "$tree$directory"
    mount --bind "$directory" "$tree$directory"
    mount -o remount,ro,bind "$tree$directory"
done
: >"$tree/ready"
exec chroot "$tree" /bin/bash -c "while :; do sleep 3600 & wait; done"
"""


class Screen:
    """What a terminal of 100 columns got, and after how many seconds each password was asked for."""

    def __init__(self, command, answers):
        begun, self.bytes, self.asked, answers = time.monotonic(), b"", [], list(answers)
        pid, terminal = pty.fork()
        if pid == 0:
            try:
                os.execvp(command[0], command)
            finally:
                os._exit(127)
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 100, 0, 0))
        seen = 0
        while time.monotonic() - begun < 3000:
            if not select.select([terminal], [], [], 5)[0]:
                continue
            try:
                part = os.read(terminal, 65536)
            except OSError:
                break
            if not part:
                break
            self.bytes += part
            if b"password for ada:" in self.bytes[seen:] and answers:
                seen = len(self.bytes)
                self.asked.append(time.monotonic() - begun)
                time.sleep(0.1)  # sudo throws away what was typed before it had turned the echo off.
                os.write(terminal, answers.pop(0).encode() + b"\n")
        os.close(terminal)
        self.status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])

    @property
    def text(self):
        """What it shows in the end: a line begins again at each return of the carriage with its erasure."""
        lines = self.bytes.replace(b"\0", b"").decode(errors="replace").split("\n")
        return "\n".join(line.removesuffix("\r").rpartition("\r\x1b[K")[2] for line in lines).rstrip("\n")

    @property
    def overwritten(self):
        """The words that were written over."""
        parts = self.bytes.decode(errors="replace").replace("\r", "\n").split("\n")
        return [part.removeprefix("\x1b[K") for part in parts if part.startswith("\x1b[K") and part != "\x1b[K"]


class Machine:
    """What it sees of this machine: the toolchain, the sources, and where git is told to find packages of the internet."""

    def __init__(self, what, place, original, archive, toolchain, configuration):
        self.place, self.toolchain, self.configuration, self.tree = place, toolchain, configuration, place / "tree"
        run("cp", "-a", original, self.tree, check=True)
        self.settle(archive)
        shown = [toolchain]
        if configuration == "debug":
            self.sources = ROOT
            shown.append(ROOT)
        else:
            self.sources = pathlib.Path("/home/ada/martlet")
            shown += self.clone()
        with open(place / "unshare.log", "w") as log:
            # Its children end with it by SIGKILL, and what runs in there with its first process.
            self.unshare = launch("unshare", "--mount", "--pid", "--fork", "--kill-child", "bash", "-euc", ENTER, "bash", self.tree, *shown,
                                  stderr=log)
        at_exit.callback(self.leave)
        if not within(20, lambda: (self.tree / "ready").exists()):
            not_here(what, f"no namespaces can be had here: {last(read(place / 'unshare.log'))}")
        self.leader = run("ps", "-o", "pid=", "--ppid", self.unshare.pid).stdout.strip()
        self.ada = ["setpriv", "--reuid", "ada", "--regid", "ada", "--init-groups", "env", "HOME=/home/ada", "USER=ada",
                    f"MARTLET_QUICKSTART_CONFIGURATION={configuration}", "no_proxy=127.0.0.1"]

    def settle(self, archive):
        for name in ("resolv.conf", "hosts"):
            run("install", "-m", "644", f"/etc/{name}", self.tree / "etc", check=True)
        name = socket.gethostname()
        if not any(line.split()[-1:] == [name] for line in read(self.tree / "etc/hosts").splitlines()):
            with open(self.tree / "etc/hosts", "a") as file:
                file.write(f"127.0.0.1 {name}\n")
        (self.tree / "etc/apt/sources.list").write_text(f"deb {archive} bookworm main\n")
        (self.tree / "etc/apt/apt.conf.d/90machine").write_text("".join(line + "\n" for line in archive_options()))
        run("chroot", self.tree, "useradd", "--create-home", "--shell", "/bin/bash", "--groups", "sudo", "ada", check=True)
        run("chroot", self.tree, "chpasswd", input=f"ada:{PASSWORD}\n", check=True)

    def clone(self):
        """A clean clone of the sources, and the directories from which git takes packages."""
        run("git", "clone", "-q", ROOT, f"{self.tree}{self.sources}", check=True)
        run("chroot", self.tree, "chown", "-R", "ada:", self.sources, check=True)
        shown = []
        for line in run("git", "config", "--system", "--get-regexp", r"^url\..*\.insteadof$").stdout.splitlines():
            key, value = line.split(" ", 1)
            run("git", "config", "--file", self.tree / "etc/gitconfig", "--add", key, value, check=True)
            path = key.removeprefix("url.").removesuffix(".insteadof")
            if path.startswith("/") and path not in shown:
                shown.append(path)
        return shown

    def enter(self, *words, path="/usr/sbin:/usr/bin:/sbin:/bin"):
        return ["nsenter", "-t", self.leader, "-m", "-p", "-r", "-w", "env", "-i", f"PATH={self.toolchain}/usr/bin:{path}", "LANG=C.UTF-8",
                "TERM=xterm", "HOME=/root", *(str(word) for word in words)]

    def __call__(self, *words):
        """Runs a program in there, as root."""
        return run(*self.enter(*words))

    def text(self, *words):
        """What it printed, both streams."""
        done = self(*words)
        return (done.stdout + done.stderr).strip()

    def at_home(self, script):
        """Runs a script as the user, in the user's home."""
        return self(*self.ada, "bash", "-c", f"cd && {script}")

    def quickstart(self, *arguments):
        return [*self.ada, str(self.sources / "deploy/quickstart"), *map(str, arguments)]

    def at_terminal(self, answers, *arguments):
        """quickstart at a terminal; its sudo's questions are answered."""
        return Screen(self.enter(*self.quickstart(*arguments), path="/usr/bin:/bin"), answers)

    def processes(self, account):
        """The command lines of an account's processes of Martlet."""
        found = self("find", "/proc", "-maxdepth", "1", "-user", account, "-name", "[0-9]*").stdout.split()
        lines = [self("cat", f"{path}/cmdline").stdout.replace("\0", " ") for path in found]
        return [line for line in lines if "martlet" in line]

    def leave(self):
        end(self.unshare, signal.SIGKILL)
        within(10, lambda: not os.path.exists(f"/proc/{self.leader}"))
