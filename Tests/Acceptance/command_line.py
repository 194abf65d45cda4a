#!/usr/bin/env python3
"""The command line as people use it: on a pseudo-terminal, in a pipe, in shells, with a real daemon and a repository of tests that fail.

    Tests/Acceptance/command_line.py

A line a claim. A shell or a tool that the machine has not is skipped by name: bash, zsh, fish, mandoc, groff, jsonschema and PyYAML of PyPI.
"""
import json, os, pathlib, pty, re, select, shutil, signal, subprocess, tempfile, time

from acceptance import Daemon, Repository, claim, finish, programs, skip, within

SEQUENCE = re.compile(r"\x1b")
OWN = re.compile(r"\x1b\[(?:0|1|2|31|32|33)m|\r\x1b\[K")
HOSTILE = "\x1b]0;owned\x07\x1b[2J\x9b31m\u202e"
RECIPE = """configurations:
  debug: { build: 'true', test: 'sh test', report: report.xml }
  release: { build: 'true', test: 'true' }
analyze: []
"""
TEST = """while [ -e "$HOLD" ]; do sleep 0.05; done
printf '\\033[31mred\\033[0m of the log\\n'
printf '<testsuite name="Kit"><testcase classname="Kit" name="adds"/><testcase classname="Kit" name="%s"><failure message="2 is not 3"/></testcase></testsuite>' "$(cat name)" >report.xml
exit 1
"""


class Tool:
    """The command line with an environment of its own."""

    def __init__(self, daemon, directory):
        self.program = str(programs() / "martlet")
        self.socket = str(daemon.state / "martlet.socket")
        self.environment = {"PATH": f"{programs()}:/usr/bin:/bin", "HOME": str(directory / "home"), "LANG": "C.UTF-8", "MARTLET_URL": self.socket}

    def pipe(self, *arguments, **more):
        return subprocess.run([self.program, *arguments], capture_output=True, text=True, env={**self.environment, **more}, timeout=120)

    def terminal(self, *arguments, **more):
        """Runs a command on a pseudo-terminal; returns what it wrote there, and its exit status."""
        child, descriptor = pty.fork()
        if child == 0:
            os.execve(self.program, [self.program, *arguments], {**self.environment, "TERM": "xterm-256color", **more})
        output, end = b"", time.monotonic() + 120
        while time.monotonic() < end:
            if not select.select([descriptor], [], [], 1)[0]:
                continue
            try:
                piece = os.read(descriptor, 65536)
            except OSError:  # EIO: the other end is closed
                break
            if not piece:
                break
            output += piece
        os.close(descriptor)
        return output.decode(errors="replace"), os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def colors(tool, number):
    listing = ("integrations", "kit")
    shown, _ = tool.terminal(*listing)
    claim("\x1b[31mtest-failures\x1b[0m" in shown, "a terminal gets a red result in red")
    claim("\x1b[1mINTEGRATION\x1b[0m" in shown, "its table has heads")
    for name, options, environment in [
        ("NO_COLOR=1", (), {"NO_COLOR": "1"}), ("TERM=dumb", (), {"TERM": "dumb"}), ("--no-color", ("--no-color",), {}), ("--color never", ("--color", "never"), {}),
    ]:
        shown, _ = tool.terminal(*listing, *options, **environment)
        claim("kit#" in shown and not SEQUENCE.search(shown), f"a terminal with {name} gets none")
    claim("\x1b[31m" in tool.pipe(*listing, "--color", "always").stdout, "a pipe with --color always gets colors")
    for command in [listing, ("bots",), ("bot", "kit"), ("show", f"kit#{number}"), ("issues", f"kit#{number}"), ("tests", f"kit#{number}"), ("token", "list"),
                    ("log", f"kit#{number}"), ("log", f"kit#{number}", "--failed"), ("watch", f"kit#{number}"), ("artifacts", f"kit#{number}"), ("doctor",)]:
        result = tool.pipe(*command)
        claim(not SEQUENCE.search(result.stdout + result.stderr), f"a pipe gets no escape sequence: {' '.join(command)}")
    shown, _ = tool.terminal("log", f"kit#{number}", "--configuration", "debug")
    claim("\x1b[31mred\x1b[0m of the log" in shown, "a terminal gets the log's own colors")


