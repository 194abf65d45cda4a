#!/usr/bin/env python3
"""Shows that nothing is lost: a line a claim with its figure. Needs strace.

    Tests/Acceptance/durability.py [power] [syncs] [stops] [faults] [kills] [disk] [backup] [queue] [soak]

power   crash images of the database, from every write and flush of a daemon that accepts pushes (Threat PW1)
syncs   a commit synchronizes nothing of mirrors and workspaces, which can be recreated
stops   the machine stops: files that were not synchronized are empty or torn, and the boot is another one
faults  each system call of a kind fails once: EIO, ENOSPC, EMFILE, ENOMEM, EINTR, EAGAIN, EDQUOT (Threat K3)
kills   the daemon is killed as it enters a system call (Threat K2)
disk    each flush takes half a second (Threat D5)
backup  online backups under load, each restored on another state (Threat PW3)
queue   10,000 integrations wait when the daemon starts (Threat L1)
soak    no-op builds, 2,000 of them or MARTLET_SOAK: memory, descriptors and threads afterwards (Threat L3)
"""
import collections, os, pathlib, random, re, shutil, sqlite3, subprocess, sys, time

from acceptance import GIT, Daemon, NOTHING, Place, Repository, claim, finish, read, skip, within

ZERO = "0" * 40


def started(place, bots=1, settings="", more=NOTHING):
    """A daemon that runs, with bots that have integrated their first commit; and their repositories."""
    daemon = Daemon(place, settings)
    repositories = []
    for number in range(bots):
        repository = Repository(place, f"kit{number}")
        repository.first = repository.commit({"file": "0\n"})
        daemon.bot(f"kit{number}", repository, more)
        repositories.append(repository)
    if daemon.start() is None:
        sys.exit("the daemon did not start: " + read(place / "daemon.log")[-2000:])
    for number, repository in enumerate(repositories):
        daemon.push(f"kit{number}", f"first{number}", ZERO, repository.first)
        if not daemon.completed(f"kit{number}", repository.first):
            sys.exit("the first commit is not integrated: " + read(place / "daemon.log")[-2000:])
    return daemon, repositories


def is_sound(path):
    with sqlite3.connect(path) as db:
        return db.execute("PRAGMA integrity_check").fetchone() == ("ok",) and not db.execute("PRAGMA foreign_key_check").fetchall()


# ------------------------------------------------------------------------------------------------------------ power

CALL = re.compile(r"^(\d+\.\d+) (pwrite64|fsync|fdatasync|ftruncate)\(\d+<([^>]*)>(.*) = (-?\d+).*<(\d+\.\d+)>$")


def recorded(directory, database):
    """The writes and flushes of the database's files, in the order in which they began: (begin, end, call, file, offset, bytes)."""
    found = []
    for path in directory.glob("trace.*"):
        for line in path.read_text(errors="replace").splitlines():
            match = CALL.match(line)
            # The index of the log (-shm) is made again, and the journal is of the file's first moment, long before a push.
            if not match or match[3] not in (str(database), f"{database}-wal") or int(match[5]) < 0:
                continue
            begin, call, name, rest, taken = float(match[1]), match[2], match[3], match[4], float(match[6])
            offset, content = 0, b""
            if call == "pwrite64":
                text, _, offset = re.match(r', "((?:\\x[0-9a-f]{2})*)"(\.\.\.)?, \d+, (\d+)\)', rest).groups()
                content, offset = bytes.fromhex(text.replace("\\x", "")), int(offset)
            elif call == "ftruncate":
                offset = int(re.match(r", (\d+)\)", rest)[1])
            found.append((begin, begin + taken, call, name, offset, content))
    return sorted(found)


def image(calls, moment, believes_flushes, chance):
    """What the disk holds after a loss of power: all that was flushed, and of the rest what `chance` lets through."""
    flushed = collections.defaultdict(float)
    if believes_flushes:
        for begin, end, call, name, _, _ in calls:
            if call.endswith("sync") and end <= moment:
                flushed[name] = max(flushed[name], begin)
    files = collections.defaultdict(bytearray)
    for begin, end, call, name, offset, content in calls:
        if begin > moment or call.endswith("sync"):
            continue
        if end > flushed[name] and not chance():
            continue
        file = files[name]
        if call == "ftruncate":
            del file[offset:]
            continue
        if len(file) < offset:
            file.extend(bytes(offset - len(file)))
        file[offset:offset + len(content)] = content
    return files


