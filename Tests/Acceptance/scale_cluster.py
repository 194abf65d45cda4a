"""A simulated cluster for `scale`: one process answers Slurm's commands (`scale_slurm.c`) and writes what the nodes of real jobs would write.

    scale_cluster.py DIRECTORY     listens on DIRECTORY/socket, with the parameters of DIRECTORY/cluster.json

A job runs no command. Its files are those of the job protocol, with the lock held and the heartbeat changing as long as it "runs". Each node has a
boot identifier of its own, so that the daemon takes its processes for those of another machine.
"""
import collections, contextlib, fcntl, hashlib, heapq, json, os, pathlib, random, resource, selectors, signal, socket, struct, sys, time, uuid

WARNINGS = "".join(f"src/f{n}.c:{n + 3}:5: warning: unused variable 'unused{n}' [-Wunused-variable]\n" for n in range(3))
BUILD = "".join(f"cc -O2 -Wall -Wextra -Isrc -MMD -MP -c -o out/objects/f{n}.o src/f{n}.c\n" for n in range(120)) + WARNINGS
BROKEN = "src/f7.c:11:9: error: 'undeclared' undeclared (first use in this function)\nmake: *** [Makefile:8: out/objects/f7.o] Error 1\n"


def now():
    return int(time.time() * 1000)


def report(tests, failed):
    """A JUnit report; the tests of the given numbers fail."""
    cases = []
    for n in range(tests):
        text = f"expected {n}, got {n + 1}"
        failure = f'<failure message="{text}">tests/suite{n // 10}.c:{n}: {text}</failure>' if n in failed else ""
        taken = 0.001 * (n % 17 + 1) + random.random() / 1000
        cases.append(f'<testcase classname="suite{n // 10}" name="test_of_case_{n}" time="{taken:.6f}">{failure}</testcase>')
    head = f'<?xml version="1.0"?><testsuites><testsuite name="all" tests="{tests}" failures="{len(failed)}">'
    return f'{head}{"".join(cases)}</testsuite></testsuites>'


