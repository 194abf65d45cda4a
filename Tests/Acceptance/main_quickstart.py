"""Claims of Tests/Acceptance/main-job: deploy/quickstart in a clean clone."""
import os, re, subprocess, time

from acceptance import ROOT, at_exit, claim, free_port, last, launch, listens, note, run, since, within
from main_world import world

NAMES = {"4": "first integration", "5": "the others"}
ROWS = ["kit#1 main test-failures 12 tests, 1 failing", "kit#2 main analyzer-warnings 12 tests, 1 fixed",
        "kit#3 release/1.0 succeeded published kit 1.0.0"]


def lines_of(process):
    """Its lines as they come, each with its moment, so that the time between two of them is the phase's."""
    return [(time.monotonic(), line.rstrip("\n")) for line in process.stdout]


def phases(begun, lines):
    found, before = [], begun
    for moment, line in lines:
        if match := re.match(r"\[(\d)/5\] +([a-z]+)", line):
            found.append(f"{NAMES.get(match[1], match[2])} {moment - before:.0f} s")
            before = moment
    return ", ".join([*found, f"all {before - begun:.0f} s"])


def quickstart():
    if not os.access(ROOT / "deploy/quickstart", os.X_OK):
        claim(False, "quickstart in a clean clone", "deploy/quickstart is not there")
        return
    place, port = world.place, free_port()
    clone = place / "clone/martlet"
    run("git", "clone", "-q", ROOT, clone, check=True)
    environment = {**os.environ, "XDG_STATE_HOME": str(place / "quickstart")}

    def again(*arguments):
        return run(clone / "deploy/quickstart", *arguments, cwd=clone, env=environment)

    at_exit.callback(again, "--stop")
    begun = time.monotonic()
    process = launch(clone / "deploy/quickstart", "--port", port, cwd=clone, env=environment, stdout=subprocess.PIPE,
                     stderr=subprocess.STDOUT, text=True)
    lines = lines_of(process)
    status = process.wait()
    note(*(f"| {line}" for _, line in lines))
    if not claim(status == 0, "quickstart in a clean clone comes to its end", phases(begun, lines)):
        return
    text = re.sub(" +", " ", "\n".join(line for _, line in lines))
    claim(all(row in text for row in ROWS), "its rows: red, fixed, published")
    url = f"http://127.0.0.1:{port}"
    claim(run("curl", "-fsS", "-m", 5, f"{url}/health").returncode == 0, "its daemon answers", f"{url}/health")
    target = place / "quickstart-files"
    target.mkdir()
    base = f"{url}/files/kit/1.0.0"
    names = [line.split("  ", 1)[1] for line in run("curl", "-fsS", f"{base}/SHA256SUMS").stdout.splitlines()]
    for name in ["SHA256SUMS", *names]:
        run("curl", "-fsSO", f"{base}/{name}", cwd=target)
    held = run("sha256sum", "--quiet", "-c", "SHA256SUMS", cwd=target).returncode == 0
    claim(names and held, "the sample's 1.0.0 is downloaded and its sums hold", f"{len(os.listdir(target))} files")
    begun = time.monotonic()
    done = again()
    claim(done.returncode == 0, "quickstart runs again", since(begun) if not done.returncode else last(done.stdout + done.stderr, 2))
    again("--stop")
    claim(within(10, lambda: not listens(port)), "quickstart --stop ends it")
