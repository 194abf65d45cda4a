"""What the showcases in Python share: a port, a daemon's end, and a world with a repository and a bot `kit`."""
import http.client, json, os, shutil, signal, socket, subprocess, sys, tempfile, time


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def run(*words, cwd=None, env=None, check=True, input=None):
    return subprocess.run(words, cwd=cwd, env=env, check=check, capture_output=True, text=True, input=input)


def write(path, text, mode=0o644):
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode), "w") as file:
        file.write(text)


def end_launcher(home):
    """The launcher outlives the daemon, as it should, and not its showcase."""
    try:
        with open(f"{home}/state/launcher.socket.lock") as file:
            launcher = int(file.read().split()[1])
        # A lock that an ended launcher left may name another's process by now.
        with open(f"/proc/{launcher}/cmdline") as file:
            if home in file.read():
                os.kill(launcher, signal.SIGTERM)
    except (OSError, ValueError, IndexError):
        pass


class World:
    def __init__(self, martlet, name, directories):
        """name: of the showcase, for its directory and what it says."""
        self.martlet, self.name = martlet, name
        self.home = tempfile.mkdtemp(prefix=f"martlet-{name}-")
        self.work, self.remote, self.port = f"{self.home}/work", f"{self.home}/kit.git", free_port()
        for directory in directories:
            os.mkdir(f"{self.home}/{directory}", 0o700)
        run("git", "init", "-q", "--bare", "-b", "main", self.remote)
        run("git", "init", "-q", "-b", "main", self.work)
        for key, value in (("user.name", "Ann"), ("user.email", "ann@example.org"), ("commit.gpgsign", "false")):
            run("git", "config", key, value, cwd=self.work)
        self.log = open(f"{self.home}/daemon.log", "a")

    def start(self):
        self.process = subprocess.Popen(
            [self.martlet, "serve", "--settings", f"{self.home}/martlet.yml"], stdout=self.log, stderr=self.log)
        self.until("the daemon", lambda: self.api("bots")["items"])

    def stop(self):
        self.process.terminate()
        return self.process.wait(60) == 0

    def end(self):
        stopped = self.stop()
        end_launcher(self.home)
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
        self.stop()
        end_launcher(self.home)
        with open(f"{self.home}/daemon.log") as file:
            sys.exit(f"{self.name}: {what} did not come to be; the log's end:\n" + "".join(file.readlines()[-20:]))

    def request(self, method, path, body=None, headers={}):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        connection.request(method, path, body, headers)
        answer = connection.getresponse()
        return answer.status, answer.read()

    def api(self, path):
        return json.loads(self.request("GET", "/api/v1/" + path)[1])

    def git(self, *words):
        return run("git", *words, cwd=self.work).stdout.strip()

    def commit(self, files, message="Change"):
        for name, text in files.items():
            os.makedirs(os.path.dirname(f"{self.work}/{name}"), exist_ok=True)
            write(f"{self.work}/{name}", text)
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", message)
        return self.git("rev-parse", "HEAD")
