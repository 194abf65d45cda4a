"""What Tests/Acceptance/releases publishes [KILLS] runs.

A real daemon publishes one commit after another and gets SIGKILL as it enters a system call of its publishing: the first, the second and so on,
from the moment at which the trigger is stored as running to the one at which it is stored as done. What is there after each death and after each
start is compared with a ledger of this program's own, made of answers over HTTP and of the disk's bytes.
"""
import collections, hashlib, hmac, json, os, pathlib, select, signal, sqlite3, subprocess, sys, time

from acceptance import Place, claim, daemons, finish, last, missing, need, read, run
from publishing import PublishingDaemon

RECIPE = """configurations:
  release:
    test: none
    steps:
      - { name: make, step: building, run: "cp file kit; cp file kit.txt" }
analyze: []
archive: { include: [kit, kit.txt] }
"""
PACKAGE = "// swift-tools-version: 5.9\nimport PackageDescription\nlet package = Package(name: \"kit\")\n"
# The trigger's row as the database's log has it: its name, phase and state stand one after the other.
BEGIN, END = "publishafterrunning", "publishaftersucceeded"
# Numbers of system calls by name, for users.
NAMES = {}
for line in subprocess.run(["cc", "-E", "-dM", "-"], input="#include <sys/syscall.h>\n#include <asm/unistd.h>\n", capture_output=True,
                           text=True).stdout.splitlines():
    words = line.split()
    if len(words) == 3 and words[1].startswith("__NR_") and words[2].isdigit():
        NAMES[int(words[2])] = words[1][5:]


class KilledDaemon(PublishingDaemon):
    """The daemon that runs under the killer."""

    def begin(self, prefix=()):
        with open(self.log, "ab") as log:
            self.process = self.killer = subprocess.Popen(
                [f"{self.directory}/killer", BEGIN, END, self.martlet, "serve", "--settings", str(self.settings)], stdin=subprocess.PIPE,
                stdout=subprocess.PIPE, stderr=log, bufsize=0, start_new_session=True)
        daemons.add(self.process.pid)
        self.lines = b""
        return self

    def say(self, number, what="at"):
        self.killer.stdin.write(f"{what} {number}\n".encode())
        self.answer("armed", rings=True)

    def answer(self, *words, limit=60, rings=False):
        """The killer's next line that begins with one of the words."""
        end = time.monotonic() + limit
        while time.monotonic() < end:
            while b"\n" in self.lines:
                line, self.lines = self.lines.split(b"\n", 1)
                if line.split()[0].decode() in words:
                    return line.decode().split()
            if rings:
                self.killer.send_signal(signal.SIGUSR1)
            if select.select([self.killer.stdout], [], [], 0.05)[0]:
                more = os.read(self.killer.stdout.fileno(), 4096)
                if not more:
                    sys.exit("releases: the killer ended")
                self.lines += more
        sys.exit(f"releases: no {words} within {limit} s; the log's end: {last(read(self.log), 20)}")


