"""A Slurm of its own: munged, slurmctld and two slurmd on loopback, in one directory. Nothing in /etc is touched."""
import contextlib, os, pathlib, signal, socket, time

from processes import at_exit, descendants, end_all, find, free_port, lives, read, run, within

NODES = ("n1", "n2")
NEEDED = ("munged", "munge", "slurmctld", "slurmd", "sbatch", "squeue", "scancel", "sinfo", "scontrol")


def obstacle():
    """Why this machine has no Slurm; None where it has one."""
    if absent := [name for name in NEEDED if not find(name)]:
        return f"{', '.join(absent)} not installed (slurm-wlm slurmctld slurmd slurm-client munge)"
    return None if os.getuid() == 0 else "slurmd starts only as root"


class Cluster:
    """Both nodes have two processors and the feature of their own name; n2 has `big`, too."""

    def __init__(self, directory, memory=2000):
        self.directory = pathlib.Path(directory)
        self.ports = [free_port() for _ in range(3)]
        self.environment = {**os.environ, "SLURM_CONF": str(self.directory / "slurm.conf"), "PATH": os.environ["PATH"] + ":/usr/sbin:/sbin"}
        for name in ("munge", "state", "spool/n1", "spool/n2", "log", "run"):
            (self.directory / name).mkdir(parents=True, exist_ok=True)
        for path in [self.directory, *self.directory.parents][:-1]:
            path.chmod(path.stat().st_mode | 0o055)
        (self.directory / "munge/key").write_bytes(os.urandom(128))
        run("chown", "-R", "munge:", self.directory / "munge", check=True)
        (self.directory / "munge/key").chmod(0o600)
        groups = pathlib.Path("/sys/fs/cgroup/memory").is_dir() or pathlib.Path("/sys/fs/cgroup/cgroup.controllers").exists()
        self.has_groups = groups and pathlib.Path("/sys/fs/cgroup/freezer").is_dir()
        self.write(memory)
        at_exit.callback(self.stop)

    def write(self, memory):
        host, d = socket.gethostname(), self.directory
        kinds = ("proctrack/cgroup", "task/cgroup", "jobacct_gather/cgroup") if self.has_groups else (
            "proctrack/linuxproc", "task/none", "jobacct_gather/none")
        nodes = "\n".join(
            f"NodeName={n} NodeHostname={host} NodeAddr=127.0.0.1 Port={p} CPUs=2 RealMemory={memory} "
            f"Feature={n}{',big' if n == 'n2' else ''} State=UNKNOWN" for n, p in zip(NODES, self.ports[1:]))
        (d / "slurm.conf").write_text(f"""ClusterName=martlet
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={self.ports[0]}
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket={d}/munge/sock
CryptoType=crypto/munge
MpiDefault=none
CommunicationParameters=NoCtldInAddrAny,NoInAddrAny
ProctrackType={kinds[0]}
TaskPlugin={kinds[1]}
JobAcctGatherType={kinds[2]}
ReturnToService=2
SlurmctldPidFile={d}/run/ctld.pid
SlurmdPidFile={d}/run/slurmd-%n.pid
SlurmdSpoolDir={d}/spool/%n
StateSaveLocation={d}/state
SlurmctldLogFile={d}/log/ctld.log
SlurmdLogFile={d}/log/slurmd-%n.log
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
SchedulerParameters=batch_sched_delay=0,sched_min_interval=10000,bf_interval=1
SlurmdTimeout=10
KillWait=10
MinJobAge=600
JobRequeue=0
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/none
{nodes}
PartitionName=main Nodes=n1,n2 Default=YES MaxTime=01:00:00 State=UP DefMemPerCPU=500
PartitionName=closed Nodes=n1,n2 MaxTime=01:00:00 State=DOWN DefMemPerCPU=500
""")
        (d / "cgroup.conf").write_text("CgroupPlugin=cgroup/v1\nCgroupMountpoint=/sys/fs/cgroup\nCgroupAutomount=no\nConstrainRAMSpace=yes\n"
                                       "ConstrainCores=no\nConstrainSwapSpace=no\n")

    def configure(self, line):
        """Adds a line to the configuration, which all daemons read at once."""
        with (self.directory / "slurm.conf").open("a") as file:
            file.write(line + "\n")
        self.call("scontrol", "reconfigure")

    def call(self, *words):
        return run(*words, env=self.environment)

    def start(self):
        d = self.directory
        result = self.start_munge()
        if result.returncode:
            raise RuntimeError(f"munged does not start: {result.stderr}")
        self.start_controller("-c")
        for node in NODES:
            self.start_node(node)
        if not within(30, lambda: self.states() == {"n1": "idle", "n2": "idle"}):
            raise RuntimeError(f"the nodes do not come up: {self.states()}; {read(d / 'log/ctld.log')[-1000:]}")
        return self

    def start_controller(self, *options):
        with contextlib.suppress(OSError):
            (self.directory / "run/ctld.pid").unlink()
        self.call("slurmctld", *options, "-f", self.directory / "slurm.conf")
        within(10, lambda: self.pid("ctld"))

    def start_node(self, node, before=""):
        """`before`: shell commands in a mount namespace that only the node and its jobs have."""
        with contextlib.suppress(OSError):
            (self.directory / f"run/slurmd-{node}.pid").unlink()
        command = f"exec slurmd -N {node} -f {self.directory}/slurm.conf"
        self.call("unshare", "-m", "sh", "-ec", f"{before}\n{command}") if before else self.call("sh", "-c", command)
        within(10, lambda: self.pid(f"slurmd-{node}"))

    def pid(self, name):
        """The process of `ctld`, `slurmd-n1` or `slurmd-n2`; None where it does not run."""
        text = read(self.directory / f"run/{name}.pid").strip()
        return int(text) if text and lives(int(text)) else None

    def kill(self, name):
        """Ends a daemon by SIGKILL."""
        if pid := self.pid(name):
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
            within(10, lambda: not lives(pid))

    def restart_node(self, node, before=""):
        self.kill(f"slurmd-{node}")
        self.start_node(node, before)

        def is_idle():
            state = self.states().get(node, "")
            if any(word in state for word in ("drain", "drng", "down")):
                self.call("scontrol", "update", f"nodename={node}", "state=resume")
            return state == "idle"
        return within(90, is_idle, pause=0.5)

    def start_munge(self):
        d = self.directory
        return run("runuser", "-u", "munge", "--", "munged", "--force", f"--key-file={d}/munge/key", f"--socket={d}/munge/sock",
                   f"--pid-file={d}/munge/pid", f"--log-file={d}/munge/log", f"--seed-file={d}/munge/seed", env=self.environment)

    def stop_munge(self):
        pid = int(read(self.directory / "munge/pid").strip() or 0)
        if pid and lives(pid):
            os.kill(pid, signal.SIGTERM)
            within(10, lambda: not lives(pid))

    def mend(self):
        """Starts what was killed, and has drained nodes take jobs again."""
        if not self.pid("ctld"):
            self.start_controller()
        for node in NODES:
            if not self.pid(f"slurmd-{node}"):
                self.start_node(node)
        within(30, lambda: self.call("scontrol", "ping").returncode == 0)
        for node, state in self.states().items():
            if any(word in state for word in ("drain", "down")):
                self.call("scontrol", "update", f"nodename={node}", "state=resume")

    def states(self):
        lines = self.call("sinfo", "-h", "-N", "-p", "main", "-o", "%N %t").stdout.split("\n")
        return dict(line.split() for line in lines if line.strip())

    def steps(self):
        """The slurmstepd processes of this cluster. They are children of a slurmd, or of process 1 after it was killed."""
        found = []
        for entry in pathlib.Path("/proc").iterdir():
            if entry.name.isdigit() and read(entry / "comm").strip().startswith("slurmstepd"):
                # slurmd tells its own directory to what it starts, in the environment.
                with contextlib.suppress(OSError):
                    if str(self.directory) in (entry / "environ").read_text(errors="replace"):
                        found.append(int(entry.name))
        return found

    def queue(self):
        """Our jobs: a list of (number, state, reason, node, name)."""
        out = self.call("squeue", "-h", "--me", "-t", "all", "-o", "%A|%T|%r|%N|%j").stdout
        return [tuple(line.split("|", 4)) for line in out.splitlines() if line.count("|") >= 4]

    def submit(self, *options, wrap="sleep 600", name="filler"):
        result = self.call("sbatch", "--parsable", "-J", name, "-D", "/", "-o", "/dev/null", "--export=NIL", *options, "--wrap", wrap)
        if result.returncode:
            raise RuntimeError(result.stderr)
        return result.stdout.strip()

    def stop(self):
        self.call("scancel", "--me")
        within(5, lambda: all(job[1] not in ("PENDING", "RUNNING", "COMPLETING") for job in self.queue()))
        pids = [pid for name in ("ctld", "slurmd-n1", "slurmd-n2") if (pid := self.pid(name))]
        munge = read(self.directory / "munge/pid").strip()
        pids += [int(munge)] if munge else []
        end_all([child for pid in pids for child in descendants(pid)] + pids + self.steps())
        time.sleep(0.2)
        for controller in ("freezer", "memory", "cpuacct", "cpuset", "devices"):
            for group in sorted(pathlib.Path(f"/sys/fs/cgroup/{controller}").glob("slurm*/**/"), reverse=True):
                with contextlib.suppress(OSError):
                    group.rmdir()
