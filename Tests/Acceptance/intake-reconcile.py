"""What Tests/Acceptance/intake-reconcile runs: intake-reconcile.py MARTLET [all | missed | silent | polling [COUNT]]"""
import json, os, resource, shutil, socket, subprocess, sys, tempfile, threading, time, urllib.parse, urllib.request

from showcase_world import end_launcher, free_port

LIMIT = 60
failures = 0


def claim(holds, what, figure=""):
    global failures
    failures += not holds
    print(f"{'ok' if holds else 'FAILED':8} {what:84} {figure}", flush=True)


class Service:
    def __init__(self, martlet):
        self.martlet = martlet
        self.home = tempfile.mkdtemp(prefix="martlet-reconcile-")
        self.port = free_port()
        for name in ("bots", "state", "clones"):
            os.mkdir(f"{self.home}/{name}", 0o700)
        with open(f"{self.home}/martlet.yml", "w") as file:
            file.write(f"listen: 127.0.0.1:{self.port}\nstate: {self.home}/state\nisolation: none\nconcurrency: 2\n")
        self.log = open(f"{self.home}/daemon.log", "w")

    def start(self):
        self.process = subprocess.Popen(
            [self.martlet, "serve", "--settings", f"{self.home}/martlet.yml"], stdout=self.log, stderr=self.log)
        for _ in range(600):
            try:
                return self.get("/health")
            except OSError:
                time.sleep(0.1)
        sys.exit(f"intake-reconcile: the daemon does not answer; {self.home}/daemon.log says why")

    def stop(self):
        self.process.terminate()
        return self.process.wait(60)

    def get(self, path):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", timeout=30) as answer:
            return json.load(answer)

    def integrations(self, bot, **query):
        return self.get(f"/api/v1/bots/{bot}/integrations?limit=100&{urllib.parse.urlencode(query)}")["items"]

    def end(self):
        self.stop()
        end_launcher(self.home)
        shutil.rmtree(self.home, ignore_errors=True)


class Repository:
    def __init__(self, service, name, lines=""):
        self.name, self.service = name, service
        self.bare, self.work = f"{service.home}/{name}.git", f"{service.home}/clones/{name}"
        subprocess.run(["git", "init", "-q", "--bare", "-b", "main", self.bare], check=True)
        subprocess.run(["git", "init", "-q", "-b", "main", self.work], check=True)
        self.git("remote", "add", "origin", self.bare)
        self.commit("Makefile", "all:\n\t@true\ncheck:\n\t@true\n")
        self.push("main")
        with open(f"{service.home}/bots/{name}.yml", "w") as file:
            file.write(f"repository: {self.bare}\nbranches: [\"**\"]\ntags: [\"**\"]\nsupersede: never\n{lines}")

    def git(self, *arguments):
        environment = dict(
            os.environ, GIT_CONFIG_GLOBAL="/dev/null", GIT_AUTHOR_NAME="Ada", GIT_AUTHOR_EMAIL="ada@acme.example",
            GIT_COMMITTER_NAME="Ada", GIT_COMMITTER_EMAIL="ada@acme.example")
        return subprocess.run(
            ["git", *arguments], cwd=self.work, env=environment, check=True, capture_output=True, text=True).stdout.strip()

    def commit(self, path, text, message="Change"):
        os.makedirs(os.path.dirname(f"{self.work}/{path}") or ".", exist_ok=True)
        with open(f"{self.work}/{path}", "w") as file:
            file.write(text)
        self.git("add", "-A")
        self.git("commit", "-q", "-m", message)
        return self.git("rev-parse", "HEAD")

    def push(self, *refspecs):
        self.git("push", "-q", "--force", "origin", *refspecs)

    def tips(self):
        lines = subprocess.run(["git", "ls-remote", self.bare], check=True, capture_output=True, text=True).stdout
        tips = {}
        for line in lines.splitlines():
            commit, ref = line.split("\t")
            if ref.startswith("refs/"):
                tips[ref.removesuffix("^{}")] = commit
        return tips

    def missing(self):
        """The tips that have neither an integration nor a reason."""
        known = {(item["ref"], item["commit"]) for item in self.service.integrations(self.name)}
        return [ref for ref, commit in self.tips().items() if (ref, commit) not in known]


def wait(what, condition, limit=LIMIT):
    begin = time.monotonic()
    while time.monotonic() - begin < limit:
        if condition():
            return time.monotonic() - begin
        time.sleep(0.05)
    return None


def main():
    what = sys.argv[2] if len(sys.argv) > 2 else "all"
    for name, run in (("missed", missed), ("silent", silent), ("polling", polling)):
        if what in ("all", name):
            service = Service(sys.argv[1])
            try:
                run(service)
            finally:
                service.end()
    sys.exit(1 if failures else 0)


