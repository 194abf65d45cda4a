"""What Tests/Acceptance/intake-pulls runs: intake-pulls.py MARTLET"""
import hashlib, hmac, json, os, sys, uuid

import showcase_world
from showcase_world import run, write

SECRET = "a webhook secret"
TOKEN = "hunter2-of-the-registry"
failures = 0

RECIPE = """configurations:
  debug:
    steps:
      - { name: steps, step: testing, network: full, run: sh ./steps }
analyze: []
archive: { include: [kit] }
"""
HONEST = """#!/bin/sh
echo "parents: $(git rev-parse HEAD^@ | tr '\\n' ' ')"
echo "cache: $(cat "$XDG_CACHE_HOME/planted" 2>/dev/null || echo none)"
mkdir -p "$XDG_CACHE_HOME" && echo "by $MARTLET_REF" > "$XDG_CACHE_HOME/planted"
"""
HOSTILE = """#!/bin/sh
env
cat @HOME/secrets/* @HOME/state/martlet.sqlite && echo READ-THE-SECRETS
cat /proc/1/environ && echo READ-THE-DAEMON
bash -c 'exec 3<>/dev/tcp/127.0.0.1/@PORT' && echo REACHED-THE-DAEMON
mkdir -p "$XDG_CACHE_HOME" && echo POISON > "$XDG_CACHE_HOME/planted"; echo POISON > .martlet/planted
echo pwned > @HOME/planted
exit 0
"""


def claim(holds, what, figure=""):
    global failures
    failures += not holds
    print(f"{'ok' if holds else 'FAILED':8} {what:96} {figure}", flush=True)


class World(showcase_world.World):
    def __init__(self, martlet):
        super().__init__(martlet, "pulls", ("bots", "secrets", "state", "triggers"))
        write(f"{self.home}/triggers/deploy", f"#!/bin/sh\necho \"$MARTLET_REF\" >> {self.home}/deployed\n", 0o755)
        for name, value in (("kit", SECRET), ("registry-token", TOKEN)):
            write(f"{self.home}/secrets/{name}", value, 0o600)
        write(f"{self.home}/martlet.yml", f"listen: 127.0.0.1:{self.port}\nstate: {self.home}/state\nisolation: sandbox\nsandbox: {{ loopback: true }}\n")
        self.bot("approved")
        self.start()

    def bot(self, policy):
        write(
            f"{self.home}/bots/kit.yml",
            f"repository: {self.remote}\npoll: off\nwebhook: {{ secret: kit }}\nbranches: [main, 'release/*']\n"
            f"pull-requests: {policy}\nsecrets: [{{ name: registry-token, branches: ['**'] }}]\n"
            "triggers:\n  - { name: deploy, run: deploy, when: always }\n"
            "  - { name: publish, branches: ['release/*'], publish: { version: branch } }\n")

    def request(self, *words):
        status, body = super().request(*words)
        return status, body.decode()

    def command(self, *words):
        return run(self.martlet, *words, "--server", f"{self.home}/state/martlet.socket", check=False)

    # ---------------------------------------------------------------------------------------------- git and events

    def pull(self, number, files, start="main", branch=None):
        """A commit of a fork, or of a branch of the repository, where GitHub has the head of a pull request."""
        self.git("checkout", "-q", "--detach", start)
        head = self.commit(files, f"Pull {number}")
        self.git("push", "-q", self.remote, f"+{head}:refs/pull/{number}/head")
        if branch:
            self.git("push", "-q", self.remote, f"+{head}:refs/heads/{branch}")
        self.git("checkout", "-q", "main")
        return head

    def deliver(self, event, body):
        identifier, data = str(uuid.uuid4()), json.dumps(body).encode()
        code = hmac.new(SECRET.encode(), data, hashlib.sha256).hexdigest()
        status, text = self.request("POST", "/webhooks/github/kit", data, {
            "Content-Type": "application/json", "X-GitHub-Event": event, "X-GitHub-Delivery": identifier,
            "X-Hub-Signature-256": "sha256=" + code})
        if status != 202:
            sys.exit(f"intake-pulls: {status} {text}")
        return self.until("a fate", lambda: next(
            (one for one in self.api("deliveries")["items"] if one["id"] == identifier and one["fate"] != "pending"), None))

    def push(self):
        self.git("push", "-q", self.remote, "refs/heads/main:refs/heads/main")
        head = self.git("rev-parse", "main")
        self.deliver("push", {"ref": "refs/heads/main", "before": "0" * 40, "after": head, "repository": {}})
        return self.done(lambda one: one["commit"] == head)

    def tell(self, action, number, head, base="main", **more):
        pull = {
            "number": number, "state": "closed" if action == "closed" else "open", "head": {"sha": head, "ref": "release/1.0"},
            "base": {"ref": base}, "user": {"login": "ann", "site_admin": True}, "author_association": "OWNER"}
        return self.deliver("pull_request", {"action": action, "number": number, "pull_request": pull | more, "repository": {}})

    def of(self, number):
        items = self.api("bots/kit/integrations?limit=200")["items"]
        return [one for one in items if (one["pullRequest"] or {}).get("number") == number]

    def done(self, wanted):
        return self.until("the end of an integration", lambda: next(
            (one for one in self.api("bots/kit/integrations?limit=200")["items"] if wanted(one) and one["state"] == "completed"), None))

    def printed(self, one):
        return self.request("GET", f"/api/v1/bots/kit/integrations/{one['number']}/log/debug")[1]


