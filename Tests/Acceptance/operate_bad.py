"""What goes wrong: a part of Tests/Acceptance/operate. Each fault is answered with a sentence, and nothing is lost."""
import hashlib, os, pathlib, shutil, sqlite3

from acceptance import Repository, claim, last, note, read, run, within
from operate_host import LedgerDaemon, Operator

MEGABYTES = 512


def bad(place):
    operator = Operator()
    daemon = LedgerDaemon(place / "bad", operator.settings, MEGABYTES)
    daemon.secret("operator", operator.key)
    daemon.gate.touch()
    kit, core = (Repository(daemon.directory, name) for name in ("kit", "core"))
    for repository in (kit, core):
        repository.commit({"name": repository.name})
        daemon.bot(repository.name, repository, daemon.recipe)
    daemon.started()
    for repository in (kit, core):
        daemon.completed(repository.name, repository.head)
    commits = [kit.head]
    disk_without_writes(daemon, kit, commits)
    disk_without_anything(daemon, operator, kit, commits)
    backups(daemon, place)
    newer_state(daemon)
    renames(daemon)
    daemon.stop()


def sentence(text):
    """The last line of a command's output, without the program's name."""
    return last(text).removeprefix("martlet: ")


def whole(daemon, kit, commits, what):
    """Integrates one more commit. By the API and the jobs' ledger everything before it is there and ran once."""
    commits.append(kit.commit({"number": str(len(commits))}))
    accepted = daemon.push("kit", f"after-{len(commits)}", commits[-2], commits[-1])
    views = daemon.all_completed("kit", commits[:1] + commits[-1:], limit=120)
    ended = [commit for _, commit in daemon.written()]
    claim(accepted == 202 and views and all(ended.count(commit) == 1 for commit in (commits[0], commits[-1])) and len(set(ended)) == len(ended),
          f"{what}: history is there, the next push is integrated",
          f"kit has {len(daemon.integrations('kit'))} integrations, the ledger {len(ended)} jobs")


def disk_without_writes(daemon, kit, commits):
    """The daemon starts on a disk that is mounted read-only."""
    daemon.stop()
    daemon.disk.unmount()
    daemon.disk.mount("ro")
    before = daemon.log.stat().st_size
    took = daemon.start(limit=30)
    said = daemon.log.read_text(errors="replace")[before:]
    code = daemon.process.poll()
    claim(took is None and code not in (None, 0) and "ead-only" in said, "a daemon on a read-only disk does not start, and says why",
          f"status {code}: {sentence(said)}")
    daemon.stop()
    daemon.disk.unmount()
    daemon.disk.mount()
    daemon.started()
    whole(daemon, kit, commits, "after a read-only disk")


def disk_without_anything(daemon, operator, kit, commits):
    """The disk fails while the daemon runs: every access to it ends with an error."""
    within(120, lambda: daemon.ready()[0] == 200, pause=0.5)
    daemon.disk.fail()
    before, after = commits[-1], kit.commit({"number": "lost"})
    answer = daemon.push("kit", "vanished", before, after)
    commits.append(after)
    failing = within(60, lambda: daemon.ready()[0] != 200, pause=0.2)
    lives = daemon.process.poll() is None
    claim(answer == 503 and failing and lives, "a disk that fails: a push is refused as one to send again, /ready says so",
          f"{answer}; {daemon.ready()}" if lives else f"{answer}; the daemon ended: {last(read(daemon.log))}")
    told = within(150, lambda: operator.told("database"), pause=0.5)
    data = next((body["data"] for _, body in operator.posts if body["data"]["kind"] == "database"), {})
    claim(told == ["condition.begun"], "the operator is told once, with what to do", f"{data.get('reason')}; {data.get('remedy')}")
    daemon.stop()
    daemon.disk.unmount()
    run("e2fsck", "-p", daemon.disk.image)
    daemon.disk.mount()
    daemon.started()
    # Its push was refused, so that its sender sends it again.
    again = daemon.push("kit", "vanished", before, after)
    views = daemon.all_completed("kit", [after], limit=120)
    claim(again == 202 and views, "when the disk is back, the push that was sent again is integrated",
          f"{again}; {[view['result'] for view in views.values()]}")
    whole(daemon, kit, commits, "after a disk that failed")


