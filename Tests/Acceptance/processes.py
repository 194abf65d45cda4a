"""Built programs and installed ones, ports, files, waiting, and processes that end with the program that started them."""
import atexit, contextlib, os, pathlib, shutil, signal, socket, subprocess, sys, time

from claims import missing

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
ADMINISTRATION = ":/usr/sbin:/sbin"
# What is to be ended, in the reverse order of its start.
at_exit = contextlib.ExitStack()
atexit.register(at_exit.close)
os.environ.update(no_proxy="127.0.0.1,localhost", NO_PROXY="127.0.0.1,localhost")
for name in ("MARTLET_TOKEN", "MARTLET_URL"):
    os.environ.pop(name, None)


# Sessions of daemons. They are ended in order, and their jobs with them.
daemons = set()


def interrupted(*_):
    """Ends the program, and first the builds and tests that it has started: an orphan is no longer found."""
    for pid in descendants(os.getpid()):
        with contextlib.suppress(OSError):
            if os.getsid(pid) not in daemons:
                os.kill(pid, signal.SIGTERM)
    sys.exit(130)


for name in ("SIGINT", "SIGTERM", "SIGHUP"):
    signal.signal(getattr(signal, name), interrupted)

# --------------------------------------------------------------------------------------------- programs and waiting


def programs(*names, build="swift build"):
    """The directory of the built programs. Ends with 69 where one of them is missing."""
    names = names or ("martlet", "martlet-supervisor", "martlet-tools", "martlet-reader")
    named = os.environ.get("MARTLET_BUILD")
    for place in [pathlib.Path(named)] if named else [ROOT / ".build/release", ROOT / ".build/debug"]:
        if all(os.access(place / name, os.X_OK) for name in names):
            return place.resolve()
    missing(f"{', '.join(names)} are not in {named or '.build/release or .build/debug'}; build them ({build}), or set MARTLET_BUILD")


def find(program):
    """The path of a program of users or of the administrator; None where it is not installed."""
    return shutil.which(program, path=os.environ["PATH"] + ADMINISTRATION)


def need(*names):
    """Ends with 69 where one of these programs is not installed."""
    for name in names:
        if not find(name):
            missing(f"{name} is not installed (deploy/packages --test)")


def run(*words, check=False, **options):
    """Runs a program to its end. Returns its status and what it printed, as text."""
    options = {"stdin": subprocess.DEVNULL} | options if "input" not in options else options
    return subprocess.run([str(word) for word in words], check=check, **{"capture_output": True, "text": True, "errors": "replace"} | options)


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def listens(port):
    try:
        socket.create_connection(("127.0.0.1", port), timeout=2).close()
        return True
    except OSError:
        return False


def within(seconds, ask, pause=0.05):
    """Asks until the answer is true; returns it, or the last one after the time."""
    end = time.monotonic() + seconds
    while True:
        answer = ask()
        if answer or time.monotonic() > end:
            return answer
        time.sleep(pause)


def since(begun):
    """How long it is since a moment of `time.monotonic()`."""
    return f"{time.monotonic() - begun:.1f} s"


def read(path):
    try:
        return pathlib.Path(path).read_text(errors="replace")
    except OSError:
        return ""


def last(text, count=1):
    """The last lines of a text, as one."""
    return " ".join(text.strip().splitlines()[-count:])


def write(path, text, mode=0o644):
    """Writes a file with its directories. Nobody reads it before it has its mode."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode), "w") as file:
        file.write(text)


# ------------------------------------------------------------------------------------------------------- processes


def launch(*words, **options):
    """Starts a process that ends with this program at the latest."""
    process = subprocess.Popen([str(word) for word in words], **{"stdin": subprocess.DEVNULL} | options)
    at_exit.callback(end, process)
    return process


def end(process, number=signal.SIGTERM, limit=30):
    """Ends a process of ours. Returns whether it ran until now and ended with 0."""
    if process is None or process.poll() is not None:
        return False
    process.send_signal(number)
    try:
        return process.wait(limit) == 0
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        return False


def lives(pid):
    """Whether a process runs. One that has ended can stay in the table for a while."""
    return read(f"/proc/{pid}/stat").rpartition(") ")[2][:1] not in ("", "Z")


def descendants(pid):
    """The processes that a process started, and those that these started."""
    children = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit() and (fields := read(f"/proc/{entry}/stat").rpartition(") ")[2].split()):
            children.setdefault(int(fields[1]), []).append(int(entry))
    found, at = [], [pid]
    while at:
        found += (more := children.get(at.pop(), []))
        at += more
    return found


def end_all(pids, limit=15):
    """Ends processes that are no children of ours: SIGTERM, then SIGKILL."""
    for number, seconds in ((signal.SIGTERM, limit), (signal.SIGKILL, 2)):
        for pid in pids:
            with contextlib.suppress(OSError):
                os.kill(pid, number)
        if within(seconds, lambda: not any(map(lives, pids))):
            return


def end_services(directory):
    """Ends launchers, supervisors and daemons whose command line names a path below the directory."""
    end_all([int(entry) for entry in os.listdir("/proc") if entry.isdigit() and read(f"/proc/{entry}/comm").startswith("martlet")
             and str(directory) in read(f"/proc/{entry}/cmdline")])
