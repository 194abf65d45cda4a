"""200 bots for a while: a part of Tests/Acceptance/operate. Each is pushed to now and then, and a page is asked for meanwhile.

MARTLET_ACCEPTANCE_MINUTES=60 is the time that this part is meant for; without it, it takes 5 minutes.
"""
import collections, datetime, os, pathlib, random, shutil, time, urllib.request

from acceptance import GIT, claim, descendants, note, read, run, since, within
from operate_host import LedgerDaemon

BOTS = 200
MINUTES = float(os.environ.get("MARTLET_ACCEPTANCE_MINUTES") or 5)
# Each bot is pushed to once in this time, in an order made by chance.
ROUND = 300
# Goals for a release build and for a debug build on two processors: the page, and how long a push waits for its job.
PAGE, DELAY = 0.5, 10
# How much more memory the daemon may have at the end than after the first quarter.
GROWTH = 1.25
TICK = os.sysconf("SC_CLK_TCK")


class Repositories:
    """Bare repositories whose commits are made without a working tree."""

    def __init__(self, place):
        self.place, self.heads, self.count = place, {}, 0
        place.mkdir()
        self.git("init", "-q", "--bare", "-b", "main", "--template=", "first.git", cwd=place)
        self.tree = self.git("mktree", cwd=place / "first.git")
        for number in range(BOTS):
            shutil.copytree(place / "first.git", place / f"bot{number:03}.git")
            self.push(f"bot{number:03}")

    def git(self, *words, cwd):
        return run("git", *words, cwd=cwd, env={**os.environ, **GIT}, check=True).stdout.strip()

    def push(self, name):
        """Moves a repository's branch by one commit. Returns both commits."""
        before, self.count = self.heads.get(name), self.count + 1
        path = self.place / f"{name}.git"
        after = self.git("commit-tree", self.tree, "-m", f"{name} {self.count}", *(("-p", before) if before else ()), cwd=path)
        self.git("update-ref", "refs/heads/main", after, cwd=path)
        self.heads[name] = after
        return before, after


class Meter:
    """What processes of the service use."""

    def __init__(self, daemon):
        self.daemon, self.pid = daemon, daemon.pid()
        # It is a session of its own: its command line has the state's path.
        self.launcher = next((int(entry) for entry in os.listdir("/proc") if entry.isdigit()
                              and "--listen" in (words := read(f"/proc/{entry}/cmdline"))
                              and str(daemon.state) in words), None)

    def processor(self):
        """Processor seconds of the daemon itself, and of what it has started and awaited."""
        fields = read(f"/proc/{self.pid}/stat").rpartition(") ")[2].split()
        return [sum(map(int, fields[at:at + 2])) / TICK for at in (11, 13)]

    def memory(self, pid):
        """PSS in MiB."""
        return next((int(line.split()[1]) / 1024 for line in read(f"/proc/{pid}/smaps_rollup").splitlines() if line.startswith("Pss:")), 0)

    def database(self):
        """The size of the database with its log, in MB."""
        return sum(path.stat().st_size for path in pathlib.Path(self.daemon.state).glob("martlet.sqlite*")) / 1e6


def part(values, share):
    values = sorted(values)
    return values[min(len(values) - 1, int(len(values) * share))] if values else float("nan")


def bots(place):
    daemon = LedgerDaemon(place / "bots", "concurrency: 2\n")
    daemon.gate.touch()
    repositories = Repositories(daemon.directory / "git")
    for name in repositories.heads:
        daemon.file(name, f"repository: {repositories.place}/{name}.git\nwebhook: {{ secret: hook }}\n{daemon.recipe}")
    begun = time.monotonic()
    daemon.started()
    done = within(900, lambda: len(daemon.written()) >= BOTS, pause=1)
    claim(done, f"{BOTS} new bots: the tip of each is integrated", f"in {since(begun)}, with 2 jobs at one time")
    within(60, lambda: not daemon.items("integrations?state=running"), pause=0.5)
    first = set(repositories.heads.values())
    used = used_meanwhile(daemon, repositories)
    judge(daemon, first, *used)
    claim(daemon.stop(), "the daemon ends in order")