def hostile(tool, number):
    """The failing test's name, the branch's subject and arguments hold sequences that set the title, clear the screen and reverse the line."""
    for command in [("issues", f"kit#{number}"), ("tests", f"kit#{number}"), ("integrations", "kit"), ("bots",), ("show", f"kit#{number}"), ("watch", f"kit#{number}")]:
        shown, _ = tool.terminal(*command)
        rest = OWN.sub("", shown)
        claim(not re.search("[\x1b\x07\x9b\u202e]", rest), f"hostile names write no sequence: {' '.join(command)}", repr(rest[:40]) if SEQUENCE.search(rest) else "")
    for command in [(HOSTILE,), ("show", HOSTILE), ("integrate", HOSTILE), ("log", "kit", f"--{HOSTILE}"), ("init", HOSTILE), ("token", HOSTILE)]:
        shown, status = tool.terminal(*command)
        claim(status != 0 and not re.search("[\x1b\x07\x9b\u202e]", OWN.sub("", shown)), f"nor does a hostile argument: {command[0][:9]!r}", f"exit {status}")


def addresses(tool, daemon, number):
    for path in (f"/bots/kit/{number}", f"/bots/kit/integrations/{number}", f"/bots/kit/{number}/log/debug?attempt=1#L2", f"/api/v1/bots/kit/integrations/{number}"):
        result = tool.pipe("show", daemon.url + path)
        claim(result.stdout.startswith(f"kit#{number} "), f"show {path}", result.stderr.strip()[:60])
    result = tool.pipe("log", f"{daemon.url}/bots/kit/{number}/log/release")
    claim(result.returncode == 0 and "of the log" not in result.stdout, "log takes the configuration from a log page's address")
    result = tool.pipe("show", f"{daemon.url}/bots/kit/{number}", MARTLET_URL="", HOME="/nonexistent")
    claim(result.returncode == 0, "an address alone names its service")
    result = tool.pipe("open", f"kit#{number}")
    claim(result.stdout == f"{daemon.url}/bots/kit/{number}\n", "open prints the address in a pipe", result.stdout.strip())
    marks = pathlib.Path(tool.environment["HOME"])
    (marks / "bin").mkdir(exist_ok=True)
    opener = marks / "bin/xdg-open"
    opener.write_text(f"#!/bin/sh\nprintf '%s' \"$1\" >{marks}/opened\n")
    opener.chmod(0o755)
    tool.terminal("open", "kit", PATH=f"{marks}/bin:/usr/bin:/bin", DISPLAY=":0")
    claim((marks / "opened").exists() and (marks / "opened").read_text() == f"{daemon.url}/bots/kit", "open gives a browser the address on a desktop")


def following(tool, hold, number):
    """Watches a run that is held, and ends it meanwhile."""
    hold.write_text("")
    queued = tool.pipe("integrate", "kit")
    found = re.search(r"kit#(\d+) queued", queued.stdout)
    claim(found and f"/bots/kit/{found[1]}\n" in queued.stdout, "integrate prints the page's address", queued.stdout.strip().split("\n")[-1])
    watch = subprocess.Popen([tool.program, "watch", f"kit#{found[1]}"], stdout=subprocess.PIPE, text=True, env=tool.environment)
    within(30, lambda: "running" in tool.pipe("show", f"kit#{found[1]}").stdout or "testing" in tool.pipe("show", f"kit#{found[1]}").stdout)
    hold.unlink()
    output, _ = watch.communicate(timeout=120)
    claim(watch.returncode == 1, "watch of a red integration ends with 1", f"exit {watch.returncode}")
    claim(f"kit#{found[1]} test-failures: " in output and "failed: Kit" in output, "it names the result and the failing test")
    failed = tool.pipe("log", f"kit#{found[1]}", "--failed")
    claim(failed.stdout.startswith(f"==> kit#{found[1]} debug, attempt 1 <==") and "release" not in failed.stdout, "log --failed prints the failed log alone")
    claim(tool.pipe("watch", "green").returncode == 0, "watch of a green integration ends with 0")


