"""What Tests/Acceptance/intake-mail runs: intake_mail.py MARTLET all|changes|tls"""
import base64, email, email.policy, glob, hashlib, hmac, http.server, json, os, random, secrets, shutil, signal, subprocess, sys
import tempfile, threading, time, urllib.request

from showcase_world import end_launcher, free_port

KEY = "whsec_" + base64.b64encode(secrets.token_bytes(32)).decode()
KILLS = 20
PASSWORD = secrets.token_hex(8)
failures = 0


def claim(holds, what, figure=""):
    global failures
    failures += not holds
    print(f"{'ok' if holds else 'FAILED':8} {what:78} {figure}", flush=True)


def until(condition, limit=120):
    end = time.monotonic() + limit
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        time.sleep(0.1)
    return condition()


# ------------------------------------------------------------------------------------------------------ who is told


class Exim:
    """Delivers all mail into a directory."""

    def __init__(self, home, secure=""):
        self.home, self.port = home, free_port()
        os.makedirs(home, exist_ok=True)
        for name in ("spool", "mail"):
            os.mkdir(f"{home}/{name}")
        with open(f"{home}/exim.conf", "w") as file:
            file.write(f"""
primary_hostname = mail.acme.example
spool_directory = {home}/spool
log_file_path = {home}/%slog
keep_environment =
local_interfaces = 127.0.0.1
{secure.partition("begin")[0] or f"daemon_smtp_ports = {self.port}{chr(10)}tls_advertise_hosts ="}
deliver_drop_privilege = true
received_header_text =
acl_smtp_rcpt = accept
acl_smtp_data = accept
begin routers
all:
  driver = accept
  transport = file
begin transports
file:
  driver = appendfile
  directory = {home}/mail
  envelope_to_add
{"".join(secure.partition("begin")[1:])}
""")
        subprocess.run(["chown", "-R", "Debian-exim", home], check=True)
        subprocess.run(["chown", "root", f"{home}/exim.conf"], check=True)
        self.process = None

    def start(self):
        self.process = subprocess.Popen(["exim4", "-C", f"{self.home}/exim.conf", "-bdf", "-oP", f"{self.home}/pid"])

    def stop(self):
        if self.process:
            self.process.terminate()
            self.process.wait(30)
            self.process = None

    def mails(self):
        found = []
        for path in glob.glob(f"{self.home}/mail/q*"):
            with open(path, "rb") as file:
                found.append(email.message_from_binary_file(file, policy=email.policy.default))
        return found


class SecureExim(Exim):
    """Takes mail from those alone who tell the user and the password, over TLS: at each port by one way and one mechanism."""

    WAYS = [("smtps", "PLAIN"), ("smtps", "LOGIN"), ("smtp", "PLAIN"), ("smtp", "LOGIN")]

    def __init__(self, home):
        os.makedirs(home)
        self.ports = dict(zip(self.WAYS, (free_port() for _ in self.WAYS)))
        self.certificate = f"{home}/certificate.pem"
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost", "-addext",
                        "subjectAltName=IP:127.0.0.1", "-keyout", f"{home}/key.pem", "-out", self.certificate], check=True, capture_output=True)

        def ports(number, word):
            return " : ".join(str(port) for way, port in self.ports.items() if way[number] == word)

        super().__init__(home, f"""daemon_smtp_ports = {" : ".join(map(str, self.ports.values()))}
tls_on_connect_ports = {ports(0, "smtps")}
tls_advertise_hosts = *
auth_advertise_hosts = *
tls_certificate = {self.certificate}
tls_privatekey = {home}/key.pem
acl_smtp_mail = ${{if and{{{{def:tls_in_cipher}}{{def:authenticated_id}}}}{{accept}}{{deny}}}}
begin authenticators
plain:
  driver = plaintext
  public_name = PLAIN
  server_advertise_condition = ${{if inlist{{$received_port}}{{{ports(1, "PLAIN")}}}}}
  server_prompts = :
  server_condition = ${{if and{{{{eq{{$auth2}}{{ci}}}}{{eq{{$auth3}}{{{PASSWORD}}}}}}}}}
  server_set_id = $auth2
login:
  driver = plaintext
  public_name = LOGIN
  server_advertise_condition = ${{if inlist{{$received_port}}{{{ports(1, "LOGIN")}}}}}
  server_prompts = Username:: : Password::
  server_condition = ${{if and{{{{eq{{$auth1}}{{ci}}}}{{eq{{$auth2}}{{{PASSWORD}}}}}}}}}
  server_set_id = $auth1
""")

    def logged(self):
        with open(f"{self.home}/mainlog") as file:
            return file.read()


