"""What Tests/Acceptance/intake runs: intake.py MARTLET CORPUS [all | bodies | mutations [COUNT] | flood | crowd | ledger [PUSHES KILLS]]"""
import json, multiprocessing, random, sys, time, uuid

from intake_daemon import *
import intake_flood, intake_ledger


# ------------------------------------------------------------------------------------------------------ what bodies mean


def corpus(directory):
    """(name, forge, headers, body) of every collected body."""
    for line in open(f"{directory}/MANIFEST.jsonl"):
        entry = json.loads(line)
        if entry["file"].startswith("webhooks/") and entry["file"].endswith(".json"):
            with open(f"{directory}/{entry['file']}", "rb") as file:
                body = file.read()
            forge = entry["file"].split("/")[1].replace("bitbucket-cloud", "bitbucket")
            yield entry["file"][len("webhooks/"):], forge, entry.get("headers") or {}, body


def meaning(forge, headers, body):
    """taken, ignored or refused, by the forges' documentation."""
    words = [value for name, value in headers.items() if name.lower().endswith("-event") or name == "X-Event-Key"]
    if not words:
        return "refused"
    word, body = words[0], json.loads(body)
    if forge == "gitlab":
        kind = body.get("object_kind") or body.get("event_name")
        attributes = body.get("object_attributes") or {}
        if kind == "merge_request":
            action = attributes.get("action")
            update = action == "update" and attributes.get("oldrev")
            return "taken" if update or action in ("open", "reopen", "close", "merge", None) else "ignored"
        return "taken" if kind in ("push", "tag_push", "repository_update") else "ignored"
    if forge.startswith("bitbucket"):
        taken = {"repo:push", "repo:refs_changed", "mirror:repo_synchronized", "pullrequest:created", "pullrequest:updated",
                 "pullrequest:fulfilled", "pullrequest:rejected", "pr:opened", "pr:from_ref_updated", "pr:modified",
                 "pr:merged", "pr:declined", "pr:deleted"}
        pull = body.get("pullrequest") or {}
        sides = [((pull.get(side) or {}).get("repository") or {}).get("full_name") for side in ("source", "destination")]
        # A fork's commits are in the fork alone there.
        if word.startswith("pullrequest:") and sides[0] != sides[1]:
            return "ignored"
        return "taken" if word in taken else "ignored"
    if word == "pull_request":
        actions = ("opened", "edited", "synchronize", "synchronized", "reopened", "closed")
        return "taken" if body.get("action") in actions else "ignored"
    return "taken" if word in ("push", "create", "delete") else "ignored"