def main(martlet):
    world = World(martlet)
    world.commit({"steps": HONEST, ".martlet.yml": RECIPE, "kit": "1\n"}, "Begin")
    world.push()

    # A branch of the repository, after which main has moved on.
    own = world.pull(1, {"topic": "1\n"}, branch="topic")
    world.commit({"other": "1\n"})
    base = world.push()
    event = world.tell("opened", 1, own)
    claim(event["fate"] == "integrated", "a signed event of a pull request is integrated, with its ref update", event["refUpdates"][0]["ref"])
    one = world.done(lambda one: one["head"] == own)
    claim(one["result"] == "succeeded" and one["pullRequest"]["trusted"], "of the repository's own branch: trusted", one["pullRequest"]["source"])
    text = world.printed(one)
    claim(f"parents: {base['commit']} {own}" in text, "what ran is the merge of main's tip and the head", one["commit"][:12])
    claim("cache: none" in text, "in a workspace that what is merged has never been in")

    # A fork that wants everything.
    hostile = HOSTILE.replace("@HOME", world.home).replace("@PORT", str(world.port))
    fork = world.pull(2, {"steps": hostile, ".martlet.yml": RECIPE.replace("debug", "stolen")})
    event = world.tell("opened", 2, fork)
    claim(event["fate"] == "refused" and not world.of(2), "a fork's waits, though its event says that the owner made it", event["reason"][:90])
    listed = world.api("bots/kit/pull-requests")["items"]
    claim([one["state"] for one in listed] == ["waiting", "integrated"], "and is shown so", "/api/v1/bots/kit/pull-requests")
    page = world.request("GET", "/bots/kit")[1]
    claim(f"martlet approve &#39;kit!2&#39; --commit {fork}" in page, "and on the bot's page, with what to do")

    world.bot("all")
    world.until("the file", lambda: "pull-requests: all" in world.command("bot", "kit", "--resolved").stdout)
    # Without polls the next event makes it look.
    world.tell("edited", 1, own)
    one = world.done(lambda one: one["head"] == fork)
    text = world.printed(one)
    claim(one["result"] == "succeeded" and "MARTLET_PULL_REQUEST=2" in text, "with pull-requests: all it runs, by the recipe of its base", "debug")
    for word, what in (("READ-", "it reads no secret, no state, nothing of the daemon"), (TOKEN, "its log has no secret"),
                       ("REACHED", "it has no network, though its base's recipe gives one")):
        claim(word not in text, what)
    claim(not os.path.exists(f"{world.home}/planted"), "it writes nothing beside its workspace")
    claim(not os.listdir(f"{world.home}/state/workspaces/kit/debug/fork"), "its workspace is gone, with all caches")
    world.commit({"more": "1\n"})
    after = world.push()
    claim("cache: by refs/heads/main" in world.printed(after), "main goes on with its own cache")
    with open(f"{world.home}/deployed") as file:
        refs = set(file.read().split())
    claim(refs == {"refs/heads/main"}, "no trigger ran but main's", " ".join(sorted(refs)))

    # Approval: of a head, not of a pull request.
    world.bot("approved")
    world.until("the file", lambda: "pull-requests: approved" in world.command("bot", "kit", "--resolved").stdout)
    first = world.pull(3, {"steps": HONEST, "a": "1\n"})
    world.tell("opened", 3, first)
    second = world.pull(3, {"steps": HONEST, "a": "2\n"})
    world.tell("synchronize", 3, second)
    late = world.command("approve", "kit!3", "--commit", first)
    claim(late.returncode == 1 and second in late.stderr, "who approves a head that was replaced meanwhile approves nothing", "exit 1")
    approved = world.command("approve", "kit!3", "--commit", second, "--wait")
    claim(approved.returncode == 0, "who approves the head that is there lets it run", approved.stdout.split("\n")[0])
    third = world.pull(3, {"steps": HONEST, "a": "3\n"})
    fates = [world.tell("synchronize", 3, third)["fate"], world.tell("closed", 3, third)["fate"], world.tell("reopened", 3, third)["fate"]]
    claim(fates == ["refused", "ignored", "refused"] and len(world.of(3)) == 1, "a newer head waits again, also closed and opened", " ".join(fates))
    claim(world.stop(), "the daemon is stopped")
    world.start()
    claim(len(world.of(3)) == 1, "and started: it still waits")

    # What is not there, and names.
    elsewhere = world.tell("opened", 4, third)
    claim(not world.of(4), "a commit that the server has at another ref is not built", elsewhere["reason"][:90])
    world.git("push", "-q", world.remote, f"{third}:refs/tags/topic", f"{third}:refs/tags/refs/heads/main")
    world.git("push", "-q", world.remote, f"+{third}:refs/pull/5/head")
    claim(world.tell("opened", 5, third)["fate"] == "refused", "a tag at the head, by whatever name, makes no branch of it")
    # Where it is, git itself pushes to no `main` any more.
    world.git("push", "-q", world.remote, ":refs/tags/refs/heads/main")
    world.git("push", "-q", world.remote, f"+{own}:refs/pull/6/head")
    world.tell("opened", 6, own)
    claim(world.done(lambda one: (one["pullRequest"] or {}).get("number") == 6)["pullRequest"]["trusted"],
          "a fork's head that the repository's branch is at is the repository's")

    # Release branches.
    world.git("push", "-q", world.remote, "main:refs/heads/release/1.0")
    release = world.pull(7, {"r": "1\n"}, branch="release-1.0")
    world.tell("opened", 7, release)
    world.done(lambda one: one["head"] == release)
    world.tell("edited", 7, release, base="release/1.0")
    world.done(lambda one: one["head"] == release and one["base"] == "refs/heads/release/1.0")
    world.until("the release", lambda: world.api("products/kit/versions").get("items"))
    versions = [one["ref"] for one in world.api("products/kit/versions")["items"]]
    claim(versions == ["refs/heads/release/1.0"], "a pull request into a release branch publishes nothing", " ".join(versions))

    # What does not merge.
    conflict = world.pull(8, {"kit": "topic\n"}, branch="conflict")
    world.commit({"kit": "main\n"})
    world.push()
    world.tell("opened", 8, conflict)
    one = world.done(lambda one: one["head"] == conflict)
    claim(one["commit"] == conflict and "both change kit" in (one["pullRequest"]["unmerged"] or ""), "where they do not merge the head alone is integrated, which is said",
          one["pullRequest"]["unmerged"])
    claim("does not merge with main" in world.request("GET", f"/bots/kit/{one['number']}")[1], "on the page")
    claim("does not merge with main" in world.command("show", f"kit#{one['number']}").stdout, "and by martlet show")

    # The same merge again.
    merges = {}
    for again in range(2):
        run("rm", "-rf", f"{world.home}/state/repositories") if again else None
        number = world.of(1)[0]["number"]
        if again:
            world.command("rerun", f"kit#{number}", "--wait")
        merges[again] = world.api(f"bots/kit/integrations/{number}")["commit"]
    claim(merges[0] == merges[1], "in a mirror made anew the same merge has the same id", merges[1][:12])

    claim(world.end(), "the daemon ran all the while and stops in order")
    print(f"{failures} claims do not hold" if failures else "every claim holds")
    sys.exit(1 if failures else 0)


main(sys.argv[1])