def suggestions(tool):
    for words, sentence in [(("integrat", "kit"), "did you mean `integrate`?"), (("token", "lsit"), "did you mean `list`?"), (("bots", "--jsno"), "Did you mean '--json'?")]:
        result = tool.pipe(*words)
        claim(result.returncode == 64 and sentence in result.stderr, f"did you mean: {' '.join(words)}", result.stderr.strip().split("\n")[0][:70])


def typed(tool, shell, beginning, line, **more):
    """Types a beginning and a line into an interactive shell; returns what the terminal shows of the line."""
    child, descriptor = pty.fork()
    if child == 0:
        os.execvpe(shell, [shell, *(["-f", "-i"] if shell == "zsh" else ["-i"])], {**tool.environment, "TERM": "xterm", **more})

    def shown(seconds, until=""):
        output, end = b"", time.monotonic() + seconds
        while time.monotonic() < end and not (until and until in output.decode(errors="replace")):
            if select.select([descriptor], [], [], 0.2)[0]:
                try:
                    output += os.read(descriptor, 65536)
                except OSError:
                    break
        return output.decode(errors="replace")

    shown(3)
    os.write(descriptor, f"{beginning}; echo rea'dy'\r".encode())
    shown(20, "ready")
    shown(1)
    os.write(descriptor, line.encode())
    output = shown(4)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    os.close(descriptor)
    return re.sub(r"\x1b[\[(][0-9;?]*[A-Za-z]|[\r\x08]", "", output)


def completions(tool, directory):
    """Each shell loads its script and completes what is typed; names come from the daemon. While it is away nothing is written into the line."""
    for shell in ("bash", "zsh", "fish"):
        script = directory / f"martlet.{shell}"
        script.write_text(tool.pipe("--generate-completion-script", shell).stdout)
        if not shutil.which(shell):
            skip(f"completion in {shell}", f"there is no {shell}")
            continue
        beginning = ("autoload -Uz compinit; compinit -u -D; " if shell == "zsh" else "") + f"source {script}"
        line = typed(tool, shell, beginning, "martlet integrate gre\t")
        claim("green" in line, f"{shell} completes the name of a bot", line.strip()[-40:])
        line = typed(tool, shell, beginning, "martlet integrate gre\t", MARTLET_URL="/nowhere")
        claim("green" not in line and "rror" not in line and "martlet:" not in line, f"{shell} is silent while the daemon is away", line.strip()[-40:])


def silent_daemon(tool, daemon):
    os.kill(daemon.pid(), signal.SIGSTOP)
    begun = time.monotonic()
    result = tool.pipe("---completion", "integrate", "--", "positional@0", "2", "1", "martlet", "integrate", "k")
    took = time.monotonic() - begun
    os.kill(daemon.pid(), signal.SIGCONT)
    claim(took < 3 and not result.stdout.strip() and not result.stderr, "a daemon that hangs holds a completion up for a moment only", f"{took:.1f} s")


def manual(tool, directory):
    pages = directory / "man1"
    pages.mkdir()
    tool.pipe("manual-pages", str(pages))
    names = sorted(str(page) for page in pages.iterdir())
    claim(len(names) > 35, "there is a man page for each command", f"{len(names)} pages")
    if shutil.which("mandoc"):
        result = subprocess.run(["mandoc", "-Tlint", "-Wwarning", *names], capture_output=True, text=True)
        claim(not result.stdout + result.stderr, "mandoc -Tlint finds nothing", (result.stdout + result.stderr)[:70])
    else:
        skip("mandoc -Tlint finds nothing", "there is no mandoc")
    if shutil.which("groff"):
        warnings = "".join(subprocess.run(["groff", "-ww", "-mandoc", "-Tutf8", name], capture_output=True, text=True).stderr for name in names)
        claim(not warnings, "groff -ww, as man --warnings has it, finds nothing", warnings[:70])
    else:
        skip("groff -ww finds nothing", "there is no groff")


