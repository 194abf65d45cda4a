"""Claims of Tests/Acceptance/main-job: what is wrong is reported, and the daemon goes on."""
import hashlib, hmac, json, os, re, subprocess

from acceptance import claim, free_port, last, read, run, within
from main_world import world

MAKEFILE = "all:\n\ttrue\ncheck:\n\ttrue\n"
C = "#include <stdio.h>\n\nint main(void) {\n    return undeclared;\n}\n"
TESTS = "Tests/BadTests/BadTests.swift"
# Source of a sample that Martlet tests. Its trap is the crash that the claim is about.
CRASHES = """import XCTest

final class BadTests: XCTestCase {
    func testGood() {}
    func testThatItCrashes() {
        fatalError("planted")
    }
}
"""
# Source of a sample. Its sleep is never waited out: the time limit of the step ends it, which is the claim.
HANGS = """import Foundation
import Testing

@Suite struct BadTests {
    @Test func testGood() {}
    @Test func testThatItHangs() {
        Thread.sleep(forTimeInterval: 3600)
    }
}
"""


def first_line(text):
    return (text.splitlines() or [""])[0]


def printed(*arguments):
    done = world.daemon.command(*arguments)
    return done.stdout + done.stderr


def recipes():
    """A recipe with an error, a ref that is gone, code that does not compile."""
    recipe = world.repository("recipe")
    recipe.commit({"Makefile": MAKEFILE, ".martlet.yml": "configurations:\n  debug: { flag: [-x] }\n"}, branch=None, subject="A wrong key")
    world.bot(recipe)
    view = world.daemon.integrate(recipe)
    text = first_line(printed("issues", f"recipe#{view['number']}"))
    claim(view["result"] == "build-errors" and ".martlet.yml:2:" in text, "a recipe with errors", f"{view['result']}: {text}")
    done = world.daemon.command("integrate", "recipe", "--commit", "refs/heads/nowhere")
    claim("nowhere" in done.stderr, "a ref that is gone", f"status {done.returncode}: {done.stderr.strip()}")
    os.remove(f"{recipe.work}/.martlet.yml")
    recipe.commit({"Makefile": "all: broken.o\nbroken.o: broken.c\n\tcc -c broken.c\ncheck:\n\ttrue\n", "broken.c": C}, branch=None,
                  subject="Code that does not compile")
    view = world.daemon.integrate(recipe)
    text = next((line for line in printed("issues", f"recipe#{view['number']}").splitlines() if line.startswith("new")), "")
    claim(view["result"] == "build-errors" and "broken.c:4:" in text, "code that does not compile", f"{view['result']}: {text}")
    return recipe


def hanging():
    """Whether a test runs. In the sandbox its path is another one, so the package has a name of this run's own."""
    return any(f"bad{world.daemon.port}PackageTests.xctest" in read(f"/proc/{entry}/cmdline") for entry in os.listdir("/proc") if entry.isdigit())


def tests():
    """Tests that crash, and tests that hang."""
    repository = world.repository("tests")
    repository.commit({
        "Package.swift": '// swift-tools-version: 6.0\nimport PackageDescription\n\n'
                         f'let package = Package(name: "bad{world.daemon.port}", targets: [.testTarget(name: "BadTests")])\n',
        ".gitignore": ".build/\n", TESTS: CRASHES}, branch=None, subject="A test that crashes")
    world.bot(repository, "branches: [main]\nrecipe:\n  configurations:\n    debug: { timeout: 90s }\n")
    view = world.daemon.integrate(repository, limit=400)
    text = printed("tests", f"tests#{view['number']}", "--failing")
    line = next((line for line in text.splitlines() if "crash" in line.lower()), "")
    claim(view["result"] == "test-failures" and re.search("SIG(ILL|TRAP|ABRT)", text), "a test that crashes, with its signal",
          f"{view['result']}: {' '.join(line.split())}")
    repository.commit({TESTS: HANGS}, branch="main", subject="A test that hangs")
    seen = within(200, hanging)
    view = world.daemon.judged("tests", repository.head, limit=400)
    text = "; ".join(part["reason"] for part in view["configurations"] if part["reason"])
    claim(view["result"] == "test-failures" and "testing exceeded 90 s" in text, "a test that hangs, with the time-out", f"{view['result']}: {text}")
    text = first_line(printed("tests", f"tests#{view['number']}", "--failing"))
    claim("testThatItHangs" in text, "the test that hung is named", " ".join(text.split()))
    claim(seen and within(20, lambda: not hanging()), "nothing of it is left running", "seen running, then gone" if seen else "never seen running")