# ------------------------------------------------------------------------------------------ servers that do not answer


def listener(answer):
    """A port at which whoever connects gets what `answer` gives."""
    server = socket.socket()
    server.bind(("127.0.0.1", 0))
    server.listen(200)

    def serve():
        while True:
            connection, _ = server.accept()
            threading.Thread(target=answer, args=(connection,), daemon=True).start()

    threading.Thread(target=serve, daemon=True).start()
    return server.getsockname()[1]


def says_nothing(connection):
    time.sleep(3600)


def says_a_byte_a_second(connection):
    try:
        for byte in b"1" * 3600:
            connection.send(bytes([byte]))
            time.sleep(1)
    except OSError:
        pass


def silent(service):
    """Eighty repositories of two servers that keep everybody waiting, beside one of this machine."""
    local = Repository(service, "local", "poll: 5s\n")
    ports = [listener(says_nothing), listener(says_a_byte_a_second)]
    for number in range(80):
        with open(f"{service.home}/bots/away-{number}.yml", "w") as file:
            file.write(f"repository: git://127.0.0.1:{ports[number % 2]}/r{number}.git\ninsecure: true\npoll: 5s\n")
    service.start()
    took = wait("the first", lambda: not local.missing())
    claim(took is not None, "a repository beside 80 of a silent and a slow server is looked at", f"{took or 0:.1f} s")
    times = []
    for number in range(3):
        local.commit("a", str(number))
        local.push("main")
        tip = local.git("rev-parse", "HEAD")
        took = wait("its end", lambda: any(
            item["state"] == "completed" for item in service.integrations("local", commit=tip)))
        times.append(took)
    claim(
        all(took is not None and took < 15 for took in times),
        "what is pushed to it is integrated within its polling's 5 s and a few more",
        ", ".join(f"{took:.1f} s" if took else "never" for took in times))
    waiting = sum(not service.get(f"/api/v1/bots/away-{number}")["lookedAt"] for number in range(80))
    claim(waiting == 80, "meanwhile no server has answered", f"{waiting} of 80 wait")


# ---------------------------------------------------------------------------------------------------- what polls cost