def power():
    with Place() as place:
        daemon, database = Daemon(place), place / "state/martlet.sqlite"
        repository = Repository(place, "kit")
        commits = [repository.commit({"file": f"{n}\n"}, branch=f"b{n}") for n in range(12)]
        daemon.bot("kit", repository, "branches: ['nothing']\n" + NOTHING)
        (place / "traces").mkdir()
        trace = ["strace", "-ff", "-ttt", "-T", "-y", "-xx", "-s", "1000000", "-o", str(place / "traces/trace"),
                 "-e", "trace=pwrite64,fsync,fdatasync,ftruncate"]
        if daemon.start(trace) is None:
            return claim(False, "power: the daemon starts beneath strace", read(place / "daemon.log")[-300:])
        answered = []
        for number, commit in enumerate(commits):
            if daemon.push("kit", f"d{number}", ZERO, commit, branch=f"b{number}") == 202:
                answered.append((time.time(), f"d{number}"))
        daemon.stop()
        # With -xx the paths are written in hexadecimal, too.
        for path in (place / "traces").glob("trace.*"):
            text = re.sub(r"<((?:\\x[0-9a-f]{2})+)>", lambda m: "<" + bytes.fromhex(m[1].replace("\\x", "")).decode(errors="replace") + ">",
                          path.read_text(errors="replace"))
            path.write_text(text)
        calls = recorded(place / "traces", database)
        chance = random.Random(7)
        moments = [(at, [name for when, name in answered if when <= at]) for at, _ in answered]
        moments += [((a[0] + b[0]) / 2, [name for when, name in answered if when <= (a[0] + b[0]) / 2]) for a, b in zip(answered, answered[1:])]

        def lost(believes):
            broken, images = [], 0
            for moment, names in moments:
                for share in (0.0, 0.3, 0.7, 1.0):
                    images += 1
                    target = place / f"image{images}"
                    target.mkdir()
                    for name, content in image(calls, moment, believes, lambda: chance.random() < share).items():
                        (target / pathlib.Path(name).name).write_bytes(content)
                    try:
                        if not is_sound(target / "martlet.sqlite"):
                            broken.append((moment, "not sound"))
                        with sqlite3.connect(target / "martlet.sqlite") as db:
                            rows = {row[0] for row in db.execute("SELECT delivery_id FROM deliveries")}
                        broken += [(moment, name) for name in names if name not in rows]
                    except sqlite3.Error as error:
                        broken.append((moment, str(error)))
                    shutil.rmtree(target)
            return images, broken

        images, broken = lost(True)
        claim(len(answered) == 12 and images > 80 and not broken, "power: each answered push is in every crash image, and each image is sound",
              f"{len(calls)} writes and flushes, {images} images, {len(broken)} broken {broken[:2]}")
        images, broken = lost(False)
        claim(len(broken) > 0, "power: the same images without the flushes lose answered pushes, so this shows something", f"{len(broken)} broken")


# ---------------------------------------------------------------------------------- what is not synchronized, and stops

def syncs():
    with Place() as place:
        daemon, (repository,) = started(place)
        daemon.stop()
        (place / "traces").mkdir()
        if daemon.start(["strace", "-ff", "-y", "-o", str(place / "traces/trace"), "-e", "trace=fsync,fdatasync,syncfs"]) is None:
            return claim(False, "syncs: the daemon starts beneath strace", read(place / "daemon.log")[-300:])
        commit = repository.commit({"file": "1\n"})
        daemon.push("kit0", "sync1", repository.first, commit)
        done = daemon.completed("kit0", commit)
        daemon.stop()
        calls = [line for path in (place / "traces").glob("trace.*") for line in path.read_text(errors="replace").splitlines() if "sync" in line]
        cached = [line for line in calls if re.search(r"sync\(\d+<[^>]*/state/(repositories|workspaces)/", line)]
        database = [line for line in calls if "martlet.sqlite" in line]
        claim(done is not None and done["result"] == "succeeded" and len(database) > 0 and not cached,
              "syncs: a commit synchronizes nothing of mirrors and workspaces",
              f"{len(database)} of the database, {len(cached)} of mirrors and workspaces {cached[:2]}")