def strangers():
    """Signatures and tokens."""
    daemon = world.daemon

    def refused(what, expected, path, body, **headers):
        named = {name.replace("_", "-"): text for name, text in headers.items()}
        status, answer = daemon.ask(path, body, {"Content-Type": "application/json"} | named)
        answer = json.loads(answer or b"{}")
        claim(status == expected, what, f"{status} {answer.get('detail') or answer.get('title')}")

    body = json.dumps({"updates": [{"ref": "refs/heads/main", "before": "0" * 40, "after": "1" * 40}]}).encode()
    wrong = hmac.new(b"wrong", body, hashlib.sha256).hexdigest()
    refused("a wrong signature", 401, "/webhooks/push/recipe", body, X_Martlet_Delivery="a", X_Hub_Signature_256=f"sha256={wrong}")
    refused("a missing signature", 401, "/webhooks/push/recipe", body, X_Martlet_Delivery="b")
    token = re.search("mt_[A-Za-z0-9_-]+", printed("token", "create", "reader", "--role", "viewer")).group()
    refused("a token without the right", 403, "/api/v1/bots/recipe/integrations", b"{}", Authorization=f"Bearer {token}")
    refused("no token", 401, "/api/v1/bots/recipe/integrations", b"{}")
    count = sum(item["id"] in ("a", "b") for item in daemon.api("deliveries")["items"])
    claim(count == 0, "what was refused left no delivery", f"{count} rows")


def served(settings):
    """Status and last line of a daemon that is expected to end at once."""
    try:
        done = run(world.daemon.martlet, "serve", "--settings", settings, timeout=120)
        return done.returncode, done.stdout + done.stderr
    except subprocess.TimeoutExpired:
        return 0, "it runs after 120 s"


def second_daemons():
    daemon, place = world.daemon, world.place
    text = read(daemon.settings)
    (place / "second.yml").write_text(text.replace(f"listen: 127.0.0.1:{daemon.port}", f"listen: 127.0.0.1:{free_port()}"))
    status, said = served(place / "second.yml")
    claim(status and "another daemon works on" in said, "a second daemon on the same state is refused", f"status {status}: {last(said)}")
    (place / "other/bots").mkdir(parents=True)
    text = text.replace(f"state: {daemon.state}", f"state: {place}/state-other").replace(f"{place}/bots", f"{place}/other/bots")
    (place / "other.yml").write_text(text)
    status, said = served(place / "other.yml")
    claim(status and "in use" in said, "a port in use is told", f"status {status}: {last(said)}")


def bad():
    daemon = world.daemon
    daemon.file("missing", f"repository: {world.place}/missing.git\n")
    text = within(30, lambda: daemon.api("bots/missing").get("lookError")) or ""
    claim("missing.git" in text, "a repository that does not exist is told", text)
    os.remove(world.place / "bots/missing.yml")
    recipe = recipes()
    tests()
    strangers()
    second_daemons()
    (world.place / "wrong.yml").write_text("repositry: /x.git\n")
    text = printed("lint", world.place / "wrong.yml")
    claim("did you mean" in text, "a misspelt key in a bot file", first_line(text).replace(f"{world.place}/", ""))
    claim(daemon.answers(5), "the daemon goes on", f"GET /health: {daemon.text('/health').strip()}")
    os.remove(f"{recipe.work}/broken.c")
    recipe.commit({"Makefile": MAKEFILE}, branch=None, subject="Mended")
    view = daemon.integrate(recipe)
    claim(view["result"] == "succeeded", "and integrates: the same bot, mended", f"recipe#{view['number']} {view['result']}")
