"""10,000 deliveries, shuffled and doubled, and 50 kills of the daemon, judged by a ledger kept outside of it: a part of Tests/Acceptance/intake.
Threat H1.
"""
import json, random, subprocess, threading, time

from acceptance import claim, within
from intake_daemon import SECRET, IntakeDaemon, Sender, signed

BRANCHES, LATE = 40, 300


class Branches:
    """Branches whose commits are made beforehand; a push moves one to its next."""

    def __init__(self, place, jobs, pushes):
        each = pushes // BRANCHES
        recipe = f"configurations:\n  debug: {{ build: 'echo $MARTLET_INTEGRATION $MARTLET_COMMIT >> {jobs}', test: 'true' }}\nanalyze: []\n"
        with subprocess.Popen(["git", "-C", place, "fast-import", "--quiet", f"--export-marks={place}/marks"], stdin=subprocess.PIPE) as into:
            mark = 0
            for branch in range(BRANCHES):
                for number in range(each + 1):
                    mark += 1
                    message = f"{branch} {number}"
                    text = (f"commit refs/made/{branch}\nmark :{mark}\ncommitter A <a@example.com> {1700000000 + mark} +0000\n"
                            f"data {len(message)}\n{message}\n")
                    if number == 0:
                        text += f"M 644 inline .martlet.yml\ndata {len(recipe)}\n{recipe}\n"
                    text += f"M 644 inline number\ndata {len(str(number))}\n{number}\n"
                    into.stdin.write(text.encode())
        marks = dict(line.split() for line in open(f"{place}/marks"))
        commits = [marks[f":{number + 1}"] for number in range(mark)]
        self.commits = {f"refs/heads/b{b}": commits[b * (each + 1) + 1:(b + 1) * (each + 1)] for b in range(BRANCHES)}
        self.at = dict.fromkeys(self.commits, -1)
        self.git = subprocess.Popen(["git", "-C", place, "update-ref", "--stdin"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def push(self, ref):
        """Moves a branch by one commit. Returns what a forge says of it."""
        before = self.commits[ref][self.at[ref]] if self.at[ref] >= 0 else "0" * 40
        self.at[ref] += 1
        after = self.commits[ref][self.at[ref]]
        self.git.stdin.write(f"start\nupdate {ref} {after}\ncommit\n")
        self.git.stdin.flush()
        assert [self.git.stdout.readline().split(":")[0] for _ in range(2)] == ["start", "commit"]
        return {"ref": ref, "before": before, "after": after, "commits": []}


def ledger(pushes=10_000, kills=50):
    daemon = IntakeDaemon({"kit": SECRET}, lines='branches: ["*"]\n')
    jobs, chance = f"{daemon.directory}/jobs", random.Random(5)
    repository = Branches(daemon.repository.url, jobs, pushes)
    order = [ref for ref in repository.commits for _ in range(pushes // BRANCHES)]
    chance.shuffle(order)
    # Each delivery twice; most within some hundred others, one in twenty at the very end.
    sendings = []
    for number in range(pushes):
        for _ in range(2):
            sendings.append((number + (2 * pushes if chance.randrange(20) == 0 else chance.randrange(LATE)), chance.random(), number))
    sendings.sort()
    bodies, answers, lock, place = {}, {}, threading.Lock(), iter([number for _, _, number in sendings])
    state = {"sent": 0, "pushed": 0, "wrong": [], "again": 0, "done": 0}

    def send():
        sender = None
        while True:
            with lock:
                number = next(place, None)
                if number is None:
                    state["done"] += 1
                    return
                while state["pushed"] <= number:  # What is told of has happened.
                    bodies[state["pushed"]] = json.dumps(repository.push(order[state["pushed"]])).encode()
                    state["pushed"] += 1
                body = bodies[number]
            headers = signed("github", {"X-GitHub-Event": "push", "X-GitHub-Delivery": f"delivery-{number}"}, body)
            while True:
                try:
                    sender = sender or Sender(daemon.port)
                    status, text = sender.post("/webhooks/github/kit", headers, body)
                except Exception:
                    sender = None
                    state["again"] += 1
                    time.sleep(0.02)
                    continue
                if status != 503:
                    break
            with lock:
                state["sent"] += 1
                if status != 202:
                    state["wrong"].append((status, text[:200]))
                else:
                    answers.setdefault(number, []).append(json.loads(text))

    begin = time.monotonic()
    threads = [threading.Thread(target=send) for _ in range(4)]
    for thread in threads:
        thread.start()
    for kill in range(kills):
        goal = (kill + 1) * 2 * pushes // (kills + 1)
        while state["sent"] < goal and state["done"] < len(threads):
            time.sleep(0.001)
        daemon.kill()
        daemon.started()
    for thread in threads:
        thread.join()
    seconds = time.monotonic() - begin
    claim(not state["wrong"] and state["sent"] == 2 * pushes, f"{pushes} deliveries, shuffled and sent twice, {kills} kills: each was answered 202",
          f"{seconds:.0f} s, {state['again']} sent again for want of an answer {state['wrong'][:2] or ''}")
    within(600, lambda: not daemon.items("integrations?state=queued") + daemon.items("integrations?state=running"), pause=0.2)
    # A scan that is due has an outcome for the last events, though every tip is integrated.
    within(180, lambda: not any(row["fate"] == "pending" for row in daemon.items("deliveries")), pause=1)
    judge(daemon, repository, answers, jobs, time.monotonic() - begin)
    repository.git.stdin.close()
    repository.git.wait()
    claim(daemon.stop(), "the daemon ends in order")


def judge(daemon, repository, answers, jobs, seconds):
    rows = [row for row in daemon.items("deliveries") if row["source"] == "webhook"]
    ids = [row["id"] for row in rows]
    told = {number: {answer["delivery"] for answer in both} for number, both in answers.items()}
    lost = [number for number, both in told.items() if not both <= set(ids)]
    doubled = [number for number, both in told.items() if len(both) != 1]
    shared = len(told) - len(set().union(*told.values()))
    claim(not lost and not doubled and not shared and len(ids) == len(set(ids)) == len(told), "every delivery is in the ledger once",
          f"{len(ids)} rows; {len(lost)} lost, {len(doubled)} twice, {shared} taken for another")
    fates = {}
    for row in rows:
        fates[row["fate"]] = fates.get(row["fate"], 0) + 1
    claim("pending" not in fates, "each has its fate", ", ".join(f"{n} {fate}" for fate, n in sorted(fates.items())))

    # What git says happened, against what the ledger says was seen: a way through each branch's commits in their order.
    updates = list(reversed(daemon.items("ref-updates")))
    wrong, tips, seen = [], {}, set()
    for update in updates:
        ref, commits = update["ref"], repository.commits[update["ref"]]
        if update["before"] != tips.get(ref):
            wrong.append(("from elsewhere", update))
        if ref in tips and commits.index(update["after"]) <= commits.index(tips[ref]):
            wrong.append(("back", update))
        tips[ref] = update["after"]
        seen.add((ref, update["after"]))
    late = [ref for ref, commits in repository.commits.items() if tips.get(ref) != commits[-1]]
    claim(not wrong and not late, "ref updates follow each branch from commit to commit, to its tip",
          f"{len(updates)} updates of {len(repository.commits)} branches; {len(wrong)} wrong, {len(late)} tips not seen")

    integrations = daemon.items("bots/kit/integrations")
    numbers = sorted(row["number"] for row in integrations)
    of = {}
    for row in integrations:
        of.setdefault((row["ref"], row["commit"]), []).append(row)
    claim(numbers == list(range(1, len(numbers) + 1)), "integrations are numbered without gap or reuse", f"kit#1 to kit#{len(numbers)}")
    missing = [key for key in seen if key not in of]
    several = [key for key, all in of.items() if len(all) > 1]
    claim(not missing and not several and set(of) <= seen, "each ref update has its integration, none has two",
          f"{len(of)}; {len(missing)} without, {len(several)} with more")
    open_ends = [row["number"] for row in integrations if row["state"] != "completed"]
    bad = [(row["number"], row["result"]) for row in integrations if row["result"] not in ("succeeded", "canceled")]
    results = {}
    for row in integrations:
        results[row["result"]] = results.get(row["result"], 0) + 1
    tip_results = [of.get((ref, commits[-1]), [{"result": None}])[0]["result"] for ref, commits in repository.commits.items()]
    claim(not open_ends and not bad and set(tip_results) == {"succeeded"}, "all came to their end, and every tip was judged",
          f"{', '.join(f'{n} {result}' for result, n in sorted(results.items()))} in {seconds:.0f} s {bad[:3] or ''}")
    runs = {}
    for line in open(jobs):
        runs[line] = runs.get(line, 0) + 1
    succeeded = {f"kit#{row['number']} {row['commit']}\n" for row in integrations if row["result"] == "succeeded"}
    twice = [line for line, count in runs.items() if count > 1]
    claim(not twice and succeeded <= set(runs), "no job's command ran twice, by the jobs' own file", f"{len(runs)} ran, {len(twice)} twice")
