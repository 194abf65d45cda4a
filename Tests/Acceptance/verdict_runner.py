"""`martlet run` on a tree, with a cache and settings of its own, and what it answers."""
import glob, json, os, re, shutil, subprocess, time

from acceptance import GIT, programs

GREEN = ("succeeded", "warnings", "analyzer-warnings")
RED = ("test-failures", "build-errors")
LIMIT = 1200


class Runner:
    """Runs `martlet run` with a cache and settings of its own."""

    def __init__(self, place):
        self.place, self.path = place, "/usr/local/bin:/usr/bin:/bin"
        shown = []
        # A compiler that rustup installed lies in a home directory: jobs see its own directory, not rustup's programs.
        if not shutil.which("cargo", path=self.path) and shutil.which("rustc"):
            rust = subprocess.run(["rustc", "--print", "sysroot"], capture_output=True, text=True).stdout.strip()
            if os.path.exists(f"{rust}/bin/cargo"):
                shown.append(rust)
                self.path = f"{rust}/bin:{self.path}"
        if swift := shutil.which("swift"):
            self.path += ":" + os.path.dirname(os.path.realpath(swift))
        self.settings = place / "martlet.yml"
        self.settings.write_text(f"state: {place}/state\nbots: {place}/bots\nsandbox: {json.dumps({'read-only': shown})}\n")

    def missing(self, needs):
        """The first of these that this machine has not: a program of jobs' PATH, a path, or a file of Ruby or Perl."""
        for need in needs:
            if need.startswith("/"):
                found = glob.glob(need)
            elif need.endswith((".rb", ".pm")):
                command = ["ruby", "-e", f"require '{need[:-3]}'; exit!(true)"] if need.endswith(".rb") else ["perl", "-e", f"require '{need}'"]
                found = shutil.which(command[0]) and subprocess.run(command, capture_output=True).returncode == 0
            else:
                found = shutil.which(need, path=self.path)
            if not found:
                return need
        return None

    def run(self, tree):
        """Returns the answer of `martlet run --json` (None without one), its seconds, and its last words."""
        begun = time.monotonic()
        environment = {**{k: v for k, v in os.environ.items() if not k.startswith("MARTLET_")}, **GIT}
        environment.update(PATH=self.path, XDG_CACHE_HOME=str(self.place / "cache"))
        try:
            result = subprocess.run([str(programs() / "martlet"), "run", str(tree), "--settings", str(self.settings), "--json"],
                                    env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", timeout=LIMIT)
        except subprocess.TimeoutExpired:
            return None, LIMIT, f"no end within {LIMIT} s"
        took = time.monotonic() - begun
        try:
            return Answer(json.loads(result.stdout)), took, ""
        except ValueError:
            return None, took, (result.stderr.strip().splitlines() or ["it printed nothing"])[-1][:160]

    def by_hand(self, tree, commands):
        """The seconds of these commands in a copy of the tree, the second time that they run; None where they fail."""
        home = self.place / "hand-home"
        home.mkdir(exist_ok=True)
        box = ["bwrap", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp", "--bind", tree, tree, "--bind", home, home,
               "--unshare-pid", "--die-with-parent", "--chdir", tree]
        environment = {"PATH": self.path, "HOME": str(home), "TERM": "dumb", "LANG": "C.UTF-8", "CI": "true", **GIT}
        for attempt in range(2):
            begun = time.monotonic()
            result = subprocess.run([str(word) for word in box] + ["sh", "-c", commands], env=environment, stdin=subprocess.DEVNULL,
                                    capture_output=True, timeout=LIMIT)
            if result.returncode:
                return None
        return time.monotonic() - begun


class Answer:
    """What `martlet run --json` says, as far as it is compared."""

    def __init__(self, answer):
        self.verdict = answer.get("verdict") or answer.get("state") or "none"
        self.tests = (answer.get("summary") or {}).get("tests", 0)
        self.failures = (answer.get("summary") or {}).get("testFailures", 0)
        self.project = answer.get("project") or "no project"
        configurations = answer.get("configurations") or []
        reasons = [answer.get("reason")] + [part.get("reason") for part in configurations] + [i.get("message") for i in answer.get("issues") or []]
        self.reason = " ".join(reason for reason in reasons if reason)
        self.notes = " ".join(note for part in configurations for note in part.get("notes") or [])
        # A tool that counts the tests and does not name those that passed: the note has the number.
        stated = [int(number) for number in re.findall(r"ran ([0-9]+) tests?, and does not name", self.notes)]
        self.counted = max(self.tests, sum(stated))
        self.tested = "; ".join(part.get("tested") or "" for part in configurations)
        self.by_status = "exit status alone" in self.tested

    @property
    def color(self):
        return "green" if self.verdict in GREEN else "red" if self.verdict in RED else "neither"

    def __str__(self):
        tests = "by exit status" if self.by_status and not self.tests else f"{self.counted} tests"
        return f"{self.verdict}, {tests}; {self.project}"
