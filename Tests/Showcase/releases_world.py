"""The daemon and the repository of the parts of Tests/Showcase/releases."""
import http.client, json, os, shutil, socket, subprocess, sys, tempfile, time

failures = 0


def claim(holds, what, figure=""):
    global failures
    failures += not holds
    print(f"{'ok' if holds else 'FAILED':8} {what:100} {figure}", flush=True)


def run(*words, cwd=None, env=None, check=True, input=None):
    return subprocess.run(words, cwd=cwd, env=env, check=check, capture_output=True, text=True, input=input)


def write(path, text, mode=0o644):
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode), "w") as file:
        file.write(text)


class World:
    """A bot `kit` that publishes from release branches."""

    def __init__(self, martlet, bot="", settings=""):
        self.martlet, self.home = martlet, tempfile.mkdtemp(prefix="martlet-releases-")
        self.work, self.remote = f"{self.home}/work", f"{self.home}/kit.git"
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        for name in ("bots", "secrets", "state"):
            os.mkdir(f"{self.home}/{name}", 0o700)
        run("git", "init", "-q", "--bare", "-b", "main", self.remote)
        run("git", "init", "-q", "-b", "main", self.work)
        for name, value in (("user.name", "Ann"), ("user.email", "ann@example.org"), ("commit.gpgsign", "false")):
            run("git", "config", name, value, cwd=self.work)
        write(f"{self.home}/martlet.yml",
              f"listen: 127.0.0.1:{self.port}\nurl: {self.url}\nstate: {self.home}/state\nisolation: sandbox\n{settings}")
        write(f"{self.home}/bots/kit.yml",
              f"repository: {self.remote}\npoll: off\n{bot}triggers:\n"
              "  - { name: publish, branches: ['release/*'], publish: { version: branch } }\n")
        self.log = open(f"{self.home}/daemon.log", "a")
        self.environment = os.environ | {"XDG_CONFIG_HOME": f"{self.home}/config"}

    def start(self):
        self.process = subprocess.Popen(
            [self.martlet, "serve", "--settings", f"{self.home}/martlet.yml"], stdout=self.log, stderr=self.log)
        self.until("the daemon", lambda: self.api("bots")["items"])

    def end(self):
        self.process.terminate()
        stopped = self.process.wait(60) == 0
        # The launcher outlives the daemon, as it should; without a job there is none.
        if os.path.exists(f"{self.home}/state/launcher.socket.lock"):
            with open(f"{self.home}/state/launcher.socket.lock") as file:
                os.kill(int(file.read().split()[1]), 15)
        if not os.environ.get("MARTLET_SHOWCASE_KEEP"):
            shutil.rmtree(self.home, ignore_errors=True)
        return stopped

    def until(self, what, condition, limit=120):
        end = time.monotonic() + limit
        while time.monotonic() < end:
            try:
                found = condition()
                if found:
                    return found
            except OSError:
                pass
            time.sleep(0.1)
        self.process.terminate()
        self.process.wait(60)
        with open(f"{self.home}/daemon.log") as file:
            sys.exit(f"releases: {what} did not come to be; the log's end:\n" + "".join(file.readlines()[-20:]))

    def request(self, method, path, body=None, headers={}):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        connection.request(method, path, body, headers)
        answer = connection.getresponse()
        return answer.status, answer.read()

    def api(self, path):
        return json.loads(self.request("GET", "/api/v1/" + path)[1])

    def command(self, *words, cwd=None):
        return run(self.martlet, *words, cwd=cwd, env=self.environment, check=False)

    def git(self, *words):
        return run("git", *words, cwd=self.work).stdout.strip()

    def commit(self, files, message="Change"):
        for name, text in files.items():
            os.makedirs(os.path.dirname(f"{self.work}/{name}"), exist_ok=True)
            write(f"{self.work}/{name}", text)
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", message)
        return self.git("rev-parse", "HEAD")

    def integrate(self, branch):
        """Pushes HEAD to a branch and has the daemon integrate it; the completed integration."""
        self.git("push", "-q", self.remote, f"HEAD:refs/heads/{branch}")
        done = self.command("integrate", "kit", "--commit", branch, "--wait", "--server", f"{self.home}/state/martlet.socket")
        if done.returncode not in (0, 1):
            sys.exit(f"releases: {branch} could not be integrated: {done.stderr}")
        return self.api("bots/kit/integrations/latest")
