"""The daemon that the claims of Tests/Acceptance/main-job share, and its sample: a Swift package with a C target."""
import functools

from acceptance import Daemon, Place, Repository, run, within

PACKAGE = """// swift-tools-version: 6.0
import PackageDescription

let package = Package(
    name: "kit",
    products: [
        .library(name: "Kit", targets: ["Kit"]),
        .executable(name: "kit-tool", targets: ["kit-tool"]),
    ],
    targets: [
        .target(name: "CKit"),
        .target(name: "Kit", dependencies: ["CKit"]),
        .executableTarget(name: "kit-tool", dependencies: ["Kit"]),
        .testTarget(name: "KitTests", dependencies: ["Kit"]),
    ]
)
"""
TESTS = """import Kit
import Testing
import XCTest

@Suite struct DoubleTests {
    @Test func testThatItDoubles() {
        #expect(double(21) == 42)
    }
}

final class CountTests: XCTestCase {
    func testThatItCounts() {
        XCTAssertEqual(count(1), 2)
    }
}
"""
# The sources without a finding.
CLEAN = {
    "Sources/Kit/Kit.swift": """import CKit

/// Twice as much.
public func double(_ number: Int) -> Int {
    number * 2
}

/// What the C part counts.
public func count(_ number: Int) -> Int {
    Int(ckit_count(Int32(number)))
}
""",
    "Sources/CKit/ckit.c": """#include "ckit.h"
#include <stdlib.h>

int ckit_count(int number) {
    char *buffer = malloc(16);
    int count = buffer == NULL ? 0 : number + 1;
    free(buffer);
    return count;
}
""",
}
BOT = """branches: [main, "release/*"]
triggers:
  - name: publish
    branches: ["release/*"]
    publish: { version: branch }
"""


class World:
    """Each property is made when the first claim needs it."""

    @functools.cached_property
    def place(self):
        return Place().path

    @functools.cached_property
    def daemon(self):
        # Where the machine's git takes repositories from a directory instead of a server, jobs inside the sandbox must see both.
        urls = run("git", "config", "--system", "--get-regexp", r"^url\./.*\.insteadof$").stdout.split()
        mirrors = sorted({word.removeprefix("url.").removesuffix(".insteadof").rstrip("/") for word in urls if word.startswith("url./")})
        settings = "concurrency: 2\n"
        if mirrors:
            settings += f"sandbox: {{ read-only: [{', '.join([*mirrors, '/etc/gitconfig'])}] }}\n"
        return Daemon(self.place, settings).started()

    def secret(self, name, text):
        """Stores a secret as an operator does."""
        done = run(self.daemon.martlet, "secret", "set", "--settings", self.daemon.settings, name, input=text)
        if done.returncode:
            raise RuntimeError(f"secret {name}: {done.stderr.strip()}")

    def repository(self, name):
        """A repository whose hook signs what is pushed."""
        repository = Repository(self.place, name)
        repository.hook(self.daemon, name)
        return repository

    def bot(self, repository, more="branches: [main]\n"):
        """Polling stays on, slowly: it repairs a push that a busy machine's daemon could not take within the hook's second."""
        self.daemon.bot(repository.name, repository, more, poll="30s", secret=f"{repository.name}-webhook")
        within(20, lambda: self.daemon.api(f"bots/{repository.name}"))

    def issues(self, bot, number):
        return self.daemon.api(f"bots/{bot}/integrations/{number}/issues").get("items", [])

    @functools.cached_property
    def first(self):
        """The repository `kit` and the integration of its first commit."""
        kit = self.repository("kit")
        kit.commit({
            "Package.swift": PACKAGE, "Tests/KitTests/KitTests.swift": TESTS, ".gitignore": ".build/\n",
            ".swift-format": '{ "version": 1, "lineLength": 120, "indentation": { "spaces": 4 } }\n',
            "Sources/CKit/include/ckit.h": "int ckit_count(int number);\n",
            "Sources/kit-tool/main.swift": "import Kit\n\nprint(double(21))\n", **CLEAN}, branch=None, subject="Begin")
        self.bot(kit, BOT)
        return kit, self.daemon.integrate(kit)

    @property
    def kit(self):
        kit, view = self.first
        if view["result"] != "succeeded":
            raise RuntimeError(f"the sample's first commit: kit#{view['number']} {view['result']}")
        return kit


world = World()