class Ledger:
    """What is known from outside: which commit got which version, and the bytes of each."""

    def __init__(self, daemon):
        self.daemon, self.versions, self.commits, self.order, self.problems = daemon, {}, {}, {}, collections.Counter()
        self.signed = 0

    def problem(self, kind, what):
        self.problems[kind] += 1
        if self.problems[kind] < 4:
            print(f"         {kind}: {what}", flush=True)

    @property
    def root(self):
        return f"{self.daemon.state}/files/kit"

    def read(self, version):
        """Digests of a version's files, by name, and its manifest; nothing of it may be missing."""
        place = f"{self.root}/{version}"
        files = {}
        for name in os.listdir(place):
            with open(f"{place}/{name}", "rb") as file:
                files[name] = hashlib.sha256(file.read()).hexdigest()
        sums = dict(reversed(line.split("  ", 1)) for line in open(f"{place}/SHA256SUMS").read().splitlines())
        manifest = json.load(open(f"{place}/manifest.json"))
        if any(files.get(name) != digest for name, digest in sums.items()) or {item["path"] for item in manifest["files"]} - set(files):
            raise ValueError("bytes and SHA256SUMS differ")
        return files, manifest

    def disk(self, moment, everything=False):
        """Each directory under files/kit is a whole version, and none that was seen has changed: the new ones and the last few, or all."""
        names = [name for name in os.listdir(self.root) if not name.endswith(".json")] if os.path.isdir(self.root) else []
        names.sort(key=lambda name: self.order.get(name, len(self.order)))
        for name in names if everything else names[-4:]:
            self.order.setdefault(name, len(self.order))
            try:
                files, manifest = self.read(name)
            except (OSError, ValueError, KeyError) as error:
                self.problem("half visible", f"{name} {moment}: {error}")
                continue
            known = self.versions.setdefault(name, files)
            if known != files:
                self.problem("changed", f"{name} {moment}")
            other = self.commits.setdefault(manifest["commit"], name)
            if other != name:
                self.problem("double", f"{manifest['commit'][:8]} is {other} and {name} {moment}")

    def after(self, commit, number, integration):
        """After the start: the commit is the version of its number, listed, whole and served, and nothing else is there."""
        self.disk("after the start")
        version = f"1.0.{number}"
        if self.commits.get(commit) != version:
            self.problem("gap or reuse", f"{commit[:8]} became {self.commits.get(commit)}, not {version}")
        listed = {item["version"]: item for item in self.daemon.items("products/kit/versions")}
        if set(listed) != {f"1.0.{index}" for index in range(number + 1)}:
            self.problem("gap or reuse", f"{len(listed)} versions are listed after {version}")
        if listed.get(version, {}).get("commit") != commit:
            self.problem("gap or reuse", f"{version} is listed with another commit")
        for name, digest in self.versions.get(version, {}).items():
            if name in ("manifest.json", "SHA256SUMS"):
                continue
            status, body = self.daemon.ask(f"/files/kit/{version}/{name}")
            if status != 200 or hashlib.sha256(body).hexdigest() != digest:
                self.problem("half visible", f"{version}/{name} is answered with {status}")
        if os.listdir(f"{self.daemon.state}/staging"):
            self.problem("left over", f"staging after {version}")
        with sqlite3.connect(f"file:{self.daemon.state}/martlet.sqlite?mode=ro", uri=True) as database:
            reserved = database.execute("SELECT version FROM versions WHERE state = 'reserved'").fetchall()
        if reserved:
            self.problem("left over", f"{reserved} is reserved after {version}")
        if integration["result"] != "succeeded":
            self.problem("failed", f"kit#{integration['number']}: {integration['result']}")

    def seals(self):
        """Each version's signature fits, for ssh-keygen, and the registry has all of them with the digest of their archive."""
        signers = f"{self.daemon.state}/files/ALLOWED_SIGNERS"
        principal = open(signers).read().split()[0]
        for version, files in self.versions.items():
            place = f"{self.root}/{version}"
            with open(f"{place}/SHA256SUMS") as sums:
                check = subprocess.run(["ssh-keygen", "-Y", "verify", "-f", signers, "-I", principal, "-n", "file", "-s", f"{place}/SHA256SUMS.sig"],
                                       stdin=sums, capture_output=True)
            status, body = self.daemon.ask(f"/registry/acme/kit/{version}", headers={"Accept": "application/vnd.swift.registry.v1+json"})
            archive = [item["checksum"] for item in json.loads(body)["resources"]] if status == 200 else []
            if check.returncode or "provenance.json" not in files or len(archive) != 1 or archive[0] not in files.values():
                self.problem("unsealed", f"{version}: {check.stderr.decode().strip()} {status} {archive}")
            else:
                self.signed += 1


