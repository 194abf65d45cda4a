"""Claims of Tests/Acceptance/main-job: Swift packages of others, in debug and release, with as many tests as by hand."""
import re, shutil, time

from acceptance import claim, last, note, run, since, skip
from main_world import world

# Rainbow has a LinuxMain.swift of another age: SwiftPM takes that for the tests' entry, unless told to discover them.
PACKAGES = [("swift-algorithms", "apple/swift-algorithms", []), ("bigint", "attaswift/BigInt", []),
            ("rainbow", "onevcat/Rainbow", ["--enable-test-discovery"]), ("swift-http-types", "apple/swift-http-types", [])]
CONFIGURATIONS = {"debug": [], "release": ["-c", "release"]}


def counted(log):
    """What one `swift test` printed: XCTest's last "Executed N tests" and Swift Testing's "Test run with N tests"."""
    return sum(int(found[-1]) for found in (re.findall(r"Executed (\d+) test", log), re.findall(r"Test run with (\d+) test", log)) if found)


class Package:
    def __init__(self, name, source, flags):
        self.name, self.flags, self.url = name, flags, str(world.place / f"{name}.git")
        done = run("git", "clone", "-q", "--bare", f"https://github.com/{source}", self.url)
        self.problem = done.returncode and f"cannot clone https://github.com/{source}: {last(done.stderr)}"
        if not self.problem:
            self.branch = run("git", "-C", self.url, "symbolic-ref", "--short", "HEAD").stdout.strip()
            self.head = run("git", "-C", self.url, "rev-parse", "HEAD").stdout.strip()

    def bot(self):
        lines = "".join(f"    {name}: {{ flags: [{', '.join(words + self.flags)}] }}\n" for name, words in CONFIGURATIONS.items())
        world.daemon.file(self.name, f'repository: {self.url}\nbranches: ["{self.branch}"]\npoll: 10m\nrecipe:\n  configurations:\n{lines}')

    def compare(self):
        view = world.daemon.judged(self.name, self.head, self.branch, limit=1800)
        name = f"{self.name}#{view['number']}"
        if view["result"] not in ("succeeded", "warnings", "analyzer-warnings"):
            claim(False, f"{self.name} in debug and release", f"{name} {view['result']}: {[part['reason'] for part in view['configurations']]}")
        tests = world.daemon.items(f"bots/{self.name}/integrations/{view['number']}/tests")
        # By hand, in a clone of its own, with the same commands.
        clone = world.place / f"by-hand-{self.name}"
        run("git", "clone", "-q", self.url, clone, check=True)
        for configuration, words in CONFIGURATIONS.items():
            begun = time.monotonic()
            extra = ["-Xswiftc", "-enable-testing"] if configuration == "release" else []
            done = run("swift", "test", *words, *self.flags, *extra, cwd=clone)
            hand, count = counted(done.stdout + done.stderr), sum(test["configuration"] == configuration for test in tests)
            part = next((part for part in view["configurations"] if part["name"] == configuration), {"verdict": "?", "steps": []})
            seconds = sum(step["duration"] or 0 for step in part["steps"])
            claim(count == hand > 0, f"{self.name}, {configuration}: tests as counted by hand",
                  f"{count} = {hand}; {part['verdict']} in {seconds:.0f} s; by hand {since(begun)}")
        files = world.daemon.api(f"bots/{self.name}/integrations/{view['number']}/artifacts").get("items", [])
        listed = ", ".join(f"{file['path']} {file['size']}" for file in files)
        note(f"{name} {view['result']}, artifacts: {listed}")
        shutil.rmtree(clone)


def packages():
    world.daemon
    there = []
    for row in PACKAGES:
        package = Package(*row)
        if package.problem:
            skip(f"{package.name} in debug and release", package.problem)
        else:
            package.bot()
            there.append(package)
    for package in there:
        package.compare()