def bodies(martlet, directory):
    vectors = json.load(open(f"{directory}/signatures/webhook-signatures.json"))["vectors"]
    secrets = dict.fromkeys(FORGES, SECRET) | {f"vector-{n}": vector["secret"] for n, vector in enumerate(vectors)}
    daemon = Daemon(martlet, secrets)
    sender, count, wrong = Sender(daemon.port), 0, 0
    for name, forge, headers, body in corpus(directory):
        status, text = sender.post(f"/webhooks/{forge}/{forge}", signed(forge, headers, body), body)
        found = "refused" if status == 400 else "?"
        if status == 202:
            found = "taken" if json.loads(text)["ignored"] is None else "ignored"
        expected = meaning(forge, headers, body)
        count += 1
        if found != expected:
            wrong += 1
            print(f"         {name}: {found} ({status}), expected {expected}: {text.strip()}")
        status, _ = sender.post(f"/webhooks/{forge}/{forge}", signed(forge, headers, body, SECRET + "x"), body)
        wrong += status != 401
    claim(count > 0 and wrong == 0, "every body is taken, ignored or refused as its documentation says", f"{count} bodies")

    count = wrong = 0
    for number, vector in enumerate(vectors):
        headers = vector["header"]
        if "webhook-timestamp" in headers:
            continue  # Signed for a moment of the past; the suite WebhookProofTests turns the clock.
        body = vector.get("body_utf8", "").encode()
        is_sha1 = headers.get("X-Hub-Signature", "").startswith("sha1=")
        if "body_file" in vector:
            try:
                body = open(f"{directory}/{vector['body_file']}", "rb").read()
            except FileNotFoundError:
                # A token needs none, and a refusal holds for any.
                if vector["valid"] and not is_sha1 and "X-Gitlab-Token" not in headers:
                    continue
        names = {"X-Gitlab-Token": "gitlab", "X-Gitea-Signature": "gitea", "X-Hub-Signature-256": "github"}
        forge = next((f for name, f in names.items() if name in headers), "github" if is_sha1 else "bitbucket")
        status, _ = sender.post(f"/webhooks/{forge}/vector-{number}", headers, body)
        count += 1
        # Without the event's header what is authentic is 400.
        wrong += (status == 401) == (vector["valid"] and not is_sha1)
    claim(count > 0 and wrong == 0, "every signature vector, and SHA-1 alone refused", f"{count} vectors")

    def large(size):
        push = {"ref": "refs/heads/main", "before": "0" * 40, "after": "1" * 40, "commits": []}
        commit = {"id": "1" * 40, "message": "x" * 900, "added": ["a/file"], "author": {"name": "A", "email": "a@example.com"}}
        push["commits"] = [commit] * ((size - 2000) // len(json.dumps(commit)))
        body = json.dumps(push).encode()
        return body + b" " * (size - len(body))

    body = large(24 << 20)
    headers = {"X-GitHub-Event": "push", "X-GitHub-Delivery": "large"}
    begin = time.monotonic()
    status, _ = sender.post("/webhooks/github/github", signed("github", headers, body), body)
    claim(status == 202, "a push of 24 MiB is taken", f"{time.monotonic() - begin:.1f} s")
    try:
        body = large((26 << 20) + 1)
        status, _ = Sender(daemon.port).post("/webhooks/github/github", signed("github", headers, body), body)
    except OSError:
        status = "closed before it was sent"
    claim(status in (413, "closed before it was sent"), "one of more than 26 MiB is not", str(status))
    claim(daemon.end(), "the daemon ends in order")


# ------------------------------------------------------------------------------------------------------ mutations


def leaves(value, path=()):
    if isinstance(value, dict) and value:
        for key in value:
            yield from leaves(value[key], path + (key,))
    elif isinstance(value, list) and value:
        for index in range(len(value)):
            yield from leaves(value[index], path + (index,))
    else:
        yield path


HUGE = "a" * (1 << 20)
VALUES = [None, {}, [], "", 9223372036854775808, "\0number", -1, HUGE]


def mutate(text, paths, chance):
    """The body with one leaf replaced, removed or doubled."""
    value, path = json.loads(text), chance.choice(paths)
    place = value
    for part in path[:-1]:
        place = place[part]
    kind = chance.randrange(10)
    if not path:
        value = VALUES[kind % 7]
    elif kind < 8:
        # A megabyte now and then: sending it is what costs.
        place[path[-1]] = VALUES[kind] if kind < 7 or chance.randrange(50) == 0 else "b" * 5000
    elif kind == 8 or isinstance(place, list):
        del place[path[-1]]
    else:
        old = place.pop(path[-1])
        place["\0twice"] = [path[-1], old]
    text = json.dumps(value)
    if kind == 9 and path and isinstance(place, dict):
        key, old = place["\0twice"]
        pair = f"{json.dumps(key)}: {json.dumps(old)}"
        text = text.replace(f"{json.dumps(chr(0) + 'twice')}: {json.dumps([key, old])}", f"{pair}, {pair}")
    return text.replace(json.dumps("\0number"), "1e400").encode()


def worker(port, directory, count, seed, results):
    chance, sender = random.Random(seed), Sender(port)
    known = [(forge, headers, body, list(leaves(json.loads(body)))) for _, forge, headers, body in corpus(directory)]
    ids = {"github": "X-GitHub-Delivery", "gitlab": "Idempotency-Key", "gitea": "X-Gitea-Delivery",
           "forgejo": "X-Forgejo-Delivery", "gogs": "X-Gogs-Delivery", "bitbucket": "X-Request-UUID"}
    statuses, slowest = {}, 0
    for _ in range(count):
        forge, headers, body, paths = chance.choice(known)
        body = mutate(body, paths, chance)
        headers = signed(forge, headers, body) | {ids.get(forge, "X-Request-Id"): str(uuid.UUID(int=chance.getrandbits(128)))}
        begin = time.monotonic()
        try:
            status, text = sender.post(f"/webhooks/{forge}/{forge}", headers, body)
            if status == 202 and json.loads(text)["duplicate"]:
                status = "duplicate"
        except Exception as error:
            status, sender = type(error).__name__, Sender(port)
        slowest = max(slowest, time.monotonic() - begin)
        statuses[status] = statuses.get(status, 0) + 1
    results.put((statuses, slowest))


def mutations(martlet, directory, count):
    daemon = Daemon(martlet, dict.fromkeys(FORGES, SECRET))
    begin, before, results = time.monotonic(), daemon.status("VmRSS"), multiprocessing.Queue()
    workers = [
        multiprocessing.Process(target=worker, args=(daemon.port, directory, count // 4 + (n < count % 4), n, results))
        for n in range(4)]
    for process in workers:
        process.start()
    parts = [results.get() for _ in workers]
    for process in workers:
        process.join()
    statuses = {}
    for part, _ in parts:
        for status, number in part.items():
            statuses[status] = statuses.get(status, 0) + number
    seconds = time.monotonic() - begin
    figure = ", ".join(f"{number} × {status}" for status, number in sorted(statuses.items(), key=lambda pair: -pair[1]))
    claim(set(statuses) <= {202, 400, 413} and sum(statuses.values()) == count, f"{count} changed bodies: 2xx or 4xx each", figure)
    claim(daemon.process.poll() is None and daemon.get("/health")[0] == 200, "the same daemon answers afterwards",
          f"{count / seconds:.0f} a second, the slowest {max(slow for _, slow in parts) * 1000:.0f} ms")
    most = daemon.status("VmHWM")
    claim(most < before + 256, "its memory is bounded", f"{before} MiB before, at most {most} MiB")
    claim(daemon.end(), "the daemon ends in order")


martlet, directory = sys.argv[1:3]
part = sys.argv[3] if len(sys.argv) > 3 else "all"
if part in ("all", "bodies"):
    bodies(martlet, directory)
if part in ("all", "mutations"):
    mutations(martlet, directory, int(sys.argv[4]) if len(sys.argv) > 4 else 100_000)
if part in ("all", "flood"):
    flooded = Daemon(martlet, {"github": SECRET})
    template = open(f"{directory}/webhooks/github/go-playground__push.json").read()
    intake_flood.flood(flooded, SECRET, template, claim)
    claim(flooded.end(), "the daemon ends in order")
if part in ("all", "crowd"):
    intake_flood.crowd(martlet, SECRET, open(f"{directory}/webhooks/github/go-playground__push.json").read(), claim)
if part in ("all", "ledger"):
    intake_ledger.ledger(martlet, claim, *map(int, sys.argv[4:6]))
sys.exit(results["failed"] > 0)