def backups(daemon, place):
    """Halves of a backup, and a restore at the wrong time."""
    good, settings = place / "backup", ("--settings", daemon.settings)
    made = daemon.command("backup", good, *settings)
    verified = daemon.command("backup", good, "--verify")
    claim(made.returncode == 0 and verified.returncode == 0, "a backup beside the running daemon", sentence(verified.stdout))
    done = daemon.command("restore", good, *settings)
    claim(done.returncode != 0 and daemon.answers() and "daemon" in done.stderr, "a restore beside a running daemon is refused",
          sentence(done.stderr))
    log = max((path for path in good.glob("integrations/**/*") if path.is_file()), key=lambda path: path.stat().st_size)

    def halved(path):
        os.truncate(path, path.stat().st_size // 2)

    def changed(path):
        with open(path, "r+b") as file:
            file.seek(path.stat().st_size // 2)
            byte = file.read(1)[0]
            file.seek(-1, os.SEEK_CUR)
            file.write(bytes([byte ^ 1]))

    count = 0
    file = log.relative_to(good)
    faults = (("without a file", file, pathlib.Path.unlink), ("with a truncated file", file, halved),
              ("with a truncated database", "martlet.sqlite", halved), ("with a changed bit in its database", "martlet.sqlite", changed),
              ("without its database", "martlet.sqlite", pathlib.Path.unlink), ("with a truncated list", "SHA256SUMS", halved),
              ("without its description, as one that was interrupted", "backup.json", pathlib.Path.unlink))
    for what, name, damage in faults:
        half, state = place / "half", place / "elsewhere"
        shutil.copytree(good, half)
        damage(half / name)
        other = settings_of(daemon, place, state)
        verified, restored = daemon.command("backup", half, "--verify"), daemon.command("restore", half, "--settings", other)
        is_empty = not (state / "martlet.sqlite").exists()
        claim(verified.returncode and restored.returncode and is_empty and str(half) in restored.stderr,
              f"a backup {what} is refused by --verify and by restore",
              sentence(restored.stderr).replace(f"{place}/", ""))
        # The good one goes into what the half one has left.
        done = daemon.command("restore", good, "--settings", other)
        count += done.returncode == 0 and (state / "martlet.sqlite").exists()
        shutil.rmtree(half)
        shutil.rmtree(state, ignore_errors=True)
    claim(count == len(faults), "the good backup is restored each time into what the half one has left", f"{count} times")
    note(f"the file was {file}")
    full = settings_of(daemon, place, place / "elsewhere")
    daemon.command("restore", good, "--settings", full)
    digest = file_digest(place / "elsewhere/martlet.sqlite")
    done = daemon.command("restore", good, "--settings", full)
    claim(done.returncode and "not empty" in done.stderr and digest == file_digest(place / "elsewhere/martlet.sqlite"),
          "a restore into a state is refused, and changes nothing", sentence(done.stderr).replace(f"{place}/", ""))


def settings_of(daemon, place, state):
    """The daemon's settings with another state directory."""
    path = place / "elsewhere.yml"
    path.write_text(daemon.settings.read_text().replace(f"state: {daemon.state}\n", f"state: {state}\n"))
    return path


def file_digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def newer_state(daemon):
    """A state that a newer version has written: it has a migration that this version does not know."""
    daemon.stop()
    path = daemon.state / "martlet.sqlite"

    def execute(words):
        database = sqlite3.connect(path)
        database.execute(words)
        database.commit()
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        database.close()

    execute("INSERT INTO grdb_migrations (identifier) VALUES ('9999 later')")
    digest, before = file_digest(path), daemon.log.stat().st_size
    took = daemon.start(limit=30)
    said, code = daemon.log.read_text(errors="replace")[before:], daemon.process.poll()
    claim(took is None and code and "newer version" in said and digest == file_digest(path),
          "an older daemon refuses a newer state, and changes no byte of it",
          f"status {code}: {sentence(said)}")
    execute("DELETE FROM grdb_migrations WHERE identifier = '9999 later'")
    daemon.started()


def renames(daemon):
    """A bot gets another's name, which it cannot have."""
    counts = [len(daemon.integrations(name)) for name in ("kit", "core")]
    file = daemon.directory / "bots/kit.yml"
    text = file.read_text()
    for what, name in (("a name that exists", "core"), ("a name that is none", "../core")):
        beside = daemon.command("bot", "kit", "--rename", name)
        file.unlink(missing_ok=True)
        within(20, lambda: len(daemon.api("bots").get("items", [])) == 1, pause=0.2)
        done = daemon.command("bot", "kit", "--rename", name)
        after = [len(daemon.integrations(name)) for name in ("kit", "core")]
        claim(beside.returncode and done.returncode and counts == after, f"a rename to {what} is refused", sentence(done.stderr))
        file.write_text(text)
        within(20, lambda: len(daemon.api("bots").get("items", [])) == 2, pause=0.2)
