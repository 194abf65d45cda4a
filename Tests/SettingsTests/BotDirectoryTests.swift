import Glibc
import Model
import Settings
import TestSupport
import Testing

@Suite struct BotDirectoryTests {
    private func kit(_ repository: String) -> BotSpecification {
        BotSpecification(name: Name(nearest: "kit"), repository: repository)
    }

    /// Makes the file's modification time old, so that it is trusted.
    private func age(_ path: String, seconds: Int) {
        var times = [
            timespec(tv_sec: 1_700_000_000 + seconds, tv_nsec: 0),
            timespec(tv_sec: 1_700_000_000 + seconds, tv_nsec: 0),
        ]
        #expect(utimensat(AT_FDCWD, path, &times, 0) == 0)
    }

    @Test(.proves(.settings, "A new or changed bot file is in use within 2 s"))
    func testThatItReadsEachFileOnceUntilItChanges() async throws {
        try await withTemporaryDirectory { directory in
            // given
            let file = try directory.write("kit.yml", "repository: /one\n")
            age(file, seconds: 1)
            age(try directory.write("app.yaml", "repository: /app\n"), seconds: 1)
            try directory.write(".hidden.yml", "x")
            try directory.write("kit.yml~", "x")
            try directory.write("README", "x")
            let bots = BotDirectory(directory: directory.path)
            // when
            let first = bots.scan()
            let second = bots.scan()
            try directory.write("kit.yml", "repository: /two\n")
            age(file, seconds: 1)
            let third = bots.scan()
            age(file, seconds: 2)
            let fourth = bots.scan()
            // then
            #expect(first.bots.map(\.repository) == ["/app", "/one"])
            #expect(first.problems.isEmpty)
            #expect(first.readFiles == 2)
            #expect(second.readFiles == 0)
            #expect(second.bots == first.bots)
            #expect(third.bots.map(\.repository) == ["/app", "/two"], "a new file of the same size and time is seen")
            #expect(third.readFiles == 1)
            #expect(fourth.readFiles == 1)
        }
    }

    @Test func testThatAFileThatJustChangedIsReadAgain() async throws {
        try await withTemporaryDirectory { directory in
            let file = try directory.write("kit.yml", "repository: /one\n")
            let clock = ContinuousClock()
            var bots = BotDirectory(directory: directory.path)
            await until("a scan within half the tenth of a second for which a file has just changed") {
                // when
                bots = BotDirectory(directory: directory.path)
                let changed = clock.now
                #expect(utimensat(AT_FDCWD, file, nil, 0) == 0)
                #expect(bots.scan().readFiles == 1)
                return clock.now - changed < .milliseconds(50)
            }
            // then
            #expect(bots.scan().readFiles == 1)
        }
    }