def main(home, kills):
    # Signed, with its provenance, and in the registry: all that publishing writes.
    daemon = KilledDaemon(home, bot="webhook: { secret: kit-webhook }\n",
                          settings="signing: signing-key\n", publish="version: branch, registry: acme.kit")
    run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", home / "secrets/signing-key", check=True)
    os.remove(home / "secrets/signing-key.pub")
    daemon.secret("kit-webhook", "a secret")
    run("cc", "-O2", "-o", home / "killer", pathlib.Path(__file__).with_name("releases_killer.c"), check=True)
    daemon.kit.commit({".martlet.yml": RECIPE, "file": "0", ".gitignore": "kit\nkit.txt\n", "Package.swift": PACKAGE})
    daemon.started()
    daemon.until("the first scan", lambda: [item for item in daemon.integrations("kit") if item["state"] == "completed"])
    ledger, places, calls, number = Ledger(daemon), set(), collections.Counter(), 0
    begun = time.monotonic()

    def publish(at, what="at"):
        """Pushes a commit and tells of it; its integration's number, and what the killer says of its publishing."""
        commit = daemon.kit.commit({"file": f"{number} {at}\n"}, branch="release/1.0")
        daemon.say(at, what)
        body = json.dumps({"updates": []}).encode()
        signature = hmac.new(b"a secret", body, "sha256").hexdigest()
        status, answer = daemon.ask("/webhooks/push/kit", body, {
            "Content-Type": "application/json", "X-Hub-Signature-256": f"sha256={signature}", "X-Martlet-Delivery": commit})
        if status != 202:
            sys.exit(f"releases: the push was refused: {status} {answer}")
        return commit, daemon.answer("killed", "passed")

    def completed(commit):
        found = [item for item in daemon.api("bots/kit/integrations?limit=5").get("items", []) if item["commit"] == commit]
        if len(found) > 1:
            ledger.problem("double", f"{len(found)} integrations of {commit[:8]}")
        return found[0] if found and found[0]["state"] == "completed" else None

    def uninterrupted(what):
        """How many calls publishing makes."""
        nonlocal number
        commit, said = publish(1_000_000, what)
        ledger.after(commit, number, daemon.until("its end", lambda: completed(commit)))
        number += 1
        return int(said[1])

    # How many there are, from publications that nobody interrupts; no two runs order their threads alike.
    window, changing = (max(uninterrupted(what) for _ in range(3)) for what in ("at", "change"))
    # Each call that changes something, then as many as are left among all calls.
    first = min(changing, kills)
    left = kills - first
    plan = [("change", 1 + index * changing // first) for index in range(first)] + [("at", 1 + index * window // left) for index in range(left)]
    # Publications that were through before their call came are made up for.
    plan += [("at", 1 + (index * 7919) % window) for index in range(kills // 5)]
    for what, at in plan:
        if sum(calls.values()) == kills:
            break
        commit, said = publish(at, what)
        if said[0] == "killed":
            daemon.killer.wait(30)
            ledger.disk("while it was dead")
            places.add((what, int(said[1])))
            calls[NAMES.get(int(said[2]), said[2])] += 1
            daemon.started()
        # Else it was published with fewer calls than that this time.
        ledger.after(commit, number, daemon.until("its end", lambda: completed(commit)))
        number += 1
    judge(ledger, places, calls, number, (kills, changing, window), time.monotonic() - begun)


def judge(ledger, places, calls, number, planned, took):
    """planned: the kills, the calls that change something, and all calls of one publication."""
    kills, changing, window = planned
    ledger.disk("at the end", everything=True)
    ledger.seals()
    killed = sum(calls.values())
    changed = sum(what == "change" for what, _ in places)
    figures = f"{killed} kills: at {changed} of {changing} that change something, {len(places) - changed} of all {window}; {took:.0f} s"
    claim(killed == kills, "publishing was killed with SIGKILL at its system calls, one after the other", figures)
    claim(all(calls[name] for name in ("fsync", "renameat2", "pwrite64")), "writing, synchronizing and moving into place are among them",
          ", ".join(f"{name} {count}" for name, count in calls.most_common(8)))
    claim(not ledger.problems["half visible"], "no version was half visible: after each death and each start every directory had all its bytes",
          f"{len(ledger.versions)} versions")
    claim(not ledger.problems["double"], "no commit became two versions")
    claim(not ledger.problems["gap or reuse"], "each commit became the next number, without gap or reuse", f"1.0.0 to 1.0.{number - 1}")
    claim(not ledger.problems["unsealed"], "each has a signature that ssh-keygen -Y verify takes, its provenance, and its release in the registry",
          f"{ledger.signed} versions")
    claim(not ledger.problems["changed"], "no version's bytes changed, ever")
    claim(not ledger.problems["left over"] and not ledger.problems["failed"],
          "the next start finished what was interrupted, and left nothing behind", f"{number} integrations succeeded")


kills = int(sys.argv[1]) if len(sys.argv) > 1 else 500
if os.geteuid() != 0:
    missing("only root may look into a daemon that is not dumpable")
need("cc", "ssh-keygen")
with Place() as place:
    main(place, kills)
finish()
