"""What parts of Tests/Acceptance/operate share that have a daemon on this machine: disks of their own, and what an operator receives."""
import base64, contextlib, email, email.policy, fcntl, hashlib, hmac, http.server, json, os, secrets, socketserver, struct, threading

from acceptance import Daemon, at_exit, run, within

# EXT4_IOC_SHUTDOWN of the kernel's fs/ext4/ext4.h, without a flush of the log: what follows fails with EIO.
SHUTDOWN, WITHOUT_A_FLUSH = 0x8004587D, 2


class Disk:
    """An ext4 file system of its own, in a file."""

    def __init__(self, place, directory, megabytes):
        self.directory, self.image = directory, place / f"{directory.name}.ext4"
        run("truncate", "-s", f"{megabytes}M", self.image, check=True)
        run("mkfs.ext4", "-q", "-F", "-m", "0", self.image, check=True)
        directory.mkdir(mode=0o700, exist_ok=True)
        self.mount()
        at_exit.callback(self.unmount)

    def mount(self, options="rw"):
        run("mount", "-o", f"loop,{options}", self.image, self.directory, check=True)

    def unmount(self):
        """Takes the disk away, also from a process that still uses it."""
        if os.path.ismount(self.directory):
            run("umount", "-l", self.directory)

    def remount(self, options):
        """Returns whether the disk is mounted with these options now."""
        return within(10, lambda: run("mount", "-o", f"remount,{options}", self.directory).returncode == 0, pause=0.2)

    def fail(self):
        """From now on every access ends with an error of the device, until the disk is unmounted and mounted again."""
        descriptor = os.open(self.directory, os.O_RDONLY)
        try:
            fcntl.ioctl(descriptor, SHUTDOWN, struct.pack("I", WITHOUT_A_FLUSH))
        finally:
            os.close(descriptor)

    @property
    def free(self):
        room = os.statvfs(self.directory)
        return room.f_bavail * room.f_frsize / 1e6


class Filler:
    """Fills a disk as somebody else on the machine would."""

    def __init__(self, disk):
        self.path, self.over = disk.directory / "somebody-else", threading.Event()
        self.file = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        self.greedy = threading.Thread(target=self.take_everything, daemon=True)

    def fill(self):
        """Takes what is free now."""
        for size in (64 << 20, 1 << 20, 4096):
            with contextlib.suppress(OSError):
                while True:
                    os.posix_fallocate(self.file, os.fstat(self.file).st_size, size)

    def take_everything(self):
        while not self.over.wait(0.5):
            self.fill()

    def stop(self):
        """Ends it, and frees what it took."""
        self.over.set()
        if self.greedy.is_alive():
            self.greedy.join()
        os.close(self.file)
        self.path.unlink()


class Operator:
    """Receives what the service sends to its operator: a mail server and a listener for webhooks, which store what came."""

    def __init__(self):
        self.posts, self.mails = [], []
        self.key = "whsec_" + base64.b64encode(secrets.token_bytes(32)).decode()
        operator = self

        class Post(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                operator.posts.append((operator.has_signed(self.headers, body), json.loads(body)))
                self.send_response(204)
                self.end_headers()

            def log_message(self, *_):
                pass

        class Mail(socketserver.StreamRequestHandler):
            def handle(self):
                self.answer("220 sink")
                while line := self.rfile.readline().strip().upper():
                    if line.startswith(b"DATA"):
                        self.answer("354 go on")
                        operator.mails.append(email.message_from_bytes(self.text(), policy=email.policy.default))
                    self.answer("221 bye" if line.startswith(b"QUIT") else "250 ok")
                    if line.startswith(b"QUIT"):
                        return

            def text(self):
                lines = []
                while (line := self.rfile.readline()) not in (b".\r\n", b""):
                    lines.append(line[1:] if line.startswith(b"..") else line)
                return b"".join(lines)

            def answer(self, line):
                self.wfile.write(line.encode() + b"\r\n")

        self.servers = [http.server.ThreadingHTTPServer(("127.0.0.1", 0), Post), socketserver.ThreadingTCPServer(("127.0.0.1", 0), Mail)]
        for server in self.servers:
            server.daemon_threads = True
            threading.Thread(target=server.serve_forever, daemon=True).start()
            at_exit.callback(server.shutdown)

    def has_signed(self, headers, body):
        """Whether a webhook's signature is that of its bytes, by Standard Webhooks."""
        signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
        code = hmac.new(base64.b64decode(self.key.removeprefix("whsec_")), signed, hashlib.sha256).digest()
        return headers["webhook-signature"] == f"v1,{base64.b64encode(code).decode()}"

    @property
    def settings(self):
        post, mail = (server.server_address[1] for server in self.servers)
        return (f"mail: {{ server: \"smtp://127.0.0.1:{mail}\", from: ci@acme.example, insecure: true }}\n"
                f"operator: {{ mail: ops@acme.example, webhook: \"http://127.0.0.1:{post}/\", secret: operator, insecure: true }}\n")

    def told(self, kind):
        """The types of the webhooks about a kind of trouble, in their order."""
        return [body["type"] for _, body in self.posts if body["data"]["kind"] == kind]

    def mailed(self, kind):
        """The mails about a kind of trouble: those whose subject or text has its word."""
        return [mail for mail in self.mails if kind in mail["Subject"] or kind in mail.get_content()]


class LedgerDaemon(Daemon):
    """A daemon whose jobs write into a file outside of it when they begin and when they end; they wait until there is a file `go`."""

    def __init__(self, directory, settings="", disk=None):
        """`disk` is the size in MB of the disk that the state gets."""
        directory.mkdir(mode=0o700, exist_ok=True)
        self.disk = Disk(directory, directory / "state", disk) if disk else None
        super().__init__(directory, f"isolation: none\n{settings}")
        self.ledger, self.gate = directory / "ledger", directory / "go"
        self.ledger.touch()

    @property
    def recipe(self):
        build = (f"echo begin $MARTLET_INTEGRATION $MARTLET_COMMIT >>{self.ledger}; until [ -e {self.gate} ]; do sleep 0.2; done; "
                 f"echo end $MARTLET_INTEGRATION $MARTLET_COMMIT >>{self.ledger}")
        return f"recipe: {{ configurations: {{ debug: {{ build: '{build}', test: 'true' }} }}, analyze: [] }}\n"

    def written(self, word="end"):
        """The integrations and commits in the ledger whose jobs have begun or ended, in their order."""
        return [tuple(line.split()[1:]) for line in self.ledger.read_text().splitlines() if line.startswith(word)]

    def ready(self):
        """The status of /ready, and what it says."""
        status, body = self.ask("/ready")
        return status, body.decode(errors="replace")

    def all_completed(self, bot, commits, limit=300):
        """Awaits that each commit has a completed integration. Returns the last integration of each."""
        def look():
            views = {view["commit"]: view for view in reversed(self.integrations(bot)) if view["commit"] in commits}
            return views if len(views) == len(set(commits)) and all(view["state"] == "completed" for view in views.values()) else None
        return within(limit, look, pause=0.5) or {}