def schemas(tool, daemon, directory):
    documents = {kind: json.loads(tool.pipe("schema", kind).stdout) for kind in ("settings", "bot", "recipe")}

    def bare(value, path=""):
        found = [] if not isinstance(value, dict) else [f"{path}/{key}" for key, each in value.get("properties", {}).items() if not each.get("description")]
        inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
        return found + [item for key, each in inner for item in bare(each, f"{path}/{key}")]

    missing = [kind + path for kind, document in documents.items() for path in bare(document)]
    claim(not missing, "every key of the JSON Schemas has a description", " ".join(missing)[:60])
    claim(all(document["$id"] == f"urn:martlet:schema:{kind}" for kind, document in documents.items()), "each schema has an $id")
    written = tool.pipe("init", "--write", "--settings", str(daemon.settings), "--name", "written", daemon.url.replace("http", "https") + "/kit.git")
    path = daemon.directory / "bots/written.yml"
    claim(written.returncode == 0 and path.exists() and "What comes next" in written.stdout, "init --write writes the file and says what comes next", written.stderr.strip()[:60])
    first = path.read_text().split("\n")[0]
    schema = first.partition("$schema=")[2]
    claim(first.startswith("# yaml-language-server: $schema=/") and json.loads(pathlib.Path(schema).read_text()) == documents["bot"], "its first line names the schema for editors", schema)
    claim(tool.pipe("lint", str(path)).returncode == 0 and "NAME" not in path.read_text(), "it is valid, with the bot's name in it")
    try:
        import jsonschema, yaml
    except ImportError:
        return skip("jsonschema accepts the schemas and the file", "PyPI's jsonschema and PyYAML are not installed")
    for document in documents.values():
        jsonschema.Draft202012Validator.check_schema(document)
    jsonschema.validate(yaml.safe_load(path.read_text()), documents["bot"])
    claim(True, "jsonschema accepts the schemas and the file")


def reload(tool, daemon):
    """SIGHUP, wrong settings, and the end of the terminal."""
    log = daemon.directory / "daemon.log"
    text = daemon.settings.read_text()
    daemon.settings.write_text(text + "concurrency: 3\nimages: /srv/images\n")
    pid = daemon.pid()
    os.kill(pid, signal.SIGHUP)
    claim(within(20, lambda: "need a restart" in log.read_text()) and "images" in log.read_text(), "SIGHUP names what needs a restart")
    claim(daemon.answers() and daemon.pid() == pid, "the service goes on")
    wrong = daemon.directory / "wrong.yml"
    wrong.write_text("lisen: 127.0.0.1:0\n")
    claim(tool.pipe("serve", "--settings", str(wrong)).returncode == 78, "wrong settings end the service with 78")


def main():
    directory = pathlib.Path(tempfile.mkdtemp(prefix="mc", dir="/tmp"))
    daemon = Daemon(directory, "isolation: none\n")
    hold = directory / "hold"
    kit, green = Repository(directory, "kit"), Repository(directory, "green")
    kit.commit({".martlet.yml": RECIPE, "test": TEST.replace('"$HOLD"', f'"{hold}"'), "name": "evil&#27;]0;owned&#7;&#x9b;2J&#x202e;"}, subject="Begin " + HOSTILE)
    green.commit({"Makefile": "all:\n\ttrue\ntest:\n\ttrue\n"})
    daemon.bot("kit", kit, "")
    daemon.bot("green", green)
    try:
        if not claim(daemon.start() is not None, "the daemon starts"):
            return
        tool = Tool(daemon, directory)
        result = tool.pipe("integrate", "kit", "--wait")
        claim(result.returncode == 1, "integrate --wait ends with 1 for a red integration", f"exit {result.returncode}")
        claim(tool.pipe("integrate", "green", "--wait").returncode == 0, "and with 0 for a green one")
        number = re.search(r"kit#(\d+)", result.stdout)[1]
        claim("test-failure: Kit" in tool.pipe("issues", f"kit#{number}").stdout, "issues names the failing test")
        colors(tool, number)
        hostile(tool, number)
        addresses(tool, daemon, number)
        following(tool, hold, number)
        suggestions(tool)
        completions(tool, directory)
        silent_daemon(tool, daemon)
        manual(tool, directory)
        schemas(tool, daemon, directory)
        reload(tool, daemon)
    finally:
        if daemon.process and daemon.process.poll() is None:
            daemon.process.terminate()
            daemon.process.wait(60)
        if not os.environ.get("MARTLET_KEEP"):
            shutil.rmtree(directory, ignore_errors=True)
    finish()


main()
