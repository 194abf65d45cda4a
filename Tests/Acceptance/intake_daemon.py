"""The daemon that the parts of Tests/Acceptance/intake ask, and who signs for forges."""
import hashlib, hmac, http.client, json, os, shutil, subprocess, sys, tempfile, time

from showcase_world import end_launcher, free_port

SECRET = "an intake secret"
FORGES = ["github", "gitlab", "gitea", "forgejo", "gogs", "bitbucket", "bitbucket-server"]
results = {"failed": 0}


def claim(holds, what, figure=""):
    results["failed"] += not holds
    print(f"{'ok' if holds else 'FAILED':8} {what:78} {figure}", flush=True)


# ------------------------------------------------------------------------------------------------------ the daemon


class Daemon:
    def __init__(self, martlet, secrets, lines=""):
        """secrets: by the bot's name; lines: others of each bot's file."""
        self.home = tempfile.mkdtemp(prefix="martlet-intake-")
        self.port = free_port()
        for name in ("bots", "secrets", "state"):
            os.mkdir(f"{self.home}/{name}", 0o700)
        subprocess.run(["git", "init", "-q", "--bare", f"{self.home}/kit.git"], check=True)
        for bot, secret in secrets.items():
            with open(f"{self.home}/bots/{bot}.yml", "w") as file:
                file.write(f"repository: {self.home}/kit.git\npoll: off\nwebhook: {{ secret: {bot} }}\n{lines}")
            with open(os.open(f"{self.home}/secrets/{bot}", os.O_WRONLY | os.O_CREAT, 0o600), "w") as file:
                file.write(secret)
        with open(f"{self.home}/martlet.yml", "w") as file:
            file.write(f"listen: 127.0.0.1:{self.port}\nstate: {self.home}/state\nisolation: none\n")
        self.log = open(f"{self.home}/daemon.log", "w")
        self.martlet = martlet
        self.start()

    def start(self):
        """Returns when it answers and knows its bots."""
        self.process = subprocess.Popen(
            [self.martlet, "serve", "--settings", f"{self.home}/martlet.yml"], stdout=self.log, stderr=self.log)
        for _ in range(3000):
            try:
                if self.get("/health")[0] == 200 and json.loads(self.get("/api/v1/bots")[1])["items"]:
                    return
            except OSError:
                pass
            time.sleep(0.01)
        sys.exit(f"intake: the daemon does not answer; {self.home}/daemon.log says why")

    def get(self, path):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        connection.request("GET", path)
        answer = connection.getresponse()
        return answer.status, answer.read().decode()

    def status(self, field):
        with open(f"/proc/{self.process.pid}/status") as file:
            return int(next(line.split()[1] for line in file if line.startswith(field + ":"))) >> 10

    def end(self):
        alive = self.process.poll() is None
        self.process.terminate()
        status = self.process.wait(60)
        end_launcher(self.home)
        shutil.rmtree(self.home, ignore_errors=True)
        return alive and status == 0


class Sender:
    def __init__(self, port):
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)

    def post(self, path, headers, body):
        self.connection.request("POST", path, body, headers)
        answer = self.connection.getresponse()
        return answer.status, answer.read().decode()


def signed(forge, headers, body, secret=SECRET):
    code = hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
    proof = {
        "github": ("X-Hub-Signature-256", "sha256=" + code), "gitlab": ("X-Gitlab-Token", secret),
        "gitea": ("X-Gitea-Signature", code), "forgejo": ("X-Forgejo-Signature", code), "gogs": ("X-Gogs-Signature", code),
    }.get(forge, ("X-Hub-Signature", "sha256=" + code))
    return headers | dict([proof])
