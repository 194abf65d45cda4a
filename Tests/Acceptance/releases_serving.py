"""What Tests/Acceptance/releases serving runs: published files beside nginx, in one run on the same files."""
import hashlib, json, os, re, socket, statistics, subprocess, time

from acceptance import ROOT, Place, claim, end, finish, need, read, run, write
from publishing import PublishingDaemon
from servers import Nginx

ROUNDS = int(os.environ.get("MARTLET_ACCEPTANCE_ROUNDS", "5"))
GIB = 1 << 30
PLACE = "/files/kit/1.0.0"


def publish(daemon):
    """A version as it lies on the disk, which the daemon adopts at its start as after a lost database."""
    place = f"{daemon.state}/files/kit/1.0.0"
    os.makedirs(place, 0o755)
    pattern = os.urandom(1 << 20)
    digest = hashlib.sha256()
    with open(f"{place}/big.bin", "wb") as file:
        for _ in range(GIB >> 20):
            file.write(pattern)
            digest.update(pattern)
    with open(f"{place}/small.bin", "wb") as file:
        file.write(pattern[:4096])
    files = [("big.bin", GIB, digest.hexdigest()), ("small.bin", 4096, hashlib.sha256(pattern[:4096]).hexdigest())]
    write(f"{place}/SHA256SUMS", "".join(f"{digest}  {name}\n" for name, _, digest in files))
    write(f"{place}/manifest.json", json.dumps({
        "format": 1, "product": "kit", "version": "1.0.0", "integration": "kit#1", "commit": "1" * 40, "tree": "2" * 40,
        "ref": "refs/heads/release/1.0", "published": "2026-03-01T12:00:00.000Z", "isolation": "sandbox",
        "files": [{"path": name, "size": size, "sha256": digest} for name, size, digest in files]}))
    os.sync()
    return {name: digest for name, _, digest in files}


def publish_small(daemon, product, files):
    place = f"{daemon.state}/files/{product}/1.0.0"
    os.makedirs(place, 0o755)
    entries = []
    for name, text in files.items():
        write(f"{place}/{name}", text)
        entries.append({"path": name, "size": len(text), "sha256": hashlib.sha256(text.encode()).hexdigest()})
    write(f"{place}/SHA256SUMS", "".join(f"{entry['sha256']}  {entry['path']}\n" for entry in entries))
    write(f"{place}/manifest.json", json.dumps({
        "format": 1, "product": product, "version": "1.0.0", "integration": f"{product}#1", "commit": "1" * 40, "tree": "2" * 40,
        "ref": "refs/heads/release/1.0", "published": "2026-03-01T12:00:00.000Z", "isolation": "sandbox", "files": entries}))
    daemon.file(product, f"repository: {daemon.kit.url}\npoll: off\npublic: {'true' if product == 'open' else 'false'}\n")


def nginx_of(daemon, name, server):
    """As Debian configures it (sendfile, tcp_nopush, a worker a processor, an access log), on the daemon's files."""
    return Nginx(daemon.directory / name, server, main="worker_processes auto;", events="worker_connections 768;",
                 http="sendfile on; tcp_nopush on; types_hash_max_size 2048; default_type application/octet-stream; gzip on;")


def big(port):
    """Bytes a second of one download by curl."""
    done = run("curl", "-fsS", "-o", "/dev/null", "-w", "%{speed_download} %{size_download}", f"http://127.0.0.1:{port}{PLACE}/big.bin")
    speed, size = done.stdout.split()
    assert int(size) == GIB, done
    return float(speed)


def small(port):
    """Answers a second to sixteen clients that keep their connections."""
    done = run("wrk", "-t", "1", "-c", "16", "-d", "4s", f"http://127.0.0.1:{port}{PLACE}/small.bin").stdout
    assert "Non-2xx" not in done and "Socket errors" not in done, done
    return float(re.search(r"Requests/sec:\s+([0-9.]+)", done).group(1))


def beside(daemon, nginx, measure, unit, scale):
    measure(daemon.port), measure(nginx.port)
    ours, theirs = [], []
    for number in range(ROUNDS):
        # Each begins every other round.
        for port, list in [(daemon.port, ours), (nginx.port, theirs)][:: 1 if number % 2 == 0 else -1]:
            list.append(measure(port) / scale)
    ratio = statistics.median(ours) / statistics.median(theirs)
    figure = f"{ratio:.2f}: {statistics.median(ours):.0f} {unit} and {statistics.median(theirs):.0f} (nginx), medians of {ROUNDS}"
    return ratio, figure


def sample(daemon):
    """deploy/nginx-files.conf, with a port and a state directory of this run."""
    return read(ROOT / "deploy/nginx-files.conf").replace("listen 80;", "listen 127.0.0.1:@PORT@;").replace("/var/lib/martlet", str(daemon.state))


def headers(port, path, *options):
    """Status and headers of an answer, names in lower case."""
    done = run("curl", "-sS", "-o", "/dev/null", "-D", "-", "--path-as-is", *options, f"http://127.0.0.1:{port}{path}").stdout
    lines = done.splitlines()
    return int(lines[0].split()[1]), {name.lower(): value.strip() for name, value in (line.split(":", 1) for line in lines[1:] if ":" in line)}