class Job:
    """A job of the queue, and the files of its attempt once it runs."""

    def __init__(self, number, name, attempt, wanted):
        self.number, self.name, self.attempt, self.wanted = number, name, attempt, wanted
        self.state, self.reason, self.node, self.lock = "PENDING", "None", "", None
        self.times = {"submitted": now()}

    def line(self):
        return f"{self.number}|{self.state}|{self.reason}|{self.node}|{self.name}\n"

    def path(self, file):
        return f"{self.attempt}/{file}"

    def begin(self, parameters):
        """Claims the attempt, and locks it. Returns whether it is this job that begins it."""
        boot = uuid.uuid5(uuid.NAMESPACE_DNS, self.node)
        content = f"{boot} 4242 1000 {self.node}\n".encode()
        try:
            with open(os.open(self.path("node"), os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644), "wb") as file:
                file.write(content)
                os.fsync(file.fileno())
        except FileExistsError:
            return False
        self.beat()
        self.lock = os.open(self.path("lock"), os.O_RDWR | os.O_CREAT, 0o644)
        fcntl.flock(self.lock, fcntl.LOCK_EX)
        os.write(self.lock, content)
        self.status = os.open(self.path("status.jsonl"), os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND, 0o644)
        self.log = os.open(self.path("log"), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        self.index = os.open(self.path("log.index"), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        self.size, self.rows, self.tests = 0, 1, parameters["tests"]
        with open(self.path("job.json"), "rb") as file:
            self.steps = json.load(file)["steps"]
        dice = random.Random(hashlib.sha256(self.attempt.encode()).digest())
        kind = dice.random()
        # Of a hundred integrations three do not build, and seven have one to three failing tests.
        self.breaks = kind < 0.03
        self.failed = set(dice.sample(range(self.tests), dice.randint(1, 3))) if 0.03 <= kind < 0.10 and self.tests > 3 else set()
        self.span = parameters["seconds"] * dice.uniform(0.5, 1.5) / max(1, len(self.steps))
        self.times["begun"] = now()
        return True

    def beat(self):
        with open(self.path("heartbeat"), "w") as file:
            file.write(f"{time.monotonic_ns()}\n")

    def event(self, **members):
        os.write(self.status, json.dumps({"at": now(), **members}, sort_keys=True).encode() + b"\n")
        os.fdatasync(self.status)

    def write(self, step, text):
        """Appends to the log, in chunks as the supervisor's."""
        data = text.encode()
        os.write(self.index, struct.pack("<QQIHH", self.size, now(), self.rows, step, 0))
        os.write(self.log, data)
        self.size += len(data)
        self.rows += data.count(b"\n")

    def start_step(self, index):
        self.event(event="started", step=index)
        self.write(index, BUILD if self.steps[index]["step"] == "building" else f"running {self.tests} tests\n")

    def end_step(self, index):
        """Ends a step; returns whether the job goes on."""
        step = self.steps[index]
        is_test = step["step"] == "testing"
        fails = self.breaks and step["step"] == "building" or is_test and bool(self.failed)
        if step["step"] == "building" and self.breaks:
            self.write(index, BROKEN)
        if is_test:
            self.write(index, "".join(f"test_of_case_{n} ... {'FAILED' if n in self.failed else 'ok'}\n" for n in range(self.tests)))
            if step.get("report"):
                place = pathlib.Path(self.path(f"reports/{index}"))
                place.mkdir(parents=True, exist_ok=True)
                (place / "report.xml").write_text(report(self.tests, self.failed))
        usage = {"user": int(self.span * 900), "system": int(self.span * 60), "memory": 180 << 20}
        self.event(event="ended", step=index, exit=2 if fails else 0, usage=usage)
        if fails:
            self.finish("failed", step=index)
        elif index + 1 == len(self.steps):
            self.finish("completed")
        return not fails and index + 1 < len(self.steps)

    def finish(self, result, **members):
        for file in (self.log, self.index):
            os.fdatasync(file)
        self.event(event="finished", result=result, **members)
        self.times["finished"] = now()
        for file in (self.status, self.log, self.index, self.lock):
            os.close(file)
        self.lock = None


class Cluster:
    def __init__(self, directory):
        self.directory = pathlib.Path(directory)
        self.parameters = json.loads((self.directory / "cluster.json").read_text())
        self.nodes = {f"n{n:03}": self.parameters["slots"] for n in range(1, self.parameters["nodes"] + 1)}
        self.free = collections.deque(self.nodes)
        self.number, self.jobs, self.pending = 0, {}, collections.deque()
        self.due, self.order = [], 0
        self.counts = collections.Counter()
        self.answers = {"sbatch": self.sbatch, "squeue": self.squeue, "scancel": self.scancel, "sinfo": self.sinfo, "control": self.control}
        self.attempts = {}

    def later(self, seconds, function, *words):
        self.order += 1
        heapq.heappush(self.due, (time.monotonic() + seconds, self.order, function, words))

    # ------------------------------------------------------------------------------------------------ Slurm's commands

    def answer(self, words):
        self.counts[words[0]] += 1
        known = self.answers.get(words[0])
        options = dict(word.lstrip("-").partition("=")[::2] for word in words[1:] if word.startswith("--"))
        return known(options, words[1:]) if known else (1, f"{words[0]}: error: not simulated\n")

    def sbatch(self, options, _):
        self.number += 1
        job = Job(self.number, options["job-name"], options["comment"], options.get("nodelist"))
        if job.wanted and job.wanted not in self.nodes:
            return 1, "sbatch: error: Batch job submission failed: Invalid node name specified\n"
        self.jobs[job.number] = job
        self.pending.append(job)
        self.later(self.parameters["delay"], self.schedule)
        return 0, f"{job.number}\n"

    def squeue(self, _, __):
        self.counts["lines of squeue"] += len(self.jobs)
        return 0, "".join(job.line() for job in self.jobs.values())

    def scancel(self, options, _):
        for job in [job for job in self.jobs.values() if job.name == options.get("jobname")]:
            if job.state == "PENDING":
                self.end(job, "CANCELLED")
            elif job.state == "RUNNING" and options.get("state") != "PENDING":
                job.finish("canceled", reason="canceled")
                self.end(job, "COMPLETED")
        return 0, ""

    def sinfo(self, options, _):
        if "Node" in options:
            return 0, "".join(f"{name}|idle|up|main*\n" for name in self.nodes)
        return 0, f"{self.parameters['slots']}|64000|x86_64,debian-12\n"

    def control(self, _, words):
        """`set NAME VALUE` changes a parameter; `counts` and `times` return what was counted, and each attempt's times."""
        if words[0] == "set":
            self.parameters[words[1]] = json.loads(words[2])
            return 0, ""
        states = collections.Counter(job.state for job in self.jobs.values())
        return 0, json.dumps(self.attempts if words[0] == "times" else {**self.counts, **states})

    # ------------------------------------------------------------------------------------------------------------ jobs

    def place(self, job):
        """A node for a job; None where none is free."""
        if job.wanted:
            return job.wanted if self.nodes[job.wanted] else None
        for _ in range(len(self.free)):
            self.free.rotate(-1)
            if self.nodes[self.free[0]]:
                return self.free[0]
        return None

    def schedule(self):
        waiting = collections.deque()
        while self.pending:
            job = self.pending.popleft()
            if job.state != "PENDING":
                continue
            node = self.place(job)
            if not node:
                job.reason = "Resources"
                waiting.append(job)
                continue
            self.nodes[node] -= 1
            job.state, job.node = "RUNNING", node
            if not job.begin(self.parameters):
                self.counts["attempts that had begun"] += 1
                self.end(job, "FAILED")
                continue
            self.counts["begun"] += 1
            self.attempts[job.attempt] = job.times
            self.counts["most running"] = max(self.counts["most running"], self.counts["begun"] - self.counts["finished"])
            job.start_step(0)
            self.later(job.span, self.step, job, 0)
            self.later(2, self.beat, job)
        self.pending = waiting

    def step(self, job, index):
        if job.lock is None:
            return
        if os.path.exists(job.path("cancel")) or os.path.exists(job.path("loss")):
            job.finish("canceled", reason="canceled")
        elif job.end_step(index):
            job.start_step(index + 1)
            return self.later(job.span, self.step, job, index + 1)
        self.end(job, "COMPLETED")

    def beat(self, job):
        if job.lock is not None:
            job.beat()
            self.later(2, self.beat, job)

    def end(self, job, state):
        if job.state == "RUNNING":
            self.nodes[job.node] += 1
            self.counts["finished"] += state == "COMPLETED"
            if self.pending:
                self.later(0, self.schedule)
        job.state = state
        # As `MinJobAge` of slurm.conf(5): how long an ended job is listed.
        self.later(self.parameters["listed"], self.jobs.pop, job.number, None)

    # ------------------------------------------------------------------------------------------------------------ loop

    def serve(self):
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(str(self.directory / "socket"))
        listener.listen(512)
        listener.setblocking(False)
        selector = selectors.DefaultSelector()
        selector.register(listener, selectors.EVENT_READ)
        while True:
            while self.due and self.due[0][0] <= time.monotonic():
                _, _, function, words = heapq.heappop(self.due)
                function(*words)
            wait = max(0, self.due[0][0] - time.monotonic()) if self.due else 1
            if selector.select(wait):
                with contextlib.suppress(BlockingIOError):
                    self.converse(listener.accept()[0])

    def converse(self, peer):
        with peer:
            peer.settimeout(5)
            data = b""
            while part := peer.recv(65536):
                data += part
            status, text = self.answer(data.decode().rstrip("\0").split("\0"))
            with contextlib.suppress(OSError):
                peer.sendall(bytes([status]) + text.encode())


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    Cluster(sys.argv[1]).serve()
