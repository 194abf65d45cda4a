"""What the acceptance programs share: claims, processes, a temporary place, repositories, and a daemon of their own.

Everything is in a temporary directory and on free ports of loopback. Everything that was started is ended, also after an error, SIGINT or SIGTERM.

MARTLET_BUILD   the directory with the built programs; without it `.build/release` is used, else `.build/debug`
MARTLET_KEEP=1  keeps the temporary directory and prints its path
"""
import hashlib, hmac, http.client, json, os, pathlib, shutil, signal, subprocess, tempfile, time, urllib.error, urllib.request

from claims import claim, counts, finish, missing, not_here, note, run_parts, skip, usage
from processes import (ROOT, at_exit, daemons, descendants, end, end_services, find, free_port, last, launch, listens, lives, need, programs,
                       read, run, since, within, write)

GIT = {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1", "GIT_AUTHOR_NAME": "Ann", "GIT_AUTHOR_EMAIL": "ann@acme.example",
       "GIT_COMMITTER_NAME": "Ann", "GIT_COMMITTER_EMAIL": "ann@acme.example"}
SECRET = "It's a Secret to Everybody"
NOTHING = "recipe: { configurations: { debug: { build: 'true', test: 'true' } }, analyze: [] }\n"


class Place:
    """A temporary directory of its own, removed afterwards."""

    def __init__(self, parent=None, mode=0o700):
        self.path = pathlib.Path(tempfile.mkdtemp(prefix="martlet-acceptance-", dir=parent)).resolve()
        self.path.chmod(mode)
        at_exit.callback(self.remove)

    def __enter__(self):
        return self.path

    def __exit__(self, *_):
        at_exit.close()

    def remove(self):
        if not self.path.exists():
            return
        end_services(self.path)
        if os.environ.get("MARTLET_KEEP") == "1":
            print("kept:", self.path)
            return
        run("chmod", "-R", "u+rwX", self.path)
        shutil.rmtree(self.path, ignore_errors=True)


# ---------------------------------------------------------------------------------------------------- repositories


class Repository:
    """A bare repository and a clone of it in which commits are made."""

    def __init__(self, directory, name, branch="main"):
        self.name, self.branch = name, branch
        self.url, self.work = str(directory / f"{name}.git"), str(directory / name)
        self.git("init", "-q", "--bare", "-b", branch, self.url, cwd="/")
        self.git("init", "-q", "-b", branch, self.work, cwd="/")
        self.git("remote", "add", "origin", self.url)

    def git(self, *arguments, cwd=None):
        result = run("git", *arguments, cwd=cwd or self.work, env={**os.environ, **GIT})
        if result.returncode:
            raise RuntimeError(f"git {' '.join(arguments)}: {result.stderr}")
        return result.stdout.strip()

    @property
    def head(self):
        return self.git("rev-parse", "HEAD")

    def write(self, files):
        for name, text in files.items():
            write(f"{self.work}/{name}", text)

    def commit(self, files={}, branch="main", subject="Change", options=()):
        """Commits files with whatever else has changed, and pushes that to a branch, unless that is None. Returns the commit."""
        self.write(files)
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", subject, *options)
        if branch:
            self.push(branch)
        return self.head

    def push(self, branch):
        self.git("push", "-q", "-f", "origin", f"HEAD:refs/heads/{branch}")

    def hook(self, daemon, bot):
        """Has hooks/post-receive tell the daemon of each push, signed with a secret of the repository's own."""
        secret = os.urandom(24).hex()
        shutil.copy(ROOT / "hooks/post-receive", f"{self.url}/hooks/post-receive")
        write(f"{self.url}/martlet-secret", secret, 0o600)
        self.git("config", "martlet.url", f"{daemon.url}/webhooks/push/{bot}", cwd=self.url)
        self.git("config", "martlet.secret", f"{self.url}/martlet-secret", cwd=self.url)
        daemon.secret(f"{bot}-webhook", secret)


# ------------------------------------------------------------------------------------------------------ the daemon