def stops():
    with Place() as place:
        daemon, (repository,) = started(place)
        last, mirror = repository.first, next((daemon.state / "repositories").iterdir())

        def newest(pattern):
            return max(mirror.glob(pattern), key=lambda path: path.stat().st_mtime_ns, default=None)

        def tear(path, keep):
            if path is not None:
                path.chmod(0o600)
                os.truncate(path, min(keep, path.stat().st_size))

        # What a loss of power leaves of files that were written just before.
        torn = {
            "nothing": lambda: None, "pack empty": lambda: tear(newest("objects/pack/*.pack"), 0),
            "index empty": lambda: tear(newest("objects/pack/*.idx"), 0), "packed-refs cut": lambda: tear(mirror / "packed-refs", 60),
            "hold empty": lambda: tear(newest("refs/martlet/*/*"), 0), "config empty": lambda: tear(mirror / "config", 0),
            "record cut": lambda: tear(next(daemon.state.glob("workspaces/kit0/*/*/*/checkout/record")), 30),
        }
        lost, warned = [], 0
        for number, (name, damage) in enumerate(torn.items()):
            daemon.kill()
            (daemon.state / "boot").write_text("00000000-0000-4000-8000-000000000000\n")
            damage()
            before = read(place / "daemon.log").count("the machine may have stopped")
            if daemon.start() is None:
                lost.append(f"{name}: it does not start")
                break
            warned += read(place / "daemon.log").count("the machine may have stopped") > before
            commit = repository.commit({"file": f"{name}\n"})
            daemon.push("kit0", f"stop{number}", last, commit)
            done = daemon.completed("kit0", commit)
            if not done or done["result"] != "succeeded":
                lost.append(f"{name}: {done and (done['result'], done.get('reason'))}")
            last = commit
            checked = subprocess.run(["git", "-C", str(mirror), "fsck", "--full"], env={**os.environ, **GIT}, capture_output=True, text=True)
            if checked.returncode:
                lost.append(f"{name}: {checked.stderr[-200:]}")
        claim(not lost, "stops: after each torn file the next commit is integrated, and the mirror is whole", f"{len(torn)} forms, {lost[:2]}")
        claim(warned == len(torn), "stops: each start says that mirrors and workspaces are doubted", f"{warned} of {len(torn)}")
        daemon.kill()
        daemon.start()
        daemon.stop()
        clean = read(daemon.state / "boot")
        claim(clean == "clean\n", "stops: a stop in order is recorded, so that the next boot trusts all", repr(clean))


# -------------------------------------------------------------------------------------------------- faults and kills

def swept(title, calls, injection, spread):
    """Runs the daemon with an injected fault at the N-th call of each kind; all that was answered must be integrated in the end."""
    violations, runs, ends = [], 0, 0
    with Place() as place:
        daemon, (repository,) = started(place)
        daemon.kill()
        last = repository.first
        for call in calls:
            for number in spread:
                runs += 1
                trace = ["strace", "-f", "-o", "/dev/null", "-e", f"trace={call}", "-e", f"inject={call}:{injection(runs)}:when={number}"]
                daemon.begin(trace)
                within(15, lambda: daemon.answers() or daemon.process.poll() is not None)
                commit = repository.commit({"file": f"{call}{number}\n"})
                status = daemon.push("kit0", f"{call}-{number}-{runs}", last, commit, limit=10)
                if daemon.process.poll() is None and status == 202:
                    daemon.completed("kit0", commit, limit=10)
                if daemon.process.poll() is not None:
                    ends += 1
                else:
                    daemon.kill()
                # A clean start afterwards: what was answered is integrated once, and the database is sound.
                if daemon.start() is None:
                    violations.append(f"{call} {number}: it does not start again: {read(place / 'daemon.log')[-200:]}")
                    break
                if status != 202:
                    daemon.push("kit0", f"{call}-{number}-{runs}-again", last, commit)
                done = daemon.completed("kit0", commit)
                if not done or done["result"] != "succeeded":
                    violations.append(f"{call} {number}: {status}, then {done and (done['result'], done.get('reason'))}")
                same = [i["number"] for i in daemon.integrations("kit0") if i["commit"] == commit]
                if len(same) > 1:
                    violations.append(f"{call} {number}: integrated as {same}")
                daemon.kill()
                if not is_sound(place / "state/martlet.sqlite"):
                    violations.append(f"{call} {number}: the database is damaged")
                last = commit
        daemon.stop()
    claim(runs > 0 and not violations, title, f"{runs} runs, the daemon ended in {ends}, {len(violations)} violations {violations[:2]}")


