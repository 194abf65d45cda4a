"""What Tests/Acceptance/intake-statuses runs: intake-statuses.py BUILD KILLS"""
import http.client, json, os, random, shutil, signal, subprocess, sys, tempfile, time

from showcase_world import end_launcher, free_port

BUILD, KILLS = sys.argv[1], int(sys.argv[2])
TOKEN = "st4tus-Canary-Token"
GOOD = {"github": "success", "gitlab": "success", "gitea": "success", "forgejo": "success", "bitbucket": "SUCCESSFUL",
        "bitbucket-server": "SUCCESSFUL"}
BAD = {"github": "failure", "gitlab": "failed", "gitea": "failure", "forgejo": "failure", "bitbucket": "FAILED",
       "bitbucket-server": "FAILED"}
RECIPE = """configurations:
  debug: { build: "true", test: "sh test" }
  release: { build: "true", test: "true" }
analyze: []
"""
failures = 0


def claim(holds, what, figure=""):
    global failures
    failures += not holds
    print(f"{'ok' if holds else 'FAILED':8} {what:78} {figure}", flush=True)


def ask(port, method, path):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    connection.request(method, path)
    answer = connection.getresponse()
    return answer.status, answer.read().decode()


def until(what, condition, limit=120):
    begin = time.monotonic()
    while time.monotonic() - begin < limit:
        try:
            value = condition()
            if value:
                return value
        except (OSError, http.client.HTTPException):
            pass
        time.sleep(0.05)
    print(f"         {what} did not come to be in {limit} s")
    return None


class Forge:
    def __init__(self, kind, delay=0):
        self.kind = kind
        self.process = subprocess.Popen(
            [f"{BUILD}/ForgeServer", kind, TOKEN, str(delay)], stdout=subprocess.PIPE, text=True)
        self.port = int(self.process.stdout.readline())
        self.api = f"http://127.0.0.1:{self.port}/api"

    def tell(self, what):
        ask(self.port, "POST", "/control/" + what)

    def history(self):
        return json.loads(ask(self.port, "GET", "/control/history")[1])

    def shown(self, commit):
        return {status["context"]: status for status in self.history() if status["commit"] == commit}


class Repository:
    def __init__(self, home, name):
        self.bare, self.work = f"{home}/{name}.git", f"{home}/{name}"
        self.run("git", "init", "-q", "--bare", "-b", "main", self.bare, at=home)
        self.run("git", "clone", "-q", self.bare, self.work, at=home)
        self.run("git", "checkout", "-q", "-b", "main")
        self.count = 0

    def run(self, *words, at=None):
        environment = dict(os.environ, GIT_AUTHOR_NAME="a", GIT_AUTHOR_EMAIL="a@example", GIT_COMMITTER_NAME="a",
                           GIT_COMMITTER_EMAIL="a@example", GIT_CONFIG_NOSYSTEM="1", HOME="/nonexistent")
        return subprocess.run(words, cwd=at or self.work, env=environment, check=True, capture_output=True, text=True).stdout

    def push(self, good=True):
        self.count += 1
        for path, text in ((".martlet.yml", RECIPE), ("test", f"exit {0 if good else 1} # {self.count}\n")):
            with open(f"{self.work}/{path}", "w") as file:
                file.write(text)
        self.run("git", "add", "-A")
        self.run("git", "commit", "-q", "-m", f"Change {self.count}")
        self.run("git", "push", "-q", "origin", "main")
        return self.run("git", "rev-parse", "HEAD").strip()