class Daemon:
    """A daemon with its state in `directory`. `prefix` is put before its command line, such as strace with its options."""

    def __init__(self, directory, settings="", url=None):
        self.directory, self.port, self.process = directory, free_port(), None
        self.url, self.state = f"http://127.0.0.1:{self.port}", directory / "state"
        self.martlet, self.log = str(programs() / "martlet"), directory / "daemon.log"
        for name in ("bots", "secrets", "triggers", "state", "home"):
            (directory / name).mkdir(mode=0o700, exist_ok=True)
        self.settings = directory / "martlet.yml"
        self.settings.write_text(
            f"listen: 127.0.0.1:{self.port}\nurl: {url or self.url}\nstate: {self.state}\nbots: {directory}/bots\n"
            f"secrets: {directory}/secrets\n{settings}")
        self.secret("hook", SECRET)
        at_exit.callback(self.stop)

    def secret(self, name, text):
        write(f"{self.directory}/secrets/{name}", text, 0o600)

    def file(self, bot, text):
        """Writes a bot file, at once or not at all."""
        part = self.directory / f"bots/{bot}.part"
        part.write_text(text)
        part.rename(self.directory / f"bots/{bot}.yml")

    def bot(self, name, repository, more=NOTHING, poll="off", secret="hook"):
        self.file(name, f"repository: {repository.url}\npoll: {poll}\nwebhook: {{ secret: {secret} }}\n{more}")

    def begin(self, prefix=()):
        """Starts the daemon and returns at once."""
        environment = {k: v for k, v in os.environ.items() if not k.startswith("MARTLET_")}
        environment.update(HOME=str(self.directory / "home"), SWIFT_BACKTRACE="enable=no")
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen([*prefix, self.martlet, "serve", "--settings", str(self.settings)],
                                            stdout=log, stderr=log, stdin=subprocess.DEVNULL, env=environment, start_new_session=True)
        daemons.add(self.process.pid)
        return self

    def start(self, prefix=(), limit=60):
        """Starts the daemon; returns the seconds until it answered, or None where it ended or did not answer."""
        begun = time.monotonic()
        self.begin(prefix)
        return time.monotonic() - begun if within(limit, lambda: self.answers() or self.process.poll() is not None) and self.answers() else None

    def started(self):
        """Starts the daemon. Ends the program where that fails, with the log's last lines."""
        files = len(list(self.directory.glob("bots/*.yml")))
        if self.start(limit=120) is None or not within(60, lambda: len(self.api("bots").get("items", [])) == files):
            claim(False, "the daemon starts", last(read(self.log), 3))
            finish()
        return self

    def until(self, what, condition, limit=120):
        """Awaits what a condition returns. Raises RuntimeError after the time, with the log's last lines."""
        if found := within(limit, condition):
            return found
        raise RuntimeError(f"{what} did not come to be within {limit} s; the log's end: {last(read(self.log), 5)}")

    def answers(self, limit=2):
        try:
            return urllib.request.urlopen(self.url + "/health", timeout=limit).status == 200
        except (OSError, http.client.HTTPException):
            return False

    def pid(self):
        """The daemon's own process, also beneath a tracer."""
        found = [self.process.pid] + descendants(self.process.pid)
        return next((p for p in reversed(found) if read(f"/proc/{p}/comm").strip() == "martlet"), None)

    def memory(self, field="VmRSS"):
        """A line of the process's status in MiB."""
        return next(int(line.split()[1]) for line in read(f"/proc/{self.pid()}/status").splitlines() if line.startswith(field + ":")) / 1024

    def ask(self, path, data=None, headers=None, method=None, limit=30):
        """Returns status and body; 0 where there was no answer."""
        request = urllib.request.Request(self.url + path, data=data, headers=headers or {}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=limit) as answer:
                return answer.status, answer.read()
        except urllib.error.HTTPError as error:
            return error.code, error.read()
        except (OSError, http.client.HTTPException):
            return 0, b""

    def text(self, path):
        """The body of a page or file, empty where there is none."""
        status, body = self.ask(path)
        return body.decode(errors="replace") if status == 200 else ""

    def get(self, path):
        status, body = self.ask(path)
        return json.loads(body) if status == 200 else {}

    def api(self, path):
        return self.get("/api/v1/" + path)

    def push(self, bot, delivery, before, after, branch="main", limit=30):
        """Tells of a push as hooks/post-receive does; returns the status, 0 without an answer."""
        body = json.dumps({"updates": [{"ref": f"refs/heads/{branch}", "before": before, "after": after}]}).encode()
        code = hmac.new(SECRET.encode(), body, hashlib.sha256).hexdigest()
        return self.ask(f"/webhooks/push/{bot}", body, {"X-Hub-Signature-256": f"sha256={code}", "X-Martlet-Delivery": delivery,
                                                        "Content-Type": "application/json"}, limit=limit)[0]

    def items(self, path):
        """All items of a list of the API, page by page."""
        found, at = [], ""
        while True:
            page = self.api(f"{path}{'&' if '?' in path else '?'}limit=200{at}")
            found += page.get("items", [])
            if not page.get("next"):
                return found
            at = f"&before={page['next']}"

    def integrations(self, bot):
        return self.items(f"bots/{bot}/integrations")

    def completed(self, bot, commit, limit=60):
        """The completed integration of a commit; None after the time."""
        def look():
            return next((i for i in self.integrations(bot) if i["commit"] == commit and i["state"] == "completed"), None)
        return within(limit, look, pause=0.1)

    def judged(self, bot, commit, branch="main", limit=300):
        """The whole integration of a commit on a branch, when it is completed. After the time its result says so."""
        found = {}

        def look():
            if "number" not in found:
                items = self.api(f"bots/{bot}/integrations?limit=100").get("items", [])
                found.update(next(({"number": i["number"]} for i in items if i["commit"] == commit and i["ref"] == f"refs/heads/{branch}"), {}))
            view = self.api(f"bots/{bot}/integrations/{found['number']}") if found else {}
            return view if view.get("state") == "completed" else None
        none = {"number": found.get("number", "?"), "result": f"not completed after {limit} s", "summary": {}, "configurations": []}
        return within(limit, look, pause=0.2) or none | found

    def integrate(self, repository, branch="main", limit=300):
        """Pushes what is committed and awaits its integration by the bot of the repository's name."""
        repository.push(branch)
        return self.judged(repository.name, repository.head, branch, limit)

    def command(self, *arguments, **options):
        """Runs the command-line tool against this daemon's socket."""
        environment = {**os.environ, "HOME": str(self.directory / "home"), "MARTLET_URL": str(self.state / "martlet.socket")}
        return run(self.martlet, *arguments, **{"env": environment} | options)

    def kill(self):
        """Ends the daemon by SIGKILL, as a loss of power would."""
        pid = self.pid()
        if pid:
            os.kill(pid, signal.SIGKILL)
        self.process.wait(30)

    def leave(self):
        """Ends the daemon; its jobs and the launcher go on. Returns whether it ran until now and ended in order."""
        if not self.process or self.process.poll() is not None:
            return False
        os.kill(self.pid() or self.process.pid, signal.SIGTERM)
        try:
            return self.process.wait(60) == 0
        except subprocess.TimeoutExpired:
            self.process.kill()
            return False

    def stop(self):
        """Ends the daemon, its launcher and its jobs. Returns whether the daemon ended in order."""
        in_order = self.leave()
        end_services(self.directory)
        return in_order