class Listener(http.server.ThreadingHTTPServer):
    """Keeps what is signed as Standard Webhooks says; everything else it counts."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.lock, self.bodies, self.wrong = threading.Lock(), [], 0
        threading.Thread(target=self.serve_forever, daemon=True).start()


class Handler(http.server.BaseHTTPRequestHandler):
    def log_message(self, *arguments):
        pass

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        name, moment = self.headers["webhook-id"], self.headers["webhook-timestamp"]
        code = hmac.new(base64.b64decode(KEY[6:]), f"{name}.{moment}.".encode() + body, hashlib.sha256).digest()
        holds = self.headers["webhook-signature"] == "v1," + base64.b64encode(code).decode()
        with self.server.lock:
            if holds and abs(time.time() - int(moment)) < 300:
                self.server.bodies.append((name, json.loads(body)))
            else:
                self.server.wrong += 1
        self.send_response(204)
        self.end_headers()


# ------------------------------------------------------------------------------------------------------ who tells


class Repository:
    def __init__(self, home):
        self.path = f"{home}/kit.git"
        self.work = f"{home}/work"
        subprocess.run(["git", "init", "-q", "--bare", "-b", "main", self.path], check=True)
        subprocess.run(["git", "init", "-q", "-b", "main", self.work], check=True)
        with open(f"{self.work}/.martlet.yml", "w") as file:
            file.write("configurations:\n  debug: { build: \"sh build.sh\", test: \"true\" }\nanalyze: []\n"
                       "archive: { include: [build.sh] }\n")

    def push(self, *problems, branch="main", author="Jörg Müller <joerg@acme.example>"):
        lines = [f"echo 'a.c:{n + 1}:1: error: {problem}'" for n, problem in enumerate(problems)]
        with open(f"{self.work}/build.sh", "w") as file:
            file.write("\n".join([f"# {random.random()}"] + lines + ["exit 1" if problems else "exit 0"]) + "\n")
        name, address = author[:-1].rsplit(" <", 1)
        git = ["git", "-C", self.work, "-c", f"user.name={name}", "-c", f"user.email={address}"]
        subprocess.run(git + ["checkout", "-q", "-B", branch], check=True)
        subprocess.run(git + ["add", "-A"], check=True)
        subprocess.run(git + ["commit", "-q", "-m", "Change =?UTF-8?B?QmNjOg==?= something"], check=True)
        subprocess.run(git + ["push", "-q", "-f", self.path, branch], check=True)
        return subprocess.run(git + ["rev-parse", "HEAD"], check=True, capture_output=True, text=True).stdout.strip()


class Daemon:
    def __init__(self, martlet, home, repository, mail, listener):
        self.martlet, self.home, self.port = martlet, home, free_port()
        for name in ("bots", "secrets", "state"):
            os.mkdir(f"{home}/{name}", 0o700)
        with open(os.open(f"{home}/secrets/chat", os.O_WRONLY | os.O_CREAT, 0o600), "w") as file:
            file.write(KEY)
        with open(os.open(f"{home}/secrets/mail", os.O_WRONLY | os.O_CREAT, 0o600), "w") as file:
            file.write(f"ci:{PASSWORD}")
        with open(f"{home}/bots/kit.yml", "w") as file:
            file.write(f"""repository: {repository.path}
insecure: true
poll: 1s
supersede: never
branches: [main, "release/*"]
triggers:
  - {{ name: publish, branches: ["release/*"], publish: {{ version: branch }} }}
notify:
  - {{ name: team, mail: [team@acme.example] }}
  - {{ name: chat, webhook: "http://127.0.0.1:{listener.server_address[1]}/hook?key=path-secret", secret: chat }}