class Daemon:
    def __init__(self):
        self.home = tempfile.mkdtemp(prefix="martlet-statuses-")
        self.port = free_port()
        for name in ("bots", "secrets", "state"):
            os.mkdir(f"{self.home}/{name}", 0o700)
        with open(os.open(f"{self.home}/secrets/forge", os.O_WRONLY | os.O_CREAT, 0o600), "w") as file:
            file.write(TOKEN)
        with open(f"{self.home}/martlet.yml", "w") as file:
            file.write(f"listen: 127.0.0.1:{self.port}\nurl: https://ci.example\nstate: {self.home}/state\nisolation: none\n")
        self.log = open(f"{self.home}/daemon.log", "a")
        self.process = None

    def bot(self, name, repository, forge):
        with open(f"{self.home}/bots/{name}.yml", "w") as file:
            file.write(f"repository: {repository.bare}\ninsecure: true\npoll: 1s\nsupersede: never\n"
                       f"status: {{ forge: {forge.kind}, credentials: forge, api: \"{forge.api}\", project: acme/kit }}\n")

    def start(self):
        self.process = subprocess.Popen(
            [f"{BUILD}/martlet", "serve", "--settings", f"{self.home}/martlet.yml"], stdout=self.log, stderr=self.log)

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def ready(self):
        return until("the daemon", lambda: self.get("/health")[0] == 200)

    def get(self, path):
        return ask(self.port, "GET", path)

    def outbox(self, query=""):
        """By the command-line tool over the unix socket, since reading it needs a token elsewhere."""
        done = subprocess.run([f"{BUILD}/martlet", "outbox", "--json", "--limit", "200"] + query.split(), capture_output=True,
                              text=True, env=dict(os.environ, MARTLET_URL=f"{self.home}/state/martlet.socket"))
        return json.loads(done.stdout)["items"] if done.returncode == 0 else None

    def integrations(self, bot):
        return json.loads(self.get(f"/api/v1/bots/{bot}/integrations?limit=200")[1])["items"]

    def ended(self, bot, commit):
        return next((i for i in self.integrations(bot) if i["commit"] == commit and i["state"] == "completed"), None)

    def drained(self):
        def is_drained():
            listed = [self.outbox(f"--state {state}") for state in ("waiting", "sending")]
            return listed == [[], []]
        return until("an empty outbox", is_drained)

    def end(self):
        self.process.terminate()
        self.process.wait(60)
        end_launcher(self.home)
        self.log.close()
        shutil.rmtree(self.home, ignore_errors=True)


def repeated(history):
    """Statuses that say what the one before of their commit and context said."""
    last, found = {}, 0
    for status in history:
        key = (status["commit"], status["context"])
        found += last.get(key) == (status["state"], status["description"])
        last[key] = (status["state"], status["description"])
    return found


def backwards(history):
    """Final statuses that are followed by one of the same integration that is not."""
    final, found = {}, 0
    for status in history:
        key = (status["commit"], status["context"], status["url"])
        is_open = status["state"] in ("pending", "running", "INPROGRESS")
        found += is_open and key in final
        if not is_open:
            final[key] = True
    return found


