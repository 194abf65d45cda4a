"""The world of `scale`: repositories with commits made without git, a daemon with its bots, the simulated cluster, pushes at a rate, and figures."""
import collections, concurrent.futures, hashlib, json, os, pathlib, random, shutil, sqlite3, threading, time, zlib

from acceptance import Daemon, Place, launch, read, run, within

HERE = pathlib.Path(__file__).resolve().parent
RECIPE = """analyze: []
configurations:
  debug:
    needs: { cpus: 1, memory: 2GiB }
    build: make
    test: ./run-tests --report report.xml
    report: report.xml
"""
# A million a month of 30 days.
GOAL = 1_000_000 / (30 * 86_400)


def number(name, default):
    return type(default)(os.environ.get(f"MARTLET_SCALE_{name}", default))


class Bare:
    """A bare repository whose branches get commits without a process of git's."""

    def __init__(self, template, path, branches):
        self.path, self.count = path, 0
        shutil.copytree(template, path)
        head = read(path / "refs/heads/main").strip()
        self.heads = {}
        for branch in branches:
            self.set(branch, head)
        text = run("git", "-C", path, "ls-tree", "main").stdout
        self.entries = [(line.split()[0], bytes.fromhex(line.split()[2]), line.split("\t")[1]) for line in text.splitlines()]

    def set(self, branch, commit):
        part = self.path / f"refs/heads/{branch}.part"
        part.write_text(commit + "\n")
        part.rename(self.path / f"refs/heads/{branch}")
        self.heads[branch] = commit

    def add(self, kind, body):
        data = f"{kind} {len(body)}\0".encode() + body
        digest = hashlib.sha1(data).hexdigest()
        place = self.path / f"objects/{digest[:2]}/{digest[2:]}"
        if not place.exists():
            place.parent.mkdir(exist_ok=True)
            place.write_bytes(zlib.compress(data, 1))
        return digest

    def commit(self, branch):
        """Changes the README of a branch. Returns the commits before and after."""
        self.count += 1
        blob = self.add("blob", f"change {self.count} of {branch}\n".encode())
        tree = b"".join(f"{mode.lstrip('0')} {name}\0".encode() + (bytes.fromhex(blob) if name == "README" else digest)
                        for mode, digest, name in self.entries)
        who = f"Ann <ann@acme.example> {int(time.time())} +0000"
        before = self.heads[branch]
        text = f"tree {self.add('tree', tree)}\nparent {before}\nauthor {who}\ncommitter {who}\n\nChange {self.count}\n"
        after = self.add("commit", text.encode())
        self.set(branch, after)
        return before, after


class Usage:
    """The processor time and the memory of the daemon since it was made."""

    def __init__(self, daemon):
        self.pid, self.begun = daemon.pid(), time.monotonic()
        self.before = self.read()

    def read(self):
        fields = read(f"/proc/{self.pid}/stat").rpartition(") ")[2].split()
        tick = os.sysconf("SC_CLK_TCK")
        return (int(fields[11]) + int(fields[12])) / tick, (int(fields[13]) + int(fields[14])) / tick

    def spent(self):
        """Its seconds of processor time, those of its children that have ended, and the seconds that passed."""
        own, children = self.read()
        return own - self.before[0], children - self.before[1], time.monotonic() - self.begun

    def memory(self):
        """Its memory in MB, shared pages by parts (PSS)."""
        text = read(f"/proc/{self.pid}/smaps_rollup")
        return next((int(line.split()[1]) / 1000 for line in text.splitlines() if line.startswith("Pss:")), 0)


