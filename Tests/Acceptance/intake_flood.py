"""Floods of signed and forged pushes, and crowds of slow clients, against one daemon: a part of Tests/Acceptance/intake."""
import hashlib, hmac, json, os, re, resource, shutil, socket, subprocess, threading, time

from acceptance import claim, skip
from intake_daemon import SECRET, IntakeDaemon, Sender, signed

# A body of GitHub's is some 7 KB; a delivery is told apart by its id alone, so each is another one.
SCRIPT = """
local heads, tails, number = {}, {}, 0
function init(args)
    for index = 1, tonumber(args[3]) do
        local file = io.open(args[1] .. "/" .. index, "rb")
        local head, tail = file:read("*a"):match("^(.-)@ID@(.*)$")
        heads[index], tails[index] = head, tail
        file:close()
    end
    name = args[2]
end
function request()
    number = number + 1
    local index = number % #heads + 1
    return heads[index] .. name .. number .. tails[index]
end
function done(summary, latency)
    local errors = summary.errors
    io.write(string.format("RESULT %d %d %d %d %d %d\\n", summary.requests, summary.duration, errors.status,
        errors.connect + errors.read + errors.write + errors.timeout, latency:percentile(50), latency:percentile(99)))
end
"""
BODIES = 64


def prepare(directory, template, forged):
    """Requests with all but their delivery's id, each of another push."""
    os.makedirs(directory)
    for index in range(1, BODIES + 1):
        push = json.loads(template)
        push["after"] = hashlib.sha1(f"{index}".encode()).hexdigest()
        body = json.dumps(push).encode()
        code = hmac.new(SECRET.encode() + (b"x" if forged else b""), body, hashlib.sha256).hexdigest()
        head = ("POST /webhooks/github/github HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nX-GitHub-Event: push\r\n"
                f"X-GitHub-Delivery: @ID@\r\nX-Hub-Signature-256: sha256={code}\r\nContent-Length: {len(body)}\r\n\r\n")
        with open(f"{directory}/{index}", "wb") as file:
            file.write(head.encode() + body)
    return len(body)


def wrk(daemon, directory, name, seconds, connections):
    """(requests, seconds, statuses that are no 2xx or 3xx, broken connections, median ms, p99 ms)"""
    with open(directory + ".lua", "w") as file:
        file.write(SCRIPT)
    output = subprocess.run(
        ["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "--timeout", "30s", "-s", directory + ".lua",
         f"http://127.0.0.1:{daemon.port}", "--", directory, name, str(BODIES)],
        capture_output=True, text=True).stdout
    found = re.search(r"RESULT (\d+) (\d+) (\d+) (\d+) (\d+) (\d+)", output)
    if not found:
        raise SystemExit(f"intake: wrk said {output}")
    count, duration, statuses, broken, median, slow = map(int, found.groups())
    return count, duration / 1e6, statuses, broken, median / 1e3, slow / 1e3


def stored(daemon):
    """How many deliveries the ledger has, asked page by page."""
    return len(daemon.items("deliveries"))


def flood(template, seconds=10):
    if not shutil.which("wrk"):
        return skip("what a crowd gets", "wrk is not here (apt-get install wrk)")
    daemon = IntakeDaemon({"github": SECRET})
    load = os.getloadavg()[0]
    # The time that the same machine takes to give the same answer to nothing.
    before = daemon.memory()
    prepare(f"{daemon.directory}/warm", template, False)
    wrk(daemon, f"{daemon.directory}/warm", "warm-", 2, 16)
    known = stored(daemon)
    size = prepare(f"{daemon.directory}/signed", template, False)
    count, duration, refused, broken, median, slow = wrk(daemon, f"{daemon.directory}/signed", "flood-", seconds, 64)
    rate = (count - refused) / duration
    claim(rate >= 2000 and refused == broken == 0, f"signed pushes of {size} bytes, each answered after it is durable: 2,000 a second",
          f"{rate:.0f} a second, {refused} refused, {broken} broken (load {load:.1f})")
    claim(slow <= 100, "99 of 100 are answered within 100 ms", f"median {median:.1f} ms, p99 {slow:.1f} ms")
    most = daemon.memory("VmHWM")
    claim(most < before + 128, "its memory is bounded", f"{before:.0f} MiB before, at most {most:.0f} MiB")
    daemon.kill()
    daemon.started()
    found = stored(daemon) - known
    # Those that were under way when wrk stopped are stored too, and it does not count them.
    claim(count <= found <= count + 64, "each is in the ledger after kill -9, once", f"{count} answered, {found} stored")

    prepare(f"{daemon.directory}/forged", template, True)
    rows = stored(daemon)
    count, duration, refused, broken, median, slow = wrk(daemon, f"{daemon.directory}/forged", "forged-", seconds, 64)
    rate = refused / duration
    claim(rate >= 20000 and refused == count and broken == 0, "forged ones are refused: 20,000 a second",
          f"{rate:.0f} a second, {count - refused} taken, p99 {slow:.1f} ms")
    claim(stored(daemon) == rows, "… and leave no row", f"{rows} before and after")
    claim(daemon.stop(), "the daemon ends in order")