def used_meanwhile(daemon, repositories):
    """Pushes and looks at pages for the whole time. Returns pushed commits, the answers, and the figures."""
    meter, chance = Meter(daemon), random.Random(7)
    pushed, answers, pages, memory = [], collections.Counter(), [], []
    waiting, pauses = [], ROUND / BOTS
    begun, before, size = time.monotonic(), meter.processor(), meter.database()
    next_push, next_page, next_look = 0, 0, 0
    while (at := time.monotonic() - begun) < MINUTES * 60:
        if at >= next_push:
            waiting = waiting or chance.sample(sorted(repositories.heads), BOTS)
            name = waiting.pop()
            old, new = repositories.push(name)
            pushed.append(new)
            answers[daemon.push(name, f"push-{len(pushed)}", old, new)] += 1
            next_push += pauses
        if at >= next_page:
            asked = time.monotonic()
            urllib.request.urlopen(daemon.url + "/", timeout=60).read()
            pages.append(time.monotonic() - asked)
            next_page += 2
        if at >= next_look:
            memory.append((meter.memory(meter.pid), meter.memory(meter.launcher)))
            next_look += 15
        time.sleep(0.05)
    seconds = time.monotonic() - begun
    own, others = (after - earlier for after, earlier in zip(meter.processor(), before))
    figures = {"seconds": seconds, "own": own / seconds, "others": others / seconds, "pages": pages, "memory": memory,
               "database": (size, meter.database()), "processes": len(descendants(meter.pid))}
    return pushed, answers, figures


def judge(daemon, first, pushed, answers, figures):
    claim(set(answers) == {202}, f"{figures['seconds'] / 60:.0f} minutes: every push is accepted", f"{len(pushed)} pushes, answers {dict(answers)}")
    within(300, lambda: not daemon.items("integrations?state=queued") + daemon.items("integrations?state=running"), pause=1)
    views = collections.defaultdict(list)
    for view in daemon.items("integrations?state=completed"):
        views[view["commit"]].append(view)
    results = collections.Counter(view["result"] for commit in pushed for view in views[commit])
    missing = [commit for commit in pushed if not views[commit]]
    twice = [commit for commit, all_of_it in views.items() if len(all_of_it) > 1]
    claim(not missing and not twice and set(results) <= {"succeeded", "canceled"}, "nothing is lost: each push has its one integration",
          f"{dict(results)}; {len(missing)} without, {len(twice)} with more")
    ended = collections.Counter(commit for _, commit in daemon.written())
    begun = collections.Counter(commit for _, commit in daemon.written("begin"))
    green = {commit for commit in first | set(pushed) for view in views[commit] if view["result"] == "succeeded"}
    again = [commit for commit, count in begun.items() if count > 1]
    claim(green <= set(ended) and not again, "by the jobs' own ledger none ran twice",
          f"{len(ended)} commits, {len(again)} begun twice, {len(green - set(ended))} green without a job")
    delays = [(moment(view["started"]) - moment(view["queued"])).total_seconds()
              for commit in pushed for view in views[commit] if view["started"]]
    claim(part(delays, 0.95) <= DELAY, f"a push waits for its start: 95 of 100 at most {DELAY} s",
          f"p50 {part(delays, 0.5):.2f} s, p95 {part(delays, 0.95):.2f} s, longest {max(delays):.2f} s")
    pages = figures["pages"]
    claim(part(pages, 0.95) <= PAGE, f"GET / with {BOTS} bots: 95 of 100 at most {PAGE} s",
          f"{len(pages)} requests: p50 {part(pages, 0.5) * 1000:.0f} ms, p95 {part(pages, 0.95) * 1000:.0f} ms, longest {max(pages) * 1000:.0f} ms")
    own = [daemon for daemon, _ in figures["memory"]]
    early = part(own[:max(1, len(own) // 4)], 1)
    claim(own[-1] <= early * GROWTH, f"memory at the end: at most {GROWTH} times that after the first quarter",
          f"PSS of the daemon {own[0]:.0f} MiB at first, {early:.0f} after a quarter, {own[-1]:.0f} at the end, most {max(own):.0f}; "
          f"of the launcher {figures['memory'][-1][1]:.0f} MiB")
    size = figures["database"]
    note(f"processors: the daemon {figures['own'] * 100:.1f} % of one, programs that it started {figures['others'] * 100:.1f} %",
         f"the database: {size[0]:.1f} MB at first, {size[1]:.1f} MB at the end, {(size[1] - size[0]) * 1000 / len(pushed):.1f} KB a push")


def moment(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00"))
