"""A reboot of the machine: a part of Tests/Acceptance/operate. Jobs write what they do into a file outside of the machine."""
import collections, subprocess, time

from acceptance import claim, last, since, within
from container import held
from operate_machine import OUTSIDE

LEDGER = f"{OUTSIDE}/ledger/jobs"
BRANCHES, SLOTS = 6, 2
# Jobs of this part have no sandbox, from which they could not write into the ledger. They wait for a file in their workspace.
BOT = f"""poll: off
branches: ["*"]
recipe:
  configurations:
    debug:
      build: |
        echo begin $MARTLET_INTEGRATION $MARTLET_COMMIT >>{LEDGER}
        until [ -e {OUTSIDE}/ledger/go ]; do sleep 0.2; done
        echo end $MARTLET_INTEGRATION $MARTLET_COMMIT >>{LEDGER}
      test: 'true'
  analyze: []
"""


# A container's boot has an identifier in the container's /proc alone. With these settings the unit has a /proc of its own, where it is the identifier
# of the machine around the container, which does not start again.
PROC = """mkdir -p /etc/systemd/system/martlet.service.d
printf '[Service]\\nProtectProc=default\\nProtectKernelTunables=no\\nProtectControlGroups=no\\n' >/etc/systemd/system/martlet.service.d/boot.conf
systemctl daemon-reload
"""


def drain(world):
    jobs, machine = world.repository("jobs"), world.machine()
    machine.install()
    machine.bash(PROC)
    machine.settings("isolation: none", f"concurrency: {SLOTS}")
    commits = [jobs.commit({"number": str(number)}, branch=f"b{number}") for number in range(BRANCHES)]
    machine.bot("jobs", BOT)
    ledger, gate = world.outside / "ledger/jobs", world.outside / "ledger/go"
    within(120, lambda: len(written(ledger, "begin")) == SLOTS, pause=0.2)
    drained(machine, gate, len(written(ledger, "begin")))
    gate.unlink()
    # An integration that runs can wait for a slot: it comes to its end, too.
    first = set(written(ledger, "begin"))
    commits.append(jobs.commit({"number": "late"}, branch="late"))
    asked = machine("martlet", "integrate", "jobs", "--commit", "late")
    before = machine.integrations("jobs")
    states = collections.Counter(view["state"] for view in before)
    held(machine, states == {"completed": len(first), "queued": len(commits) - len(first)} and set(written(ledger, "begin")) == first,
         "while it is drained nothing starts, and a new commit waits with the others", f"{dict(states)}", f"{dict(states)}; {last(asked.stderr)}")
    # A restart of the service alone does not end the drain.
    machine("systemctl", "restart", "martlet")
    machine.has_service()
    held(machine, "drained" in machine.text("martlet", "queue") and set(written(ledger, "begin")) == first,
         "a restart of the service keeps the drain",
         machine.text("martlet", "queue").splitlines()[0])
    rebooted(machine, ledger, gate, commits, before)
    machine.stop()


def written(ledger, word):
    """The commits whose jobs have begun or ended, by the ledger."""
    return [line.split()[2] for line in (ledger.read_text() if ledger.exists() else "").splitlines() if line.startswith(word)]


def drained(machine, gate, begun_jobs):
    """Drains while jobs run: the command waits for them."""
    begun = time.monotonic()
    words = ["nsenter", "-t", machine.leader, "-a", "env", "-i", "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/root",
             "martlet", "drain", "--wait", "--reason", "a new kernel"]
    waiting = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    is_drained = within(30, lambda: "drained" in machine.text("martlet", "queue"), pause=0.2)
    is_waiting = waiting.poll() is None
    gate.touch()
    said, _ = waiting.communicate(timeout=120)
    lines = said.strip().splitlines()
    held(machine, begun_jobs == SLOTS and is_drained and is_waiting and waiting.returncode == 0 and "nothing runs" in said,
         f"martlet drain --wait with {SLOTS} jobs: it ends when these have", f"in {since(begun)}: {' | '.join(lines)}")


def rebooted(machine, ledger, gate, commits, before):
    ended, boot, begun = len(written(ledger, "end")), machine.boot, time.monotonic()
    has_started = machine.has_started_again()
    took = since(begun)
    serves = machine.has_service()
    held(machine, has_started and serves, "systemctl reboot: the machine starts again, and with it the service",
         f"in {took}, serving after {since(begun)}; boot {boot[:8]} → {machine.boot[:8]}")
    goes_on = within(60, lambda: len(written(ledger, "begin")) >= ended + SLOTS, pause=0.2)
    held(machine, goes_on and "drained" not in machine.text("martlet", "queue"), "the drain has ended by itself, the queue goes on",
         f"{len(written(ledger, 'begin')) - ended} further jobs have begun", machine.text("martlet", "queue").splitlines()[0])
    gate.touch()
    within(180 if goes_on else 0, lambda: all(view["state"] == "completed" for view in machine.integrations("jobs")), pause=0.5)
    views = machine.integrations("jobs")
    results = collections.Counter(view["result"] for view in views)
    numbers = {view["number"]: view["commit"] for view in views}
    same = all(numbers.get(view["number"]) == view["commit"] for view in before)
    held(machine, results == {"succeeded": len(commits)} and same and set(numbers.values()) == set(commits),
         "nothing is lost: each commit has its integration, by its number",
         f"{dict(results)} of {len(commits)} commits", f"{dict(results)}; {numbers}")
    counts = [collections.Counter(written(ledger, word)) for word in ("begin", "end")]
    claim(all(count == dict.fromkeys(commits, 1) for count in counts), "nothing runs twice: by the ledger each job began and ended once",
          f"{sum(counts[0].values())} begins, {sum(counts[1].values())} ends of {len(commits)} commits")