def crowd(template):
    """10,000 connections that send a byte now and then, and 100 bodies without end, beside a real hook."""
    resource.setrlimit(resource.RLIMIT_NOFILE, (12_000, max(12_000, resource.getrlimit(resource.RLIMIT_NOFILE)[1])))
    daemon = IntakeDaemon({"github": SECRET})
    body = template.encode()

    def hook(number):
        begin = time.monotonic()
        try:
            headers = signed("github", {"X-GitHub-Event": "push", "X-GitHub-Delivery": f"crowd-{number}"}, body)
            status, _ = Sender(daemon.port).post("/webhooks/github/github", headers, body)
        except OSError as error:
            status = error
        return status, time.monotonic() - begin

    hook(0)
    slow_connections(daemon, hook)
    endless_bodies(daemon, hook)
    claim(daemon.stop(), "the daemon ends in order")


def slow_connections(daemon, hook):
    slow, answers = [], []
    for number in range(10_000):
        connection = socket.socket()
        connection.setblocking(False)
        connection.connect_ex(("127.0.0.1", daemon.port))
        slow.append(connection)
        if number % 500 == 499:
            answers.append(hook(number))
            for one in slow[-500:]:
                try:
                    one.send(b"GET /")
                except OSError:
                    pass
    opened = time.monotonic()
    for number in range(20_000, 20_020):
        answers.append(hook(number))
        time.sleep(0.1)
    worst = max(seconds for _, seconds in answers)
    claim(all(status == 202 for status, _ in answers) and worst < 1, "beside 10,000 slow connections a hook is answered within a second",
          f"{len(answers)} hooks, the slowest {worst * 1000:.0f} ms")

    def alive():
        count = 0
        for one in slow:
            try:
                while one.recv(4096):
                    pass
            except BlockingIOError:
                count += 1
            except OSError:
                pass
        return count
    while time.monotonic() - opened < 45 and alive():
        for one in slow:
            try:
                one.send(b"x")
            except OSError:
                pass
        time.sleep(1)
    claim(alive() == 0 and time.monotonic() - opened < 35, "slow connections are closed within 30 s, though they send",
          f"{time.monotonic() - opened:.0f} s after the last was opened")
    for one in slow:
        one.close()


def endless_bodies(daemon, hook):
    before, chunk = daemon.memory(), b"10000\r\n" + b"x" * 65536 + b"\r\n"
    head = (b"POST /webhooks/github/github HTTP/1.1\r\nHost: a\r\nX-GitHub-Event: push\r\nX-Hub-Signature-256: sha256=" + b"0" * 64
            + b"\r\nTransfer-Encoding: chunked\r\n\r\n")
    statuses, most = [], 0

    def pour():
        connection = socket.create_connection(("127.0.0.1", daemon.port), timeout=60)
        try:
            connection.sendall(head)
            while True:
                connection.sendall(chunk)
        except OSError:
            pass
        try:
            statuses.append(connection.recv(100).split(b" ")[1])
        except (OSError, IndexError):
            statuses.append(b"closed")
    threads = [threading.Thread(target=pour) for _ in range(100)]
    for thread in threads:
        thread.start()
    answers = []
    while any(thread.is_alive() for thread in threads):
        answers.append(hook(30_000 + len(answers)))
        most = max(most, daemon.memory())
        time.sleep(0.05)
    kinds = {status.decode(): statuses.count(status) for status in statuses}
    claim(set(kinds) <= {"413", "503", "closed"}, "100 bodies without end at once are refused", f"{kinds}")
    claim(most <= before + 48, "… in little memory", f"{before:.0f} MiB before, at most {most:.0f} MiB")
    worst = max(seconds for _, seconds in answers)
    claim(all(status == 202 for status, _ in answers), "… and a hook beside them is taken",
          f"{len(answers)} hooks, the slowest {worst * 1000:.0f} ms")