def from_the_disk(daemon):
    """nginx with the sample serves public products alone, with the service's headers, and also while the service does not run."""
    nginx = nginx_of(daemon, "nginx-files", sample(daemon))
    try:
        status, found = headers(nginx.port, "/files/open/1.0.0/page.html")
        ours = headers(daemon.port, "/files/open/1.0.0/page.html")[1]
        names = ("content-security-policy", "x-content-type-options", "cache-control", "content-type", "accept-ranges")
        same = all(found.get(name) == ours.get(name) for name in names)
        claim(status == 200 and same and found["content-disposition"] == "attachment" and "sandbox" in found["content-security-policy"],
              "nginx with deploy/nginx-files.conf: a public product's page.html is saved and never run, as the daemon has it", found.get("cache-control", ""))
        seen = [headers(nginx.port, f"/files/open/1.0.0/{name}") for name in ("SHA256SUMS", "manifest.json")]
        claim(all(status == 200 and found["cache-control"] == "public, max-age=60" for status, found in seen), "its descriptions are kept for a minute")
        status, found = headers(nginx.port, "/files/open/1.0.0/page.html", "-r", "1-2")
        claim(status == 206 and found["content-length"] == "2", "a range of it is served")
        closed = ["/files/shut/1.0.0/page.html", "/files/shut/1.0.0/SHA256SUMS", "/files/open/1.0.0/../../shut/1.0.0/page.html",
                  "/files/open/1.0.0/..%2f..%2fshut/1.0.0/page.html", "/files/open/yanked.json", "/martlet.sqlite", "/files/open/1.0.0/", "/public/open/1.0.0/page.html"]
        statuses = [headers(nginx.port, path)[0] for path in closed]
        claim(all(status in (400, 403, 404) for status in statuses), "a closed product and everything else is not there", f"{len(closed)} paths: {sorted(set(statuses))}")
        refused = headers(daemon.port, "/files/shut/1.0.0/page.html")[0]
        claim(refused == 401, "the daemon asks for a token for it", str(refused))
        daemon.file("open", f"repository: {daemon.kit.url}\npoll: off\npublic: false\n")
        daemon.until("the link's removal", lambda: not os.path.lexists(f"{daemon.state}/public/open"))
        claim(headers(nginx.port, "/files/open/1.0.0/page.html")[0] == 404, "closed in its bot file, it is gone from nginx too")
    finally:
        end(nginx.process)


def slow_readers(daemon, count):
    sockets = []
    for _ in range(count):
        reader = socket.socket()
        reader.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        reader.connect(("127.0.0.1", daemon.port))
        reader.sendall(f"GET {PLACE}/big.bin HTTP/1.1\r\nHost: a\r\n\r\n".encode())
        assert reader.recv(1024).startswith(b"HTTP/1.1 200")
        sockets.append(reader)
    return sockets


def main(home):
    daemon = PublishingDaemon(home)
    digests = publish(daemon)
    for product in ("open", "shut"):
        publish_small(daemon, product, {"page.html": "<script>alert(1)</script>", "notes.txt": "notes"})
    daemon.started()
    begin = time.monotonic()
    whole = hashlib.sha256()
    with subprocess.Popen(["curl", "-fsS", f"{daemon.url}{PLACE}/big.bin"], stdout=subprocess.PIPE) as first:
        while piece := first.stdout.read(1 << 20):
            whole.update(piece)
    claim(whole.hexdigest() == digests["big.bin"], "1 GiB arrives whole, the first time", f"{time.monotonic() - begin:.1f} s")
    nginx = nginx_of(daemon, "nginx", f"server {{ listen 127.0.0.1:@PORT@; root {daemon.state}; }}")
    before = daemon.memory()
    ratio, figure = beside(daemon, nginx, big, "MB/s", 1e6)
    claim(ratio >= 0.8, "1 GiB, one client: at least 0.8 of nginx on the same file", figure)
    ratio, figure = beside(daemon, nginx, small, "answers/s", 1)
    claim(ratio >= 0.5, "4 KiB, sixteen clients: at least 0.5 of nginx on the same file", figure)
    peak, after = daemon.memory("VmHWM"), daemon.memory()
    claim(after - before <= 8, f"{ROUNDS + 1} downloads of 1 GiB and the small ones leave no memory taken",
          f"{before:.0f} MiB before, {after:.0f} after, {peak:.0f} at most")
    before = after
    readers = slow_readers(daemon, 64)
    big(daemon.port)
    peak, after = daemon.memory("VmHWM"), daemon.memory()
    claim(after - before <= 16, "64 readers of 1 GiB who read no more, and one who does: flat memory",
          f"{before:.0f} MiB before, {after:.0f} with them, {peak:.0f} at most")
    for reader in readers:
        reader.close()
    from_the_disk(daemon)
    claim(daemon.leave(), "the daemon stops in order")


need("nginx", "wrk", "curl")
with Place() as place:
    main(place)
finish()