class World:
    def __init__(self):
        self.bots, self.repositories = number("BOTS", 2000), number("REPOSITORIES", 200)
        self.directory = Place(os.environ.get("MARTLET_SCALE_PLACE", "/var/tmp"), mode=0o755).path
        self.cluster = self.directory / "slurm"
        self.cluster.mkdir()
        run("cc", "-O2", "-o", self.cluster / "sbatch", HERE / "scale_slurm.c", check=True)
        for name in ("squeue", "scancel", "sinfo", "scontrol", "control"):
            os.link(self.cluster / "sbatch", self.cluster / name)
        self.parameters = {"nodes": number("NODES", 200), "slots": 4, "seconds": 1.0, "listed": 15.0, "delay": 0.3,
                           "tests": number("TESTS", 100)}
        (self.cluster / "cluster.json").write_text(json.dumps(self.parameters))
        self.server = launch("python3", HERE / "scale_cluster.py", self.cluster)
        within(10, (self.cluster / "socket").exists)
        os.environ["PATH"] = f"{self.cluster}:{os.environ['PATH']}"
        (self.directory / "daemon").mkdir()
        self.daemon = Daemon(self.directory / "daemon", f"""isolation: none
concurrency: 2
executors:
  cluster: {{ slurm: {{ shared: {self.directory}/daemon/state, work: {self.directory}/work, jobs: {number("JOBS", 400)} }} }}
default-executor: cluster
""")
        self.make()
        self.pushed, self.refused, self.token = 0, collections.Counter(), None

    def make(self):
        """The repositories and the bots; each bot has a branch of its own."""
        template, work = self.directory / "template.git", self.directory / "template"
        (work / "src").mkdir(parents=True)
        (work / ".martlet.yml").write_text(RECIPE)
        (work / "README").write_text("first\n")
        for n in range(30):
            (work / f"src/f{n}.c").write_text("".join(f"int f{n}_{k}(int a) {{ return a * {k}; }}\n" for k in range(40)))
        git = ["git", "-c", "user.name=Ann", "-c", "user.email=ann@acme.example", "-C", work]
        for words in (["init", "-q", "-b", "main"], ["add", "-A"], ["commit", "-q", "-m", "First"]):
            run(*git, *words, check=True)
        run("git", "clone", "-q", "--bare", "--template=", work, template, check=True)
        run("git", "-C", template, "gc", "-q")
        (template / "refs/heads").mkdir(exist_ok=True)
        (template / "refs/heads/main").write_text(run("git", "-C", work, "rev-parse", "HEAD").stdout)
        names = [f"bot-{n:04}" for n in range(self.bots)]
        self.places = {}
        for n in range(self.repositories):
            own = names[n::self.repositories]
            bare = Bare(template, self.directory / f"repositories/r{n}.git", own)
            for name in own:
                self.places[name] = bare
                self.daemon.file(name, f"repository: {bare.path}\nbranches: [{name}]\nwebhook: {{ secret: hook }}\n")
        # One of each repository first.
        rest = names[self.repositories:]
        random.Random(1).shuffle(rest)
        self.turn = collections.deque(names[:self.repositories] + rest)

    def control(self, *words):
        return run(self.cluster / "control", *words, check=True).stdout

    def set(self, **parameters):
        for name, value in parameters.items():
            self.control("set", name, value)

    def counts(self):
        return json.loads(self.control("counts"))

    # ---------------------------------------------------------------------------------------------------- the database

    def ask(self, statement, *values):
        """Rows of the daemon's database, which is read beside it."""
        base = sqlite3.connect(f"file:{self.daemon.state}/martlet.sqlite?mode=ro", uri=True, timeout=30)
        try:
            return base.execute(statement, values).fetchall()
        finally:
            base.close()

    def completed(self):
        return self.ask("SELECT count(*) FROM integrations WHERE state = 'completed'")[0][0]

    def open(self):
        return self.ask("SELECT count(*) FROM integrations WHERE state <> 'completed'")[0][0]

    def settled(self, limit):
        """Waits until every integration is completed; returns whether that came to be."""
        return within(limit, lambda: self.open() == 0 and self.ask("SELECT count(*) FROM deliveries WHERE fate = 'pending'")[0][0] == 0, pause=0.5)

    def cancel(self):
        """Cancels what is open."""
        self.token = self.token or self.daemon.command("token", "create", "scale", "--role", "operator").stdout.split()[-1]
        headers = {"Content-Type": "application/json", "Authorization": f"Bearer {self.token}"}
        for name, count in self.ask("SELECT bots.name, number FROM integrations JOIN bots ON bots.id = integrations.bot WHERE state <> 'completed'"):
            self.daemon.ask(f"/api/v1/bots/{name}/integrations/{count}/cancel", b"{}", headers, "POST")

    def sizes(self):
        """The bytes of each table and index."""
        return dict(self.ask("SELECT name, pgsize FROM dbstat WHERE aggregate = TRUE"))

    # ---------------------------------------------------------------------------------------------------------- pushes

    def push(self):
        name = self.turn[0]
        self.turn.rotate(-1)
        before, after = self.places[name].commit(name)
        self.pushed += 1
        return self.pool.submit(self.tell, name, f"d{self.pushed}-{after[:12]}", before, after)

    def tell(self, name, delivery, before, after):
        begun = time.monotonic()
        status = self.daemon.push(name, delivery, before, after, branch=name)
        if status != 202:
            self.refused[status] += 1
        return time.monotonic() - begun

    def load(self, rate, seconds, each=None):
        """Pushes at a rate, whether the daemon keeps up or not; calls `each` every second. Returns the times of the answers."""
        begun, told, answers = time.monotonic(), 0, []
        with concurrent.futures.ThreadPoolExecutor(8) as self.pool:
            for count in range(round(rate * seconds)):
                time.sleep(max(0, begun + count / rate - time.monotonic()))
                answers.append(self.push())
                if each and time.monotonic() - begun > told:
                    told += 1
                    each()
            time.sleep(max(0, begun + seconds - time.monotonic()))
        return [answer.result() for answer in answers]


def pages(bot):
    """The pages that are asked for, by what the claims call them."""
    return {"/": "/", "a bot": f"/bots/{bot}", "an integration": f"/bots/{bot}/1", "/queue": "/queue", "/api/v1/bots": "/api/v1/bots"}


class Reader:
    """Asks for pages in turn, each half second, as people who look at the service do."""

    def __init__(self, world):
        self.world, self.times, self.ended = world, collections.defaultdict(list), threading.Event()
        self.thread = threading.Thread(target=self.run, daemon=True)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.ended.set()
        self.thread.join(60)

    def run(self):
        generator = random.Random(2)
        while not self.ended.is_set():
            bot = f"bot-{generator.randrange(self.world.bots):04}"
            for name, path in pages(bot).items():
                begun = time.monotonic()
                status, body = self.world.daemon.ask(path)
                self.times[name].append(((time.monotonic() - begun) * 1000, status, len(body)))
                if self.ended.wait(0.5):
                    return


def quantile(values, part):
    """A quantile by rank; 0 of no values."""
    values = sorted(values)
    return values[min(len(values) - 1, int(part * len(values)))] if values else 0
