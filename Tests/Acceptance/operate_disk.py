"""A full disk: a part of Tests/Acceptance/operate. The state is on a disk of its own, which somebody else fills while a job runs."""
import json, time

from acceptance import Repository, claim, note, since, within
from operate_host import Filler, LedgerDaemon, Operator

# ext4 keeps up to 16 MiB for itself that nobody can use and that root sees as free: of a smaller disk that is more than a hundredth.
MEGABYTES = 4096
# How long a trouble is absent before it is over, and the longest time between two examinations of the disk.
SETTLING, EXAMINATION = 60, 10


def disk(place):
    operator = Operator()
    daemon = LedgerDaemon(place / "disk", f"concurrency: 1\n{operator.settings}", MEGABYTES)
    daemon.secret("operator", operator.key)
    kit = Repository(daemon.directory, "kit")
    commits = [kit.commit({"number": "0"})]
    daemon.bot("kit", kit, f"branches: ['*']\n{daemon.recipe}", poll="20s")
    daemon.started()
    within(60, lambda: daemon.written("begin"))
    within(120, lambda: daemon.ready()[0] == 200)
    note(f"a disk of {MEGABYTES} MB, {daemon.disk.free:.0f} MB free")
    filler = Filler(daemon.disk)
    filled(daemon, operator, filler)
    answers = pushed(daemon, kit, commits, range(1, 4))
    claim(answers == [202] * 3, "pushes are accepted on the full disk: the service has a reserve", f"answers {answers}")
    filler.greedy.start()
    within(60, lambda: "database" in str(daemon.ready()) and "cannot be written" in str(daemon.ready()), pause=0.2)
    answers = pushed(daemon, kit, commits, range(4, 7))
    claim(503 in answers and set(answers) <= {202, 503}, "where not a byte is left a push is refused as one to send again, if it cannot be stored",
          f"answers {answers}, {daemon.disk.free:.1f} MB free")
    freed(daemon, operator, filler, commits)
    claim(daemon.stop(), "the daemon ends in order")


def filled(daemon, operator, filler):
    begun = time.monotonic()
    filler.fill()
    told = within(120, lambda: operator.told("disk") and operator.mailed("disk"), pause=0.2)
    took = since(begun)
    data = next((body["data"] for _, body in operator.posts if body["data"]["kind"] == "disk"), {})
    claim(told and "free space" in data.get("remedy", ""), "a full disk: the operator is told by webhook and by mail, with what to do",
          f"after {took}: {data.get('reason')}; {data.get('remedy')}")
    signed = [is_signed for is_signed, _ in operator.posts]
    mail = (operator.mailed("disk") or [{}])[0]
    claim(signed and all(signed) and mail.get("To") == "ops@acme.example",
          "the webhook's signature is right, the mail is for the operator", f"{mail.get('Subject')}")
    status, said = within(30, lambda: (answer := daemon.ready())[0] == 503 and "disk" in answer[1] and answer, pause=0.2) or daemon.ready()
    failing = [check["reason"] for check in json.loads(said)["checks"] if not check["ready"]]
    claim(status == 503 and any("disk" in reason for reason in failing), "/ready says what fails", f"{status} {'; '.join(failing)}")
    health, page = daemon.ask("/health"), daemon.ask("/")[0]
    claim((health[0], page) == (200, 200), "/health and pages stay 200: a restart would help nobody", health[1].decode(errors="replace"))
    # The job of the first commit is ended by the machine, and is not the code's fault.
    reason = within(60, lambda: next((row["reason"] for row in daemon.api("queue").get("running", []) if "disk is full" in str(row["reason"])), None))
    view = daemon.api("bots/kit/integrations/1")
    claim(view.get("state") != "completed" and reason, "what ran is ended as the machine's fault and waits, and the queue says why",
          f"kit#1 {view.get('state')}: {reason}")


def pushed(daemon, kit, commits, numbers):
    """Pushes to branches. A sender whose delivery is not accepted sends no more: the next scan has to find that push. Returns the answers."""
    answers = []
    for number in numbers:
        commits.append(kit.commit({"number": str(number)}, branch=f"b{number}"))
        answers.append(daemon.push("kit", f"full-{number}", "0" * 40, commits[-1], f"b{number}"))
    return answers


def freed(daemon, operator, filler, commits):
    before = len(operator.told("disk")), len(operator.mailed("disk"))
    claim(before == (1, 1), "while it lasts there is one message each", f"{before[0]} webhook, {before[1]} mail")
    daemon.gate.touch()
    begun = time.monotonic()
    filler.stop()
    note(f"the space is freed: {daemon.disk.free:.0f} MB")
    views = daemon.all_completed("kit", commits)
    took = since(begun)
    results = [views.get(commit, {}).get("result") for commit in commits]
    claim(results == ["succeeded"] * len(commits), "every push is integrated by itself once there is room: none is lost",
          f"{len(commits)} commits in {took}: {' '.join(map(str, results))}")
    ended = [commit for _, commit in daemon.written()]
    claim(sorted(ended) == sorted(commits), "by the jobs' own ledger each has come to its end once",
          f"{len(daemon.written('begin'))} begins, {len(ended)} ends of {len(commits)}")
    attempts = [part.get("attempt") for part in daemon.api("bots/kit/integrations/1").get("configurations", [])]
    claim(attempts == [2], "what the machine ended was run once more by itself", f"kit#1 in attempt {attempts}")
    over = within(2 * SETTLING + 2 * EXAMINATION, lambda: len(operator.told("disk")) > 1 and len(operator.mailed("disk")) > 1, pause=0.5)
    took = since(begun)
    ready = within(30, lambda: daemon.ready()[0] == 200, pause=0.5)
    told, mails = operator.told("disk"), operator.mailed("disk")
    claim(over and ready and told == ["condition.begun", "condition.ended"] and len(mails) == 2, "one message each when it is over",
          f"after {took}: {' '.join(told)}; {' | '.join(mail['Subject'] for mail in mails)}")
    answers = [mail for mail in mails if mail["In-Reply-To"]]
    claim(len(answers) == 1 and answers[0]["In-Reply-To"] == mails[0]["Message-ID"], "the second mail answers the first",
          answers and answers[0]["In-Reply-To"])
    others = [body["data"]["kind"] for _, body in operator.posts if body["data"]["kind"] != "disk"]
    note(f"other messages meanwhile: {' '.join(others) or 'none'}")
