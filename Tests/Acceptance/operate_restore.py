"""A lost machine: a part of Tests/Acceptance/operate. What is left are the git server, a backup, and a copy of the published files."""
import json, time

from acceptance import claim, last, since, within
from container import held
from operate_machine import OUTSIDE

BOT = """poll: off
branches: [main, "release/*"]
triggers:
  - { name: publish, branches: ["release/*"], publish: { version: branch } }
"""
RECIPE = """configurations:
  release: { build: sh build, test: sh check, report: junit.xml }
analyze: []
archive: { include: [kit.txt] }
"""
# A warning for each line that says so, and a test that fails where a file says so.
BUILD = """cp source.txt kit.txt
grep -n LATER source.txt | while IFS=: read -r line rest; do echo "source.txt:$line:1: warning: $rest [-Wlater]"; done
"""
CHECK = """failure=; [ ! -e broken ] || failure='<failure message="it is broken"/>'
echo '<testsuite name="kit"><testcase classname="kit" name="first"/>' >junit.xml
echo '<testcase classname="kit" name="second">'"$failure"'</testcase></testsuite>' >>junit.xml
[ -z "$failure" ]
"""
# The documented way: settings, then an empty state, then the backup.
RESTORE = """systemctl stop martlet
tar -xzf @/backup/etc-martlet.tar.gz -C /etc
find /var/lib/martlet -mindepth 1 -delete
martlet backup @/backup/@@ --verify
martlet restore @/backup/@@
""".replace("@/", OUTSIDE + "/")
DIGESTS = "cd /var/lib/martlet/files/kit 2>/dev/null && find . -type f -not -name yanked.json -exec sha256sum {} + | sort -k 2"


def restore(world):
    kit, first = world.repository("kit"), world.machine()
    known = lived(first, kit)
    first.stop()
    claim(not first.kept.joinpath("upper").exists(), "the machine is lost with its disk",
          "left are the git server, a backup from before 1.0.2, and a copy of the published files")
    second = world.machine()
    second.install()
    came_back(second, known)
    published_again(second, kit, known)
    without_files(second, kit, known)
    second.stop()


class Known:
    """What was so before the machine was lost: an issue, `facts`, `versions` and `digests`."""


def facts(machine):
    """The history by its answers: integrations with issues, tests and logs, mutes and versions."""
    found = {}
    for view in machine.integrations():
        number = view["number"]
        found[number] = {
            "integration": {key: view.get(key) for key in ("commit", "ref", "result", "verdict", "queued", "started", "ended", "summary")},
            "issues": machine.json("issues", f"kit#{number}").get("items"), "tests": machine.json("tests", f"kit#{number}").get("items"),
            "log": machine("martlet", "log", f"kit#{number}").stdout}
    return found


def digests(machine):
    """The digest of each published file, by version and name."""
    lines = machine("bash", "-c", DIGESTS).stdout.splitlines()
    return {line.split("  ./", 1)[1]: line.split()[0] for line in lines}


def released(machine, kit, text):
    """Pushes to the release branch. Returns the integration's number."""
    commit = kit.commit({"source.txt": text}, branch="release/1.0")
    machine("martlet", "integrate", "kit", "--commit", "release/1.0")
    return within(60, lambda: next((view["number"] for view in machine.integrations() if view["commit"] == commit), None), pause=0.2)


def lived(machine, kit):
    """Integrates, publishes, makes a backup, and publishes once more. Returns what is known of it."""
    machine.install()
    kit.commit({".martlet.yml": RECIPE, "build": BUILD, "check": CHECK, "source.txt": "one\n"})
    machine.bot("kit", BOT)
    machine.judged(1)
    for files in ({"source.txt": "one\nLATER\n"}, {"source.txt": "one\nLATER\n", "broken": ""}):
        kit.commit(files)
        machine("martlet", "integrate", "kit", "--commit", "main", "--wait")
    kit.git("rm", "-q", "broken")
    for text in ("first\n", "second\n"):
        machine.judged(released(machine, kit, text))
    issue = (machine.json("issues", "kit#2").get("items") or [{}])[0]
    machine("martlet", "mute", "kit#2", issue.get("fingerprint", ""), "--reason", "known")
    known = Known()
    known.issue, known.facts, known.versions = issue, facts(machine), versions(machine)
    numbers = [fact["integration"]["result"] for _, fact in sorted(known.facts.items())]
    held(machine, known.versions == ["1.0.1", "1.0.0"] and len(numbers) == 5, "a bot with history, issues, a failing test and two versions",
         f"{' '.join(map(str, numbers))}; {', '.join(known.versions)}",
         f"{numbers}; {known.versions}; {machine.text('martlet', 'log', 'kit#4')[-400:]}")
    done = machine.bash(f"martlet backup {OUTSIDE}/backup/old; tar -czf {OUTSIDE}/backup/etc-martlet.tar.gz -C /etc martlet")
    held(machine, done.returncode == 0, "a backup, and a copy of the settings", done.stdout.strip(), last(done.stderr))
    machine.judged(released(machine, kit, "third\n"))
    known.digests = digests(machine)
    done = machine.bash(f"cp -a /var/lib/martlet/files {OUTSIDE}/left/")
    held(machine, versions(machine)[:1] == ["1.0.2"] and done.returncode == 0, "1.0.2 is published after the backup",
         f"{len(known.digests)} published files")
    return known


