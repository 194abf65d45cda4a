"""Runs jobs in the Linux of Tests/Acceptance/cgroups, by a launcher that listens in /tmp/state, and prints `RESULT name …` for each."""
import json, os, socket, struct, sys, time

service = sys.argv[1]


def start(name, script, **limits):
    attempt, workspace = "/tmp/state/" + name, "/tmp/state/workspace-" + name
    os.mkdir(attempt)
    os.mkdir(workspace)
    all_limits = dict(logBytes=1 << 20, fileBytes=1 << 30, files=1000, reportBytes=1 << 20, graceMilliseconds=500, processes=64,
                      workspaceBytes=1 << 30, workspaceFiles=100000) | limits
    step = dict(step="testing", name="script", arguments=["sh", "-c", script], environment={}, workingDirectory=".",
                timeoutMilliseconds=120000, report=[], isRequired=True, secrets=[], network="none")
    fence = dict(readOnly=[], home="/home/martlet", temporaryBytes=256 << 20, homeBytes=1 << 20)
    job = dict(steps=[step], environment={}, workspace=workspace, mountedAt="/martlet/kit", secrets=[],
               isolation="sandbox", limits=all_limits, collect=[], fence=fence)
    with open(attempt + "/job.json", "w") as file:
        json.dump(job, file)
    connection = socket.socket(socket.AF_UNIX)
    connection.connect("/tmp/state/socket")
    request = json.dumps(dict(attempt=attempt, secrets={})).encode()
    connection.sendall(struct.pack("<I", len(request)) + request)
    connection.recv(4)
    return attempt, workspace


def text(path):
    with open(path) as file:
        return file.read()


def wait(path, condition=lambda: True):
    for _ in range(1200):
        if os.path.exists(path) and condition():
            return
        time.sleep(0.05)


def finished(attempt):
    path = attempt + "/status.jsonl"
    wait(path, lambda: '"finished"' in text(path))
    return json.loads(text(path).splitlines()[-1])


def run(name, script, **limits):
    status = finished(start(name, script, **limits)[0])
    print("RESULT", name, status.get("limit", status["result"]), flush=True)


def waits(name):
    try:
        return b"--wait" in open("/proc/%s/cmdline" % name.split("-")[2], "rb").read()
    except OSError:
        return False


def groups():
    return [service + "/" + name for name in os.listdir(service) if name.startswith("martlet-job-") and not waits(name)]


attempt, workspace = start("looks", "touch ready; while ! test -e go; do sleep 0.1; done", memoryBytes=64 << 20, cpuWeight=50)
wait(workspace + "/ready")
files = [groups()[0] + "/" + name for name in ("memory.max", "memory.swap.max", "memory.oom.group", "pids.max", "cpu.weight")]
print("RESULT set", *(text(path).strip() for path in files if os.path.exists(path)), flush=True)
open(workspace + "/go", "w").close()
finished(attempt)
run("memory", "head -c 200M /dev/zero | tail > /dev/null; sleep 60", memoryBytes=64 << 20)
run("temporary", "head -c 200M /dev/zero > /tmp/a; sleep 60", memoryBytes=64 << 20)
run("bomb", "perl -e 'while (1) { fork }'; sleep 60")
run("enough", "head -c 10M /dev/zero | tail > /dev/null", memoryBytes=64 << 20)
print("RESULT left", len(groups()), flush=True)
_, workspace = start("waits", "touch ready; setsid sleep 1000 & sleep 1000")
wait(workspace + "/ready")
