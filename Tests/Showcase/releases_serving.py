"""Tests/Showcase/releases serving: published files beside nginx, in one run on the same files."""
import hashlib, json, os, re, resource, shutil, signal, socket, statistics, subprocess, sys, time

import releases_world
from releases_world import World, claim, run, write

ROUNDS = int(os.environ.get("MARTLET_SHOWCASE_ROUNDS", "5"))
GIB = 1 << 30
PLACE = "/files/kit/1.0.0"


def publish(world):
    """A version as it lies on the disk, which the daemon adopts at its start as after a lost database."""
    place = f"{world.home}/state/files/kit/1.0.0"
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


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Nginx:
    """As Debian configures it (sendfile, tcp_nopush, a worker a processor, an access log), on the daemon's files."""

    def __init__(self, world):
        self.port, home = free_port(), f"{world.home}/nginx"
        os.mkdir(home)
        write(f"{home}/nginx.conf", f"""
user root; worker_processes auto; pid {home}/pid; error_log {home}/error.log; daemon off;
events {{ worker_connections 768; }}
http {{
    sendfile on; tcp_nopush on; types_hash_max_size 2048; default_type application/octet-stream; gzip on;
    access_log {home}/access.log;
    client_body_temp_path {home}/body; proxy_temp_path {home}/proxy; fastcgi_temp_path {home}/fastcgi;
    uwsgi_temp_path {home}/uwsgi; scgi_temp_path {home}/scgi;
    server {{ listen 127.0.0.1:{self.port}; root {world.home}/state; }}
}}
""")
        self.process = subprocess.Popen(["nginx", "-c", f"{home}/nginx.conf"], stderr=subprocess.DEVNULL)
        world.until("nginx", lambda: socket.create_connection(("127.0.0.1", self.port)).close() or True)

    def end(self):
        self.process.send_signal(signal.SIGQUIT)
        self.process.wait(30)


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


def memory(pid):
    with open(f"/proc/{pid}/status") as file:
        found = dict(re.findall(r"^(VmHWM|VmRSS):\s+(\d+)", file.read(), re.M))
    return int(found["VmHWM"]) / 1024, int(found["VmRSS"]) / 1024


def beside(world, nginx, measure, unit, scale):
    measure(world.port), measure(nginx.port)
    ours, theirs = [], []
    for number in range(ROUNDS):
        # Each begins every other round.
        for port, list in [(world.port, ours), (nginx.port, theirs)][:: 1 if number % 2 == 0 else -1]:
            list.append(measure(port) / scale)
    ratio = statistics.median(ours) / statistics.median(theirs)
    figure = f"{ratio:.2f}: {statistics.median(ours):.0f} {unit} and {statistics.median(theirs):.0f} (nginx), medians of {ROUNDS}"
    return ratio, figure


def slow_readers(world, count):
    sockets = []
    for _ in range(count):
        reader = socket.socket()
        reader.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        reader.connect(("127.0.0.1", world.port))
        reader.sendall(f"GET {PLACE}/big.bin HTTP/1.1\r\nHost: a\r\n\r\n".encode())
        assert reader.recv(1024).startswith(b"HTTP/1.1 200")
        sockets.append(reader)
    return sockets


def main(martlet):
    world = World(martlet)
    digests = publish(world)
    world.start()
    nginx = None
    try:
        begin = time.monotonic()
        whole = hashlib.sha256()
        with subprocess.Popen(["curl", "-fsS", f"{world.url}{PLACE}/big.bin"], stdout=subprocess.PIPE) as first:
            while piece := first.stdout.read(1 << 20):
                whole.update(piece)
        claim(whole.hexdigest() == digests["big.bin"], "1 GiB arrives whole, the first time", f"{time.monotonic() - begin:.1f} s")
        nginx = Nginx(world)
        _, before = memory(world.process.pid)
        ratio, figure = beside(world, nginx, big, "MB/s", 1e6)
        claim(ratio >= 0.8, "1 GiB, one client: at least 0.8 of nginx on the same file", figure)
        ratio, figure = beside(world, nginx, small, "answers/s", 1)
        claim(ratio >= 0.5, "4 KiB, sixteen clients: at least 0.5 of nginx on the same file", figure)
        peak, after = memory(world.process.pid)
        claim(after - before <= 8, f"{ROUNDS + 1} downloads of 1 GiB and the small ones leave no memory taken",
              f"{before:.0f} MiB before, {after:.0f} after, {peak:.0f} at most")
        before = after
        readers = slow_readers(world, 64)
        big(world.port)
        peak, after = memory(world.process.pid)
        claim(after - before <= 16, "64 readers of 1 GiB who read no more, and one who does: flat memory",
              f"{before:.0f} MiB before, {after:.0f} with them, {peak:.0f} at most")
        for reader in readers:
            reader.close()
    finally:
        if nginx:
            nginx.end()
        stopped = world.end()
    claim(stopped, "the daemon stops in order")


if __name__ == "__main__":
    for program in ("nginx", "wrk", "curl"):
        os.environ["PATH"] += ":/usr/sbin"
        if not shutil.which(program):
            print(f"releases serving: {program} is not installed (deploy/packages --test)", file=sys.stderr)
            sys.exit(69)
    main(sys.argv[1])
    sys.exit(1 if releases_world.failures else 0)