def versions(machine):
    return [item["version"] for item in machine.json("versions", "kit").get("items", [])]


def restored(machine):
    """Restores the old backup by the documented steps. The service is stopped afterwards."""
    begun = time.monotonic()
    done = machine.bash(RESTORE.replace("@@", "old"))
    held(machine, done.returncode == 0 and "publishing is held" in done.stdout, "restored elsewhere by the documented steps",
         f"in {since(begun)}; {' | '.join(done.stdout.strip().splitlines()[-2:])}", last(done.stdout + done.stderr, 3))


def came_back(machine, known):
    restored(machine)
    # What is left of the published files goes back before the start.
    machine.bash(f"cp -a --no-clobber {OUTSIDE}/left/files/. /var/lib/martlet/files/")
    machine.bash("chown -R martlet:martlet /var/lib/martlet/files; systemctl start martlet")
    machine.has_service()
    now = facts(machine)
    differ = [(number, key) for number, fact in known.facts.items() for key in fact if now.get(number, {}).get(key) != fact[key]]
    issues = sum(len(fact["issues"] or []) for fact in now.values())
    tests = sum(len(fact["tests"] or []) for fact in now.values())
    logs = sum(len(fact["log"]) for fact in now.values())
    held(machine, not differ and issues and tests, "bots, integrations, issues, tests and logs are what they were",
         f"{len(known.facts)} integrations, {issues} rows of issues, {tests} of tests, {logs} bytes of logs",
         f"{differ[:5]} {issues} {tests}")
    mutes = machine.json("muted", "kit").get("items", [])
    held(machine, known.issue.get("fingerprint") in json.dumps(mutes), "the muted issue is muted", f"{known.issue.get('message')}", f"{mutes}")
    same = digests(machine)
    held(machine, same == known.digests, "every published file has the digest that it had", f"{len(same)} files of {', '.join(versions(machine))}",
         f"{set(same.items()) ^ set(known.digests.items())}")
    held(machine, versions(machine) == ["1.0.2", "1.0.1", "1.0.0"], "1.0.2, which the backup does not know, is taken up from its files",
         ", ".join(versions(machine)))


def held_back(machine, number, what):
    """A release waits while publishing is held, and every page says so. Returns the versions that there are."""
    row = within(60, lambda: next((row for row in machine.json("queue").get("waiting", []) if row["integration"]["number"] == number), None),
                 pause=0.5) or {}
    view, page = machine.show(number), machine.page()
    held(machine, view.get("state") == "queued" and "publish" in str(row.get("reason")) and "martlet resume --publishing" in page, what,
         f"kit#{number} {view.get('state')}: {row.get('reason')}", f"{view.get('state')} {row}; {len(page)} bytes of the page")
    return versions(machine)


def published_again(machine, kit, known):
    number = released(machine, kit, "fourth\n")
    held(machine, number and number > 1000, "numbers of integrations go on with a gap", f"kit#{number} after kit#{max(known.facts)}")
    held_back(machine, number, "publishing is held: the next release waits")
    done = machine("martlet", "resume", "--publishing", "--none-published")
    result = machine.judged(number).get("result")
    now = digests(machine)
    kept = all(now.get(path) == digest for path, digest in known.digests.items())
    held(machine, done.returncode == 0 and result == "succeeded" and versions(machine)[0] == "1.0.3" and kept,
         "after martlet resume --publishing it gets a new number",
         f"kit#{number} {result}: {', '.join(versions(machine))}; {len(known.digests)} earlier files unchanged",
         f"{result}; {versions(machine)}; {last(done.stderr)}")
    known.digests = now


def without_files(machine, kit, known):
    """The same backup once more, and none of the later files: 1.0.2 and 1.0.3 are known to those alone who use them."""
    machine("systemctl", "stop", "martlet")
    restored(machine)
    machine("systemctl", "start", "martlet")
    machine.has_service()
    number = released(machine, kit, "fifth\n")
    before = held_back(machine, number, "restored without the later files: nothing is published before an operator says what was")
    done = machine("martlet", "resume", "--publishing", "--published", "kit=1.0.2", "--published", "kit=1.0.3")
    result = machine.judged(number).get("result")
    now = digests(machine)
    changed = [path for path, digest in now.items() if known.digests.get(path, digest) != digest]
    held(machine, before == ["1.0.1", "1.0.0"] and done.returncode == 0 and result == "succeeded" and versions(machine)[0] == "1.0.4" and not changed,
         "martlet resume --publishing --published kit=1.0.3: no number is used again", f"kit#{number} {result}: {', '.join(versions(machine))}",
         f"{before} → {versions(machine)}; {result}; {changed}; {last(done.stdout + done.stderr)}")
