"""What the acceptance programs share: a daemon of their own, repositories, and a line for each claim.

Everything is in a temporary directory and on free ports of loopback, and everything that was started is ended. `MARTLET_BUILD` names the
directory with `martlet` and `martlet-supervisor`; without it `.build/release` is used, else `.build/debug`. `MARTLET_KEEP=1` keeps the directory.
"""
import hashlib, hmac, json, os, pathlib, shutil, signal, socket, subprocess, sys, tempfile, time, urllib.error, urllib.request

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
GIT = {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1", "GIT_AUTHOR_NAME": "Ann", "GIT_AUTHOR_EMAIL": "ann@acme.example",
       "GIT_COMMITTER_NAME": "Ann", "GIT_COMMITTER_EMAIL": "ann@acme.example"}
SECRET = "It's a Secret to Everybody"
NOTHING = "recipe: { configurations: { debug: { build: 'true', test: 'true' } }, analyze: [] }\n"
counts = {"ok": 0, "FAILED": 0, "skipped": 0}


def programs():
    """The directory of the built programs."""
    named = os.environ.get("MARTLET_BUILD")
    for place in [pathlib.Path(named)] if named else [ROOT / ".build/release", ROOT / ".build/debug"]:
        if (place / "martlet").exists() and (place / "martlet-supervisor").exists():
            return place.resolve()
    sys.exit(f"martlet and martlet-supervisor are not in {named or '.build/release or .build/debug'}; build them (swift build), or set MARTLET_BUILD")


def claim(holds, what, figure=""):
    """Prints a claim with its figure, and counts it."""
    word = "ok" if holds else "FAILED"
    counts[word] += 1
    print(f"{word:8} {what:<86} {figure}", flush=True)
    return holds


def skip(what, reason):
    counts["skipped"] += 1
    print(f"{'skipped':8} {what:<86} {reason}", flush=True)


def finish():
    """Prints how many claims hold, and ends with 1 where one does not."""
    print(f"{counts['ok']} passed, {counts['FAILED']} failed, {counts['skipped']} skipped")
    sys.exit(1 if counts["FAILED"] or not counts["ok"] else 0)


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def within(seconds, ask, pause=0.05):
    """Asks until the answer is true; returns it, or the last one after the time."""
    end = time.monotonic() + seconds
    while True:
        answer = ask()
        if answer or time.monotonic() > end:
            return answer
        time.sleep(pause)