def polling(service):
    count = int(sys.argv[3]) if len(sys.argv) > 3 else 1000
    first = Repository(service, "r0", "")
    os.remove(f"{service.home}/bots/r0.yml")
    for number in range(count):
        bare = f"{service.home}/many/{number}.git"
        shutil.copytree(first.bare, bare)
        with open(f"{service.home}/bots/m{number}.yml", "w") as file:
            # It looks, and integrates nothing: looks alone are measured.
            file.write(f"repository: {bare}\nbranches: [nothing]\n")
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    for number in range(100):
        subprocess.run(["git", "ls-remote", f"{service.home}/many/{number}.git"], check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    git = (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) / 100

    def looked():
        return sum(bot["lookedAt"] is not None for bot in service.get("/api/v1/bots")["items"])

    began = time.monotonic()
    service.start()
    while looked() < count and time.monotonic() - began < 120:
        time.sleep(1)
    seconds = time.monotonic() - began
    claim(looked() == count and seconds < LIMIT, f"{count} repositories are scanned after a start", f"within {seconds:.1f} s")

    def spent():
        fields = open(f"/proc/{service.process.pid}/stat").read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    # A round is a minute; nobody asks meanwhile.
    for _ in range(2):
        begin, start = spent(), time.monotonic()
        time.sleep(60)
        cost = (spent() - begin) * 60 / (time.monotonic() - start)
        claim(
            cost <= 3, f"a round of {count} looks takes at most 3 s of processor time, all else of the daemon with it",
            f"{cost:.2f} s, {cost / count * 1000:.2f} ms a scan; git ls-remote {git * 1000:.1f} ms")


# ------------------------------------------------------------------------------------------------- what nobody told of


def missed(service):
    names = ["plain", "forced", "recreated", "deleted", "tagged", "abab", "twins", "namesakes"]
    # One is asked often, so that each of its moves is seen at the end.
    repositories = {name: Repository(service, name, "poll: 2s\n" if name == "abab" else "") for name in names}
    words = repositories["words"] = Repository(service, "words", "paths: [Sources/]\n")
    service.start()
    # ---- before: every first tip is integrated
    for name in ("forced", "recreated", "deleted", "abab"):
        repository = repositories[name]
        repository.git("checkout", "-q", "-b", "topic")
        repository.commit("a", "1")
        repository.push("topic")
    repositories["tagged"].git("tag", "v1")
    repositories["tagged"].push("v1")
    first = wait("the first", lambda: not any(repository.missing() for repository in repositories.values()), 180)
    claim(first is not None, "every branch has its integration while the daemon runs, by polling alone", f"{first or 0:.1f} s")
    done = lambda: not service.get("/api/v1/integrations?state=queued")["items"] + service.get("/api/v1/integrations?state=running")["items"]
    wait("their end", done, 120)
    before = {name: len(service.integrations(name)) for name in repositories}
    tagged_before = {(item["ref"], item["commit"]) for item in service.integrations("tagged")}

    # ---- down: nobody is told
    status = service.stop()
    claim(status == 0, "the daemon stops in order")
    expected = {}

    def pushed(name, ref):
        expected[name, ref] = repositories[name].git("rev-parse", "HEAD")

    plain = repositories["plain"]
    plain.commit("a", "2")
    plain.push("main")
    pushed("plain", "refs/heads/main")
    forced = repositories["forced"]
    forced.git("reset", "-q", "--hard", "main")
    forced.commit("a", "other")
    forced.push("topic")
    pushed("forced", "refs/heads/topic")
    recreated = repositories["recreated"]
    recreated.push(":topic")
    recreated.git("reset", "-q", "--hard", "main")
    recreated.commit("a", "again")
    recreated.push("topic")
    pushed("recreated", "refs/heads/topic")
    repositories["deleted"].push(":topic")
    tagged = repositories["tagged"]
    tagged.commit("a", "2")
    tagged.git("tag", "-f", "v1")
    tagged.push("main", "v1")
    pushed("tagged", "refs/heads/main")
    pushed("tagged", "refs/tags/v1")
    abab = repositories["abab"]
    one = abab.git("rev-parse", "topic")
    abab.commit("a", "2")
    two = abab.git("rev-parse", "HEAD")
    for commit in (two, one, two):
        abab.push(f"{commit}:refs/heads/topic")
    pushed("abab", "refs/heads/topic")
    twins = repositories["twins"]
    twins.commit("a", "2")
    twins.push("HEAD:refs/heads/left", "HEAD:refs/heads/right")
    pushed("twins", "refs/heads/left")
    pushed("twins", "refs/heads/right")
    namesakes = repositories["namesakes"]
    namesakes.commit("a", "2")
    namesakes.push("HEAD:refs/heads/v1")
    pushed("namesakes", "refs/heads/v1")
    namesakes.commit("a", "3")
    namesakes.push("HEAD:refs/tags/v1")
    pushed("namesakes", "refs/tags/v1")
    words.commit("docs/a", "2")
    words.push("main")
    pushed("words", "refs/heads/main")

    # ---- up
    began = time.monotonic()
    service.start()
    answered = time.monotonic() - began
    seconds = {}

    def look():
        for key, commit in expected.items():
            if key not in seconds and any(
                    item["ref"] == key[1] and item["commit"] == commit for item in service.integrations(key[0])):
                seconds[key] = time.monotonic() - began
        return len(seconds) == len(expected)

    wait("all", look)
    claim(answered < LIMIT, "the daemon answers again", f"{answered:.1f} s")
    for (name, ref), commit in expected.items():
        took = seconds.get((name, ref))
        claim(took is not None and took < LIMIT, f"{name}: {ref.removeprefix('refs/')} has its integration or its reason", f"{took:.1f} s" if took else f"not within {LIMIT} s")
    wait("their end", done, 120)
    counts = {name: len(service.integrations(name)) - before[name] for name in repositories}
    wanted = {name: len([key for key in expected if key[0] == name]) for name in repositories}
    claim(counts == wanted, "each update has one integration, and nothing else has any", f"{sum(counts.values())} of {sum(wanted.values())}")
    claim(counts["deleted"] == 0, "a branch that was deleted has none")
    skipped = [item for item in service.integrations("words") if item["skipped"]]
    claim(
        len(skipped) == 1 and skipped[0]["result"] == "canceled" and (skipped[0]["reason"] or "").startswith("skipped: "),
        "words that change none of the bot's paths are skipped with their reason", skipped[0]["reason"] if skipped else "")
    green = [item for name in repositories for item in service.integrations(name) if not item["skipped"]]
    claim(all(item["result"] == "succeeded" for item in green), "all others are green", f"{len(green)} integrations")

    # ---- A→B→A→B while it runs: told of each
    generation = len(service.integrations("abab", ref="refs/heads/topic"))
    for count, commit in enumerate((one, two, one, two), 1):
        abab.push(f"{commit}:refs/heads/topic")
        wait("the update", lambda: len(service.integrations("abab", ref="refs/heads/topic")) == generation + count, 90)
    commits = [item["commit"] for item in service.integrations("abab", ref="refs/heads/topic")[:4]]
    claim(commits == [two, one, two, one], "A→B→A→B that is seen each time is four updates, each with its integration", f"{len(commits)} integrations")


main()
