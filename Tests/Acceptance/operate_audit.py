"""Who did what: a part of Tests/Acceptance/operate. Each act is done by the command line or over HTTP, and the audit is compared with the list."""
import datetime, getpass, json, shutil, sqlite3, time

from acceptance import Repository, claim, last, run, within
from operate_host import LedgerDaemon

# The service itself and people, whose commands come over HTTP or by the machine's socket.
SOCKET, HTTP = None, "127.0.0.1"


class Acts:
    """Does things, and keeps what the audit has to have of them: action, actor, address, what it is about, and between which times."""

    def __init__(self, daemon):
        self.daemon, self.expected, self.failures, self.tokens = daemon, [], [], {}

    def do(self, action, actor, about, *words, refused=False):
        """Runs a command of the command line as a token's owner, or as this user where there is no such token."""
        token = self.tokens.get(actor)
        away = ("--server", self.daemon.url, "--token", token) if token else ()
        before = now()
        done = self.daemon.command(*words, *away)
        if (done.returncode != 0) != refused:
            self.failures.append(f"{' '.join(words)}: {last(done.stdout + done.stderr)}")
        if not refused:
            self.expected.append((action, actor, HTTP if token else SOCKET, about, before, now()))
        return done.stdout + done.stderr

    def token(self, by, name, role):
        said = self.do("token-created", by, name, "token", "create", name, "--role", role)
        self.tokens[name] = max(said.split(), key=len)


def now():
    return datetime.datetime.now(datetime.timezone.utc)


def moment(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00"))


def audit(place):
    daemon = LedgerDaemon(place / "audit")
    kit = Repository(daemon.directory, "kit")
    kit.commit({"number": "0"})
    daemon.bot("kit", kit, daemon.recipe)
    daemon.gate.touch()
    daemon.started()
    daemon.completed("kit", kit.head)
    acts, me = Acts(daemon), getpass.getuser()
    refused = done(daemon, acts, me)
    restored(daemon, acts, me, place)
    rows = listed(daemon)
    people = [row for row in rows if row["actor"] != "service"]
    compare(people, acts)
    mine = [row for row in people if row["actor"] == "vera"]
    claim(not mine and len(refused) == 3, "what was refused is no act, and the answer says what is missing", last(refused[0]))
    own = sorted({row["action"] for row in rows if row["actor"] == "service"})
    claim({"bot-file"} <= set(own), "what the service did by itself has its name", f"{len(rows) - len(people)} rows: {' '.join(own)}")
    unchanged(daemon, len(rows))
    claim(daemon.stop(), "the daemon ends in order")


def listed(daemon):
    """The audit, the oldest row first. It is for admins alone."""
    return list(reversed(json.loads(daemon.command("audit", "--limit", "200", "--json").stdout)["items"]))


def done(daemon, acts, me):
    """Returns what refused commands said."""
    acts.token(me, "ann", "admin")
    acts.token("ann", "olga", "operator")
    acts.token("ann", "vera", "viewer")
    acts.do("paused", "olga", "kit", "pause", "kit", "--reason", "its device is away")
    acts.do("resumed", "olga", "kit", "resume", "kit")
    acts.do("integrated", "olga", "kit#2", "integrate", "kit", "--wait")
    acts.do("rerun", me, "kit#2", "rerun", "kit#2", "--wait")
    daemon.gate.unlink()
    acts.do("integrated", "ann", "kit#3", "integrate", "kit")
    within(60, lambda: daemon.api("bots/kit/integrations/3").get("step") == "building")
    acts.do("canceled", "olga", "kit#3", "cancel", "kit#3")
    within(60, lambda: daemon.api("bots/kit/integrations/3").get("state") == "completed")
    daemon.gate.touch()
    # A restart in between changes nothing.
    daemon.leave()
    daemon.started()
    acts.do("drained", "ann", "", "drain", "--wait", "--reason", "a new kernel")
    acts.do("resumed", me, "", "resume")
    acts.do("paused", me, "", "pause", "--reason", "a new disk")
    forbidden = (("resume",), ("integrate", "kit"), ("token", "create", "eve", "--role", "admin"))
    refused = [acts.do("", "vera", "", *words, refused=True) for words in forbidden]
    acts.do("resumed", "ann", "", "resume")
    acts.do("token-revoked", "ann", "vera", "token", "revoke", "vera")
    return refused


def restored(daemon, acts, me, place):
    """Goes on with a backup of this state in its place."""
    backup, settings = place / "audit-backup", ("--settings", daemon.settings)
    made = daemon.command("backup", backup, *settings)
    daemon.stop()
    shutil.move(daemon.state, place / "audit-before")
    before = now()
    done = daemon.command("restore", backup, *settings)
    if made.returncode or done.returncode:
        acts.failures.append(last(made.stderr + done.stderr))
    acts.expected.append(("restored", me, SOCKET, "the backup of ", before, now()))
    daemon.started()
    acts.do("resumed", "ann", "", "resume", "--publishing", "--none-published")


def compare(rows, acts):
    claim(not acts.failures, "each act was done, before and after a restart and a restore",
          f"{len(acts.expected)} acts; {'; '.join(acts.failures) or 'none failed'}")
    found = [(row["action"], row["actor"], row["address"]) for row in rows]
    expected = [act[:3] for act in acts.expected]
    wrong = [(have, want) for have, want in zip(found, expected) if have != want]
    claim(found == expected, "the audit has each of them in its order, with who did it and from where",
          f"{len(rows)} rows: {' '.join(dict.fromkeys(row['action'] for row in rows))}" if found == expected
          else f"{len(found)} rows for {len(expected)} acts; the first other: {wrong[:1]}")
    about = [(row["action"], row["bot"], row["subject"], act[3]) for row, act in zip(rows, acts.expected)
             if act[3] not in f"{row['bot']} {row['subject']}"]
    claim(not about, "each says what it is about", f"{rows[3]['subject']}: {rows[3]['detail']}" if not about else about[:2])
    second = datetime.timedelta(seconds=1)
    late = [row["action"] for row, act in zip(rows, acts.expected) if not act[4] - second <= moment(row["at"]) <= act[5] + second]
    claim(not late, "each has its time, to a second", f"from {rows[0]['at']} to {rows[-1]['at']}" if not late else late)
    ids = [row["id"] for row in rows]
    claim(ids == sorted(ids), "numbers rise with time")


def unchanged(daemon, count):
    """The database itself refuses to change the audit."""
    said = []
    with sqlite3.connect(daemon.state / "martlet.sqlite", timeout=30) as database:
        for words in ("UPDATE audit SET actor = 'eve' WHERE id = (SELECT max(id) FROM audit)",
                      "DELETE FROM audit WHERE id = (SELECT max(id) FROM audit)"):
            try:
                database.execute(words)
            except sqlite3.Error as error:
                said.append(str(error))
    claim(len(said) == 2 and len(listed(daemon)) == count, "the database refuses to change a row and to remove the newest", "; ".join(said))