daemon = Daemon()
forges = {kind: Forge(kind) for kind in GOOD}
repositories = {kind: Repository(daemon.home, kind) for kind in GOOD}
slow = Forge("gitea", 0.03)
steady = Repository(daemon.home, "steady")
try:
    for kind, forge in forges.items():
        daemon.bot(kind, repositories[kind], forge)
    daemon.start()
    daemon.ready()

    # Each forge: a good commit and a bad one.
    for kind, forge in forges.items():
        commits = []
        for good in (True, False):
            commit = repositories[kind].push(good)
            forge.tell("commit/" + commit)
            until(f"the end of {kind}", lambda: daemon.ended(kind, commit))
            commits.append(commit)
        daemon.drained()
        first, second = (forge.shown(commit) for commit in commits)
        prefix = f"martlet/{kind}"
        contexts = {prefix, prefix + "/debug", prefix + "/release"}
        claim(set(first) == contexts and all(s["state"] == GOOD[kind] for s in first.values()),
              f"{kind}: a good commit is shown so, as a whole and by configuration")
        claim(second.get(prefix, {}).get("state") == BAD[kind] and second[prefix + "/release"]["state"] == GOOD[kind]
              and second[prefix]["url"].startswith(f"https://ci.example/bots/{kind}/"),
              f"{kind}: a bad one too, with a link, and what is good of it stays good", second.get(prefix, {}).get("description", ""))
        claim(repeated(forge.history()) == 0 and backwards(forge.history()) == 0, f"{kind}: nothing twice, nothing backwards")

    # Limits, lost answers.
    kind = "github"
    forge, repository = forges[kind], repositories[kind]
    forge.tell("answer/429/3")
    begin = time.monotonic()
    commit = repository.push()
    forge.tell("commit/" + commit)
    until("the end", lambda: daemon.ended(kind, commit))
    daemon.drained()
    taken = time.monotonic() - begin
    claim(forge.shown(commit)["martlet/github"]["state"] == "success" and taken >= 3, "a limit is waited for", f"{taken:.1f} s")
    before = repeated(forge.history())
    forge.tell("lose")
    commit = repository.push()
    forge.tell("commit/" + commit)
    until("the end", lambda: daemon.ended(kind, commit))
    daemon.drained()
    claim(forge.shown(commit)["martlet/github"]["state"] == "success" and repeated(forge.history()) == before,
          "an answer that was lost is looked for, and nothing sent twice")

    # A silent forge.
    forges["gitlab"].tell("silence")
    commit = repositories["gitlab"].push()
    forges["gitlab"].tell("commit/" + commit)
    until("the end", lambda: daemon.ended("gitlab", commit))
    begin = time.monotonic()
    other = repositories["gitea"].push()
    forges["gitea"].tell("commit/" + other)
    until("the other's status", lambda: forges["gitea"].shown(other).get("martlet/gitea", {}).get("state") == "success")
    taken = time.monotonic() - begin
    waiting = [m for m in daemon.outbox() if m["bot"] == "gitlab" and m["state"] in ("waiting", "sending")]
    claim(len(waiting) > 0 and taken < 20, "a silent forge holds up no other", f"{taken:.1f} s from the push, {len(waiting)} wait")
    forges["gitlab"].tell("speak")
    shown = until("the silent one's status", lambda: forges["gitlab"].shown(commit).get("martlet/gitlab", {}).get("state") == "success")
    claim(bool(shown), "and gets its own when it speaks again")

    # A token that is not taken is a person's to mend, and waited for; a status that is not taken is nobody's.
    forge = forges["forgejo"]
    for status in (401, 403):
        forge.tell(f"answer/{status}/0")
    commit = repositories["forgejo"].push()
    forge.tell("commit/" + commit)
    held = until("a message that waits with its reason", lambda: next((m for m in daemon.outbox("--state waiting") or [] if m["note"] and (
        "martlet secret set forge" in m["note"] or "give it the right" in m["note"])), None), 30)
    claim(bool(held), "a token that is not taken is waited for, with what to do", held["note"][:90] if held else "")
    until("the end", lambda: daemon.ended("forgejo", commit))
    daemon.drained()
    claim(not daemon.outbox("--state given-up") and forge.shown(commit).get("martlet/forgejo", {}).get("state") == "success",
          "and what waited is sent once it is taken again, nothing given up")
    for _ in range(3):
        forge.tell("answer/404/0")
    commit = repositories["forgejo"].push()
    forge.tell("commit/" + commit)
    until("the end", lambda: daemon.ended("forgejo", commit))
    daemon.drained()
    given_up = daemon.outbox("--state given-up")
    claim(bool(given_up) and all("answered 404" in m["note"] and "compare `repository` and `status`" in m["note"] and m["tries"] == 1
                                 for m in given_up), "what is refused is given up at once with what to do", given_up[0]["note"][:90] if given_up else "")

    # Kills.
    daemon.bot("steady", steady, slow)
    commits, kills = [], 0
    chance = random.Random(5)
    for number in range(KILLS):
        commit = steady.push(number % 3 != 0)
        slow.tell("commit/" + commit)
        commits.append(commit)
        time.sleep(0.5 + chance.random() * 2)
        daemon.kill()
        kills += 1
        daemon.start()
        daemon.ready()
    # Each tip that a scan saw, and the last one for sure.
    until("the end of the last", lambda: daemon.ended("steady", commits[-1]), 300)
    until("the end of all", lambda: all(i["state"] == "completed" for i in daemon.integrations("steady")), 300)
    daemon.drained()
    integrations = {i["commit"]: i for i in daemon.integrations("steady")}
    history = slow.history()
    wrong = []
    for commit, integration in integrations.items():
        word = {"succeeded": "success", "warnings": "success", "test-failures": "failure", "build-errors": "failure"}.get(
            integration["verdict"], "error")
        shown = slow.shown(commit)
        if shown.get("martlet/steady", {}).get("state") != word or any(s["state"] == "pending" for s in shown.values()):
            wrong.append((commit, integration["verdict"], shown))
    claim(not wrong and len(integrations) > 0, f"{kills} kills of the daemon: each commit is shown as what it came to",
          f"{len(integrations)} commits, {len(history)} statuses")
    for commit, verdict, shown in wrong[:3]:
        print(f"         {commit} {verdict}: {shown}")
    claim(repeated(history) == 0, "and no status was sent twice", f"{repeated(history)} of {len(history)}")
    claim(backwards(history) == 0, "and none went backwards")

    # The token.
    found = subprocess.run(["grep", "-rlF", TOKEN, f"{daemon.home}/state", f"{daemon.home}/daemon.log"], capture_output=True, text=True).stdout
    claim(not found, "the token is in no file beside its own", found.strip())
finally:
    daemon.end()
    for forge in list(forges.values()) + [slow]:
        forge.process.terminate()
        forge.process.wait()
print(f"{'met' if not failures else f'{failures} claims do not hold'}")
sys.exit(1 if failures else 0)