class Repository:
    """A bare repository and a clone of it in which commits are made."""

    def __init__(self, directory, name):
        self.url, self.work = str(directory / f"{name}.git"), str(directory / name)
        self.git("init", "-q", "--bare", "-b", "main", self.url, cwd="/")
        self.git("init", "-q", "-b", "main", self.work, cwd="/")
        self.git("remote", "add", "origin", self.url)

    def git(self, *arguments, cwd=None):
        result = subprocess.run(["git", *arguments], cwd=cwd or self.work, env={**os.environ, **GIT}, capture_output=True, text=True)
        if result.returncode:
            raise RuntimeError(f"git {' '.join(arguments)}: {result.stderr}")
        return result.stdout.strip()

    def commit(self, files, branch="main", subject="Change"):
        for name, text in files.items():
            path = pathlib.Path(self.work, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", subject)
        self.git("push", "-q", "-f", "origin", f"HEAD:refs/heads/{branch}")
        return self.git("rev-parse", "HEAD")


class Daemon:
    """A daemon with its state in `directory`. `prefix` is put before its command line, such as strace with its options."""

    def __init__(self, directory, settings=""):
        self.directory, self.port, self.process = directory, free_port(), None
        self.url, self.state = f"http://127.0.0.1:{self.port}", directory / "state"
        for name in ("bots", "secrets", "triggers", "state", "home"):
            (directory / name).mkdir(mode=0o700, exist_ok=True)
        self.settings = directory / "martlet.yml"
        self.settings.write_text(
            f"listen: 127.0.0.1:{self.port}\nurl: {self.url}\nstate: {self.state}\nbots: {directory}/bots\nsecrets: {directory}/secrets\n" + settings)
        path = directory / "secrets/hook"
        path.write_text(SECRET)
        path.chmod(0o600)

    def bot(self, name, repository, more=NOTHING, poll="off"):
        part = self.directory / f"bots/{name}.part"
        part.write_text(f"repository: {repository.url}\npoll: {poll}\nwebhook: {{ secret: hook }}\n{more}")
        part.rename(self.directory / f"bots/{name}.yml")

    def begin(self, prefix=()):
        """Starts the daemon and returns at once."""
        environment = {k: v for k, v in os.environ.items() if not k.startswith("MARTLET_")}
        environment.update(HOME=str(self.directory / "home"), SWIFT_BACKTRACE="enable=no")
        with open(self.directory / "daemon.log", "ab") as log:
            self.process = subprocess.Popen(
                [*prefix, str(programs() / "martlet"), "serve", "--settings", str(self.settings)],
                stdout=log, stderr=log, stdin=subprocess.DEVNULL, env=environment, start_new_session=True)
        return self

    def start(self, prefix=(), limit=60):
        """Starts the daemon; returns the seconds until it answered, or None where it ended or did not answer."""
        begun = time.monotonic()
        self.begin(prefix)
        return time.monotonic() - begun if within(limit, lambda: self.answers() or self.process.poll() is not None) and self.answers() else None

    def answers(self, limit=2):
        try:
            return urllib.request.urlopen(self.url + "/health", timeout=limit).status == 200
        except (OSError, urllib.error.HTTPError):
            return False

    def pid(self):
        """The daemon's own process, also beneath a tracer."""
        found = [self.process.pid] + [int(p) for p in subprocess.run(
            ["pgrep", "-P", str(self.process.pid)], capture_output=True, text=True).stdout.split()]
        return next((p for p in reversed(found) if read(f"/proc/{p}/comm").strip() == "martlet"), None)

    def ask(self, path, data=None, headers=None, method=None, limit=30):
        """Returns status and body; 0 where there was no answer."""
        request = urllib.request.Request(self.url + path, data=data, headers=headers or {}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=limit) as answer:
                return answer.status, answer.read()
        except urllib.error.HTTPError as error:
            return error.code, error.read()
        except OSError:
            return 0, b""

    def get(self, path):
        status, body = self.ask(path)
        return json.loads(body) if status == 200 else {}

    def push(self, bot, delivery, before, after, branch="main", limit=30):
        """Tells of a push as hooks/post-receive does; returns the status, 0 without an answer."""
        body = json.dumps({"updates": [{"ref": f"refs/heads/{branch}", "before": before, "after": after}]}).encode()
        code = hmac.new(SECRET.encode(), body, hashlib.sha256).hexdigest()
        return self.ask(f"/webhooks/push/{bot}", body, {"X-Hub-Signature-256": f"sha256={code}", "X-Martlet-Delivery": delivery,
                                                        "Content-Type": "application/json"}, limit=limit)[0]

    def integrations(self, bot):
        found, cursor = [], ""
        while True:
            page = self.get(f"/api/v1/bots/{bot}/integrations?limit=200{cursor}")
            found += page.get("items", [])
            if not page.get("next"):
                return found
            cursor = f"&cursor={page['next']}"

    def completed(self, bot, commit, limit=60):
        """The completed integration of a commit; None after the time."""
        def look():
            return next((i for i in self.integrations(bot) if i["commit"] == commit and i["state"] == "completed"), None)
        return within(limit, look, pause=0.1)

    def command(self, *arguments):
        return subprocess.run([str(programs() / "martlet"), *arguments, "--server", str(self.state / "martlet.socket")],
                              capture_output=True, text=True, env={**os.environ, "HOME": str(self.directory / "home")})

    def kill(self):
        """Ends the daemon by SIGKILL, as a loss of power would."""
        pid = self.pid()
        if pid:
            os.kill(pid, signal.SIGKILL)
        self.process.wait(30)

    def stop(self):
        """Ends the daemon, its launcher and its jobs."""
        if self.process and self.process.poll() is None:
            pid = self.pid()
            os.kill(pid or self.process.pid, signal.SIGTERM)
            try:
                self.process.wait(30)
            except subprocess.TimeoutExpired:
                self.process.kill()
        mine = str(self.directory)
        for entry in os.listdir("/proc"):
            if entry.isdigit() and "martlet-supervisor" in (line := read(f"/proc/{entry}/cmdline")) and mine in line:
                try:
                    os.kill(int(entry), signal.SIGTERM)
                except OSError:
                    pass


def read(path):
    try:
        return pathlib.Path(path).read_text(errors="replace")
    except OSError:
        return ""


class Place:
    """A temporary directory of its own, removed afterwards."""

    def __enter__(self):
        self.path = pathlib.Path(tempfile.mkdtemp(prefix="martlet-acceptance-"))
        return self.path

    def __exit__(self, *_):
        if os.environ.get("MARTLET_KEEP") == "1":
            print("kept:", self.path)
            return
        subprocess.run(["chmod", "-R", "u+rwX", str(self.path)], stderr=subprocess.DEVNULL)
        shutil.rmtree(self.path, ignore_errors=True)