def faults():
    errors = ["EIO", "ENOSPC", "EMFILE", "ENOMEM", "EINTR", "EAGAIN", "EDQUOT"]
    calls = ["pwrite64", "fdatasync", "fsync", "openat", "renameat2", "mkdirat", "sendto"]
    swept("faults: a system call that fails once loses no push and damages nothing", calls,
          lambda run: f"error={errors[run % len(errors)]}", [1, 2, 3, 5, 8, 13] if "--all" not in sys.argv else range(1, 60))


def kills():
    calls = ["pwrite64", "fdatasync", "fsync", "renameat2", "unlinkat", "openat", "sendto", "clone3", "write"]
    swept("kills: a daemon that is killed in a system call loses no push and does none twice", calls, lambda _: "signal=SIGKILL",
          [1, 2, 3, 5, 8, 13] if "--all" not in sys.argv else range(1, 60))


# ------------------------------------------------------------------------------------------------------------- disk

def disk():
    with Place() as place:
        daemon, (repository,) = started(place)
        daemon.stop()
        trace = ["strace", "-f", "-o", "/dev/null", "-e", "trace=fsync,fdatasync", "-e", "inject=fsync,fdatasync:delay_exit=500000"]
        if daemon.start(trace) is None:
            return claim(False, "disk: the daemon starts on a slow disk", read(place / "daemon.log")[-300:])
        slowest, health, statuses, last = 0.0, 0.0, set(), repository.first
        for number in range(5):
            commit = repository.commit({"file": f"slow{number}\n"})
            begun = time.monotonic()
            statuses.add(daemon.push("kit0", f"slow{number}", last, commit, limit=20))
            slowest = max(slowest, time.monotonic() - begun)
            begun = time.monotonic()
            daemon.answers(limit=20)
            health = max(health, time.monotonic() - begun)
            last = commit
        claim(statuses == {202} and slowest < 10, "disk: with half a second a flush, each push is answered within a forge's 10 s",
              f"slowest {slowest:.2f} s")
        claim(health < 2, "disk: pages and /health are answered meanwhile", f"slowest {health:.2f} s")
        done = daemon.completed("kit0", last, limit=120)
        claim(done is not None and done["result"] == "succeeded", "disk: the last commit is integrated", str(done and done["result"]))
        daemon.stop()


# ----------------------------------------------------------------------------------------------------------- backup

def backup():
    with Place() as place:
        daemon, (repository,) = started(place)
        answered, copies, last = [], [], repository.first
        for number in range(12):
            commit = repository.commit({"file": f"{number}\n"})
            if daemon.push("kit0", f"b{number}", last, commit) == 202:
                answered.append(commit)
            last = commit
            if number % 3 == 2:
                # As the manual says: the database while it runs, then the files.
                target = place / f"copy{number}"
                target.mkdir()
                with sqlite3.connect(daemon.state / "martlet.sqlite") as source, sqlite3.connect(target / "martlet.sqlite") as copy:
                    source.backup(copy)
                for name in ("files", "integrations"):
                    if (daemon.state / name).exists():
                        subprocess.run(["cp", "-a", str(daemon.state / name), str(target)])
                copies.append((target, list(answered)))
        daemon.completed("kit0", last)
        daemon.stop()
        sound, tips = 0, 0
        for target, _ in copies:
            sound += is_sound(target / "martlet.sqlite")
            shutil.rmtree(daemon.state)
            shutil.copytree(target, daemon.state, symlinks=True)
            daemon.state.chmod(0o700)
            if daemon.start() is None:
                print(read(place / "daemon.log")[-1000:])
                continue
            # What came after the copy was made is found by the first scan.
            done = daemon.completed("kit0", last)
            numbers = [i["number"] for i in daemon.integrations("kit0")]
            tips += done is not None and done["result"] == "succeeded" and len(numbers) == len(set(numbers))
            daemon.stop()
        claim(sound == len(copies) == 4, "backup: each online copy is sound", f"{sound} of {len(copies)}")
        claim(tips == len(copies), "backup: each restored copy integrates the branch's tip", f"{tips} of {len(copies)}")


# ------------------------------------------------------------------------------------------------------------ queue