    @Test(.proves(.settings, "An invalid file keeps its last good form, also over a restart, and shows its error"))
    func testThatAnInvalidFileKeepsItsLastGoodForm() async throws {
        try await withTemporaryDirectory { directory in
            // given
            let file = try directory.write("kit.yml", "repository: /one\n")
            let bots = BotDirectory(directory: directory.path)
            #expect(bots.scan().bots == [kit("/one")])
            // when
            try directory.write("kit.yml", "repository: /two\npol: 5s\n")
            let broken = bots.scan()
            try directory.write("kit.yml", "repository: /three\n")
            let mended = bots.scan()
            // then
            #expect(broken.bots == [kit("/one")])
            #expect(broken.problems.map(\.file) == [file])
            #expect(broken.problems.first?.isLastGoodKept == true)
            #expect(
                broken.problems.first?.diagnostics.map(\.description) == [
                    "\(file):2:1: error: a bot file has no key `pol`; did you mean `poll`?"
                ])
            #expect(mended.bots == [kit("/three")])
            #expect(mended.problems.isEmpty)
        }
    }

    @Test(.proves(.settings, "An invalid file keeps its last good form, also over a restart, and shows its error"))
    func testThatALastGoodFormFromBeforeARestartCounts() async throws {
        try await withTemporaryDirectory { directory in
            try directory.write("kit.yml", "repositry: /two\n")
            let gone = BotSpecification(name: Name(nearest: "gone"), repository: "/gone")
            let scan = BotDirectory(directory: directory.path, lastGood: [kit("/one"), gone]).scan()
            #expect(scan.bots == [kit("/one")], "a bot whose file is gone is gone")
            #expect(scan.problems.count == 1)
        }
    }

    @Test func testThatANewInvalidFileIsNoBot() async throws {
        try await withTemporaryDirectory { directory in
            try directory.write("kit.yml", "")
            let scan = BotDirectory(directory: directory.path).scan()
            #expect(scan.bots.isEmpty)
            #expect(scan.problems.first?.isLastGoodKept == false)
            #expect(scan.problems.first?.bot == Name("kit"))
        }
    }

    @Test func testThatARemovedFilesBotIsGoneAndItsLastGoodFormForgotten() async throws {
        try await withTemporaryDirectory { directory in
            let file = try directory.write("kit.yml", "repository: /one\n")
            let bots = BotDirectory(directory: directory.path)
            #expect(bots.scan().bots.count == 1)
            #expect(unlink(file) == 0)
            #expect(bots.scan().bots.isEmpty)
            try directory.write("kit.yml", "x")
            #expect(bots.scan().bots.isEmpty)
        }
    }

    @Test func testThatADirectoryThatCannotBeReadChangesNoBot() async throws {
        try await withTemporaryDirectory { directory in
            try directory.write("bots/kit.yml", "repository: /one\n")
            let bots = BotDirectory(directory: directory.path("bots"))
            #expect(bots.scan().bots.count == 1)
            #expect(rename(directory.path("bots"), directory.path("elsewhere")) == 0)
            let scan = bots.scan()
            #expect(scan.bots == [kit("/one")])
            #expect(scan.problems.first?.diagnostics.first?.message.contains("cannot be read") == true)
        }
    }

    @Test func testThatFilesWithoutABotsNameAndSecondFilesAreProblems() async throws {
        try await withTemporaryDirectory { directory in
            try directory.write("Kit.yml", "repository: /one\n")
            try directory.write("app.yaml", "repository: /one\n")
            try directory.write("app.yml", "repository: /two\n")
            let scan = BotDirectory(directory: directory.path).scan()
            #expect(scan.bots.map(\.repository) == ["/one"])
            #expect(scan.problems.count == 2)
            #expect(scan.problems[0].diagnostics[0].message.contains("write `kit`"))
            #expect(scan.problems[1].diagnostics[0].message.contains("is in app.yaml already"))
        }
    }

    @Test func testThatHostileFilesAreProblemsAndBlockNothing() async throws {
        try await withTemporaryDirectory { directory in
            try directory.makeDirectory("directory.yml")
            #expect(mkfifo(directory.path("pipe.yml"), 0o644) == 0)
            #expect(symlink("/nowhere", directory.path("link.yml")) == 0)
            try directory.write("large.yml", String(repeating: "#", count: 1 << 20))
            try directory.write("binary.yml", [0x72, 0x0A, 0xFF])
            let scan = BotDirectory(directory: directory.path).scan()
            #expect(scan.bots.isEmpty)
            #expect(scan.problems.count == 5)
        }
    }

    @Test func testThatWarningsAreGivenWithTheBot() async throws {
        try await withTemporaryDirectory { directory in
            try directory.write("kit.yml", "repository: /one\nbranches: []\n")
            let scan = BotDirectory(directory: directory.path).scan()
            #expect(scan.bots.count == 1)
            #expect(scan.problems.first?.diagnostics.map(\.severity) == [.warning])
            #expect(scan.problems.first?.isLastGoodKept == false)
        }
    }

    @Test func testThatMoreFilesThanTheLimitAreProblems() async throws {
        try await withTemporaryDirectory { directory in
            // given
            for number in 0...20 { try directory.write("b\(10 + number).yml", "repository: /one\n") }
            // when
            let scan = BotDirectory(directory: directory.path, maximumFiles: 20).scan()
            // then
            #expect(scan.bots.count == 20)
            #expect(scan.problems.map(\.file) == [directory.path + "/b30.yml"])
            #expect(BotDirectory.maximumFiles == 5000)
        }
    }
}