""")
        with open(f"{home}/martlet.yml", "w") as file:
            file.write(f"listen: 127.0.0.1:{self.port}\nurl: https://ci.acme.example\nstate: {home}/state\nisolation: none\n"
                       f"mail: {{ from: Martlet <ci@acme.example>, {mail} }}\n")
        self.log, self.process = open(f"{home}/daemon.log", "a"), None

    def start(self):
        self.process = subprocess.Popen(
            [self.martlet, "serve", "--settings", f"{self.home}/martlet.yml"], stdout=self.log, stderr=self.log)
        return until(lambda: self.get("/health"), 60) is not None

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def end(self):
        self.process.terminate()
        self.process.wait(60)
        end_launcher(self.home)

    def get(self, path):
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", timeout=10) as answer:
                return answer.read().decode()
        except OSError:
            return None

    def judged(self, commit):
        def found():
            text = self.get("/api/v1/bots/kit/integrations")
            items = json.loads(text)["items"] if text else []
            return next((i for i in items if i["commit"] == commit and i["state"] == "completed"), None)
        return until(found)


# ------------------------------------------------------------------------------------------------------ the claims


def run(martlet, home):
    exim, listener, repository = Exim(f"{home}/exim"), Listener(), Repository(home)
    daemon = Daemon(martlet, home, repository, f"server: \"smtp://127.0.0.1:{exim.port}\", insecure: true", listener)

    def settled(count):
        until(lambda: len(exim.mails()) >= count and len(listener.bodies) >= count)
        return exim.mails(), list(listener.bodies)

    try:
        exim.start()
        repository.push()
        daemon.start()
        for problems in ([], ["one"], ["one"], ["one", "two"], []):
            daemon.judged(repository.push(*problems))
        mails, bodies = settled(3)
        subjects = sorted(str(mail["Subject"]).split(" ")[1] for mail in mails)
        claim(subjects == ["broke:", "fixed:", "new"], "good, broke, still failing, one issue more, fixed: three mails", f"{len(mails)} mails")
        kinds = [body["type"] for _, body in bodies]
        claim(kinds == ["integration.broke", "integration.new-issue", "integration.fixed"], "… and three webhooks, in order", f"{len(kinds)}")
        claim(listener.wrong == 0, "each signed as Standard Webhooks says, checked by another implementation")
        by = {str(mail["Subject"]).split(" ")[1]: mail for mail in mails}
        broke, fixed = by["broke:"], by["fixed:"]
        claim(fixed["In-Reply-To"] == broke["Message-ID"] == fixed["References"], "fixed answers the mail that said broke")
        claim(" by Jörg Müller: 1 new issue" in str(broke["Subject"]), "a subject in UTF-8 is read back", str(broke["Subject"]))
        claim(broke["Auto-Submitted"] == "auto-generated" and broke["List-Id"] == "<kit.martlet.acme.example>"
              and not any(mail["Bcc"] for mail in mails), "with List-Id and Auto-Submitted, and no header of anybody else's")
        text = broke.get_content()
        claim("Change =?UTF-8?B?QmNjOg==?= something" in text and "a.c:1: one" in text and "https://ci.acme.example/bots/kit/3" in text,
              "the text has the commit, the issue and the link")
        commit = repository.push(branch="release/1.0")
        daemon.judged(commit)
        mails, bodies = settled(4)
        released = [body for _, body in bodies if body["type"] == "integration.released"]
        claim(len(released) == 1 and released[0]["data"]["version"]["version"] == "1.0.0"
              and any("released kit 1.0.0" in str(mail["Subject"]) for mail in mails), "a published version is told once")

        exim.stop()
        daemon.judged(repository.push("three"))
        until(lambda: len(listener.bodies) >= 5)
        claim(len(listener.bodies) == 5 and len(exim.mails()) == 4, "a mail server that is away does not hold up the webhook")
        begin = time.monotonic()
        exim.start()
        settled(5)
        claim(len(exim.mails()) == 5, "and has its mail when it is back", f"{time.monotonic() - begin:.1f} s later")

        before = len(exim.mails())
        told, generator, is_bad = 5, random.Random(4), True
        for number in range(KILLS):
            is_bad = not is_bad
            commit = repository.push(*(["four"] if is_bad else []))
            told += 1
            # Anywhere between the push and the two messages.
            time.sleep(generator.uniform(0.2, 2.5))
            daemon.kill()
            daemon.start()
            daemon.judged(commit)
        until(lambda: len({mail["Message-ID"] for mail in exim.mails()}) >= told and len({name for name, _ in listener.bodies}) >= told)
        time.sleep(3)
        mails, bodies = exim.mails(), list(listener.bodies)
        names, ids = {mail["Message-ID"] for mail in mails}, {name for name, _ in bodies}
        claim(len(names) == told and len(ids) == told, f"{KILLS} kills of the daemon around {KILLS} changes: none is lost, none is another",
              f"{len(mails) - before} mails, {len(bodies) - 5} webhooks, {told - 5} changes")
        in_order = [body["type"] for name, body in {name: (name, body) for name, body in bodies}.values()][-KILLS:]
        claim(in_order == ["integration.fixed", "integration.broke"] * (KILLS // 2), "and they come in order")
        daemon.end()
        files = [path for path in glob.glob(f"{home}/state/**", recursive=True) if os.path.isfile(path)] + [f"{home}/daemon.log"]
        hits = [path for path in files if KEY.encode() in open(path, "rb").read()]
        claim(not hits, "the signing key is in no file of the state and no line of the log", f"{len(files)} files")
        claim(b"path-secret" not in open(f"{home}/daemon.log", "rb").read(), "and the webhook's path is in no line of the log")
    finally:
        if daemon.process:
            daemon.end()
        exim.stop()
        listener.shutdown()


def run_secure(martlet, home):
    """A daemon for each way, and two that must not tell the password."""
    exim, plain, listener = SecureExim(f"{home}/secure"), Exim(f"{home}/plain"), Listener()
    cases = {f"{scheme}, AUTH {word}": (f"server: \"{scheme}://127.0.0.1:{port}\", certificates: {exim.certificate}", "")
             for (scheme, word), port in exim.ports.items()}
    cases["a server that offers no STARTTLS"] = (f"server: \"smtp://127.0.0.1:{plain.port}\"", "offers no STARTTLS")
    cases["a certificate that nobody trusts"] = (f"server: \"smtps://127.0.0.1:{exim.ports['smtps', 'PLAIN']}\"", "certificate")
    try:
        exim.start()
        plain.start()
        for number, (what, (mail, refusal)) in enumerate(cases.items()):
            place = f"{home}/case{number}"
            os.mkdir(place)
            repository = Repository(place)
            daemon = Daemon(martlet, place, repository, mail + ", credentials: mail", listener)
            before = len(exim.mails()), exim.logged().count(" A=")
            try:
                daemon.start()
                daemon.judged(repository.push("one"))

                def message():
                    done = subprocess.run([martlet, "outbox", "--json"], capture_output=True, text=True,
                                          env=dict(os.environ, MARTLET_URL=f"{place}/state/martlet.socket"))
                    items = json.loads(done.stdout)["items"] if done.returncode == 0 else []
                    return next((item for item in items if item["kind"] == "mail" and item["note"]), None)

                told = until(message) or {"state": "nothing", "note": ""}
                if refusal:
                    claim(told["state"] == "waiting" and refusal in told["note"]
                          and (len(exim.mails()), exim.logged().count(" A=")) == before and not plain.mails(),
                          f"{what}: no password and no mail is sent, and it waits", told["note"][:70])
                else:
                    until(lambda: len(exim.mails()) > before[0])
                    line = next((line for line in exim.logged().splitlines()[::-1] if " <= " in line), "")
                    holds = " P=esmtpsa " in line and f" A={what.rpartition(' ')[2].lower()}:ci" in line and told["state"] == "sent"
                    claim(holds and len(exim.mails()) == before[0] + 1, f"{what}: a mail arrives over TLS with the password",
                          " ".join(word for word in line.split() if word[:2] in ("P=", "X=", "A=")))
            finally:
                daemon.end()
            files = [path for path in glob.glob(f"{place}/state/**", recursive=True) if os.path.isfile(path)] + [f"{place}/daemon.log"]
            if any(PASSWORD.encode() in open(path, "rb").read() for path in files):
                claim(False, f"{what}: the password is in a file of the state or the log")
    finally:
        exim.stop()
        plain.stop()
        listener.shutdown()


if __name__ == "__main__":
    home = tempfile.mkdtemp(prefix="martlet-mail-")
    os.chmod(home, 0o755)
    try:
        if sys.argv[2] in ("all", "tls"):
            os.mkdir(f"{home}/tls", 0o755)
            run_secure(sys.argv[1], f"{home}/tls")
        if sys.argv[2] in ("all", "changes"):
            run(sys.argv[1], home)
    finally:
        if not os.environ.get("MARTLET_TEST_KEEP"):
            shutil.rmtree(home, ignore_errors=True)
    sys.exit(1 if failures else 0)
