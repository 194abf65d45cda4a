import Basics
import Foundation
import TestSupport
import Testing

/// A job has the same user as the daemon and can put anything into its tree.
@Suite struct DirectoryAttackTests {
    /// Makes a file outside the tree that must never be read, changed or removed.
    private func withTarget(_ body: (_ tree: Directory, _ temporary: TemporaryDirectory) async throws -> Void)
        async throws
    {
        try await withTemporaryDirectory { temporary in
            try temporary.write("outside/secret", "secret")
            try temporary.makeDirectory("tree")
            try await body(try Directory(opening: temporary.path("tree")), temporary)
            expectFile(temporary.path("outside/secret"), "secret")
            #expect(try temporary.directory().entries("outside").map(\.name) == ["secret"])
        }
    }

    @Suite struct GivenADirectoryReplacedByALink {
        /// The arguments are the depth of the link, and whether it leads out with a relative or an absolute target.
        @Test(arguments: [0, 1, 5, 40], [true, false])
        func testThatNothingPassesThroughIt(depth: Int, isRelative: Bool) async throws {
            try await DirectoryAttackTests().withTarget { tree, temporary in
                // given
                let parents = (0..<depth).map { "d\($0)" }
                if !parents.isEmpty { try tree.makeDirectories(parents.joined(separator: "/")) }
                let up = String(repeating: "../", count: depth + 1) + "outside"
                let link = (parents + ["link"]).joined(separator: "/")
                try tree.makeLink(link, target: Array((isRelative ? up : temporary.path("outside")).utf8))
                let through = link + "/secret"
                // then
                await expectRejection(FileError.self, \.code, .notBeneath) { try tree.read(through, limit: 99) }
                await expectRejection(FileError.self, \.code, .notBeneath) { try tree.openForReading(through) }
                await expectRejection(FileError.self, \.code, .notBeneath) { try tree.status(through) }
                await expectRejection(FileError.self, \.code, .notBeneath) { try tree.write(through, bytes: [1]) }
                await expectRejection(FileError.self, \.code, .notBeneath) { try tree.write(link + "/new", bytes: [1]) }
                await expectRejection(FileError.self, \.code, .notBeneath) { try tree.makeLink(through, target: [65]) }
                await expectRejection(FileError.self, \.code, .notBeneath) { try tree.makeDirectories(link + "/new") }
                await expectRejection(FileError.self, \.code, .notBeneath) { try tree.remove(through) }
                await expectRejection(FileError.self, \.code, .notBeneath) { try tree.entries(link) }
                await expectRejection(FileError.self, \.code, .notBeneath) { try tree.directory(link) }
                await expectRejection(FileError.self, \.code, .notBeneath) {
                    try tree.rename(through, to: tree, "taken", replace: true)
                }
                await expectRejection(FileError.self, \.code, .notBeneath) {
                    try tree.copyFile(through, to: tree, "taken", limit: 99)
                }
            }
        }

        @Test func testThatALinkInAFilesPlaceIsReplacedAndNotItsTarget() async throws {
            try await DirectoryAttackTests().withTarget { tree, temporary in
                // given
                try tree.makeLink("file", target: Array(temporary.path("outside/secret").utf8))
                await expectRejection(FileError.self, \.code, .notBeneath) { try tree.read("file", limit: 99) }
                // when
                try tree.write("file", bytes: Array("ours".utf8))
                // then
                #expect(try tree.status("file")?.kind == .file)
                #expect(try tree.read("file", limit: 4) == Array("ours".utf8))
            }
        }

        @Test func testThatRemovingItLeavesItsTarget() async throws {
            try await DirectoryAttackTests().withTarget { tree, temporary in
                try tree.makeDirectories("a/b")
                try tree.makeLink("a/b/link", target: Array(temporary.path("outside").utf8))
                try tree.makeLink("link", target: Array(temporary.path("outside").utf8))
                try tree.remove("a")
                try tree.remove("link")
                #expect(try tree.entries().isEmpty)
            }
        }

        @Test func testThatALinkSaysItsTargetAndIsNotFollowed() async throws {
            try await DirectoryAttackTests().withTarget { tree, _ in
                try tree.makeLink("link", target: Array("../outside/secret".utf8))
                #expect(try tree.status("link")?.kind == .link)
                #expect(try tree.linkTarget("link") == Array("../outside/secret".utf8))
            }
        }
    }

    @Test(.proves(.sourceControl, "A checkout is incremental and writes only beneath the workspace's descriptor"))
    func testThatASwapWhileWeWriteNeverLeadsOut() async throws {
        try await withTarget { tree, temporary in
            // given: a directory and a link that swap places all the time
            try tree.makeDirectories("swap")
            try tree.makeLink("other", target: Array("../outside".utf8))
            let isDone = Locked(false)
            let path = temporary.path("tree")
            try await withThrowingTaskGroup(of: Void.self) { group in
                let queue = SerialQueue(label: "swapper")
                group.addTask {
                    await queue.run {
                        while !isDone.withLock({ $0 }) {
                            rename(path + "/swap", path + "/third")
                            rename(path + "/other", path + "/swap")
                            rename(path + "/third", path + "/other")
                        }
                    }
                }
                // when
                var written = 0
                for number in 0..<3000 {
                    // In the middle of a swap the write may fail. Only writes outside of the tree count.
                    if (try? tree.write("swap/secret", bytes: [UInt8(number & 0xFF)])) != nil { written += 1 }
                    _ = try? tree.remove("swap/secret")
                }
                isDone.withLock { $0 = true }
                try await group.waitForAll()
                // then: `withTarget` checks the file outside
                #expect(written > 0)
            }
        }
    }

    @Test func testThatAFileWithASecondNameIsNotCollected() async throws {
        try await withTarget { tree, temporary in
            #expect(link(temporary.path("outside/secret"), temporary.path("tree/report.xml")) == 0)
            await expectRejection(FileError.self, \.code, .notRegular) { try tree.read("report.xml", limit: 99) }
            await expectRejection(FileError.self, \.code, .notRegular) { try tree.openForReading("report.xml") }
            await expectRejection(FileError.self, \.code, .notRegular) {
                try tree.copyFile("report.xml", to: tree, "copy", limit: 99)
            }
            // The file is written beside the other and renamed over it, so the other name keeps its content.
            try tree.write("report.xml", bytes: [1])
        }
    }

    @Test(.timeLimit(TestLimits.minutes(1))) func testThatAPipeIsRefusedAtOnce() async throws {
        try await withTarget { tree, temporary in
            #expect(mkfifo(temporary.path("tree/pipe"), 0o600) == 0)
            await expectRejection(FileError.self, \.code, .notRegular) { try tree.read("pipe", limit: 99) }
            await expectRejection(FileError.self, \.code, .notRegular) { try tree.openForReading("pipe") }
            await expectRejection(FileError.self, \.code, .notRegular) {
                try WholeFile.read(temporary.path("tree/pipe"), limit: 99)
            }
            try tree.write("pipe", bytes: [1])
            #expect(try tree.status("pipe")?.kind == .file)
        }
    }

    @Test func testThatADirectoryInAFilesPlaceIsSaidToBeOne() async throws {
        try await withTarget { tree, _ in
            try tree.makeDirectories("file/below")
            await expectRejection(FileError.self, \.code, .isDirectory) { try tree.write("file", bytes: [1]) }
            await expectRejection(FileError.self, \.code, .isDirectory) { try tree.read("file", limit: 1) }
            #expect(try tree.entries().map(\.name) == ["file"])
        }
    }
}