def queue():
    count = int(os.environ.get("MARTLET_QUEUE", "10000"))
    with Place() as place:
        daemon, (repository,) = started(place, settings="concurrency: 1\n")
        daemon.kill()
        with sqlite3.connect(daemon.state / "martlet.sqlite") as db:
            # As a scan of that many branches would leave them.
            copied = 'bot, repository, "commit", cause, is_release, is_clean'
            number, = db.execute("SELECT max(number) FROM integrations").fetchone()
            for next in range(number + 1, number + 1 + count):
                db.execute(f"""
                    INSERT INTO integrations ({copied}, number, ref, state, step, queued_at)
                    SELECT {copied}, ?, ?, 'queued', 'pending', queued_at + ? FROM integrations WHERE number = ?""",
                           [next, f"refs/heads/q{next}", next, number])
            db.execute("UPDATE bots SET last_number = ?", [number + count])
        ready = daemon.start()
        claim(ready is not None and ready <= 5, f"queue: with {count:,} waiting, the daemon answers within 5 s of its start", f"{ready and round(ready, 2)} s")

        def ended():
            with sqlite3.connect(f"file:{daemon.state}/martlet.sqlite?mode=ro", uri=True) as db:
                return [row[0] for row in db.execute(
                    "SELECT number FROM integrations WHERE state = 'completed' AND number > ? ORDER BY started_at, id", [number])]

        def attempts():
            with sqlite3.connect(f"file:{daemon.state}/martlet.sqlite?mode=ro", uri=True) as db:
                return db.execute("SELECT count(*), count(DISTINCT integration) FROM attempts").fetchone()
        within(180, lambda: len(ended()) >= 20, pause=0.5)
        done, (tries, jobs) = ended(), attempts()
        claim(len(done) >= 20 and done == list(range(number + 1, number + 1 + len(done))) and tries == jobs,
              "queue: they are integrated in their order, each once", f"{len(done)} of them, {tries} attempts of {jobs} jobs")
        daemon.stop()


# ------------------------------------------------------------------------------------------------------------- soak

def soak():
    count = int(os.environ.get("MARTLET_SOAK", "2000"))
    with Place() as place:
        daemon, repositories = started(place, bots=4, settings="concurrency: 4\nretention: { integrations: 50 }\n" if "--retention" in sys.argv else "concurrency: 4\n")
        pid = daemon.pid()

        def figures():
            status = dict(line.split(":", 1) for line in read(f"/proc/{pid}/status").splitlines() if ":" in line)
            return int(status["VmRSS"].split()[0]) / 1024, len(os.listdir(f"/proc/{pid}/fd")), int(status["Threads"])

        def run(count):
            for number in range(count):
                index = number % len(repositories)
                repository = repositories[index]
                commit = repository.commit({"file": f"{time.time_ns()}\n"})
                daemon.push(f"kit{index}", f"s{time.time_ns()}", getattr(repository, "last", repository.first), commit)
                repository.last = commit
            for index, repository in enumerate(repositories):
                daemon.completed(f"kit{index}", repository.last, limit=300)

        run(max(count // 10, 40))
        base = figures()
        begun = time.monotonic()
        run(count)
        within(30, lambda: figures()[1] <= base[1] * 1.1)
        after, seconds = figures(), time.monotonic() - begun
        claim(after[1] <= base[1] * 1.1 + 2 and after[2] <= base[2] * 1.1 + 2, f"soak: after {count:,} pushes as many descriptors and threads as before",
              f"{base[1]} → {after[1]} descriptors, {base[2]} → {after[2]} threads, {count / seconds * 60:.0f} a minute")
        claim(after[0] <= base[0] * 1.1 + 8, "soak: memory is within a tenth of what it was", f"{base[0]:.1f} → {after[0]:.1f} MiB")
        wal = (daemon.state / "martlet.sqlite-wal").stat().st_size
        claim(wal < 64 << 20, "soak: the database's log is bounded", f"{wal / 1048576:.1f} MiB")
        daemon.stop()


PARTS = {"power": power, "syncs": syncs, "stops": stops, "faults": faults, "kills": kills, "disk": disk, "backup": backup, "queue": queue, "soak": soak}
if __name__ == "__main__":
    wanted = [a for a in sys.argv[1:] if not a.startswith("-")] or list(PARTS)
    if unknown := [a for a in wanted if a not in PARTS]:
        sys.exit(f"there is no part {unknown[0]}; the parts are {', '.join(PARTS)}")
    for name in wanted:
        if name in ("power", "syncs", "faults", "kills", "disk") and not shutil.which("strace"):
            skip(name, "strace is not installed")
        else:
            PARTS[name]()
    finish()
