import Basics
import Foundation
import TestSupport
import Testing

@Suite struct AtomicFileTests {
    @Test func testThatItReplacesTheWholeContent() async throws {
        try await withTemporaryDirectory { temporary in
            try temporary.write("file", "old and longer")
            try AtomicFile.write(Array("new".utf8), to: temporary.path("file"), mode: 0o640)
            expectFile(temporary.path("file"), "new")
            #expect(try temporary.directory().status("file")?.mode == 0o640)
            #expect(try temporary.directory().entries().map(\.name) == ["file"])
        }
    }

    @Test func testThatAFailureLeavesTheOldContentAndNothingBeside() async throws {
        try await withTemporaryDirectory { temporary in
            try temporary.write("file/inside", "kept")
            await expectRejection(FileError.self, \.code, .isDirectory) {
                try AtomicFile.write([1], to: temporary.path("file"))
            }
            await expectRejection(FileError.self, \.code, .notFound) {
                try AtomicFile.write([1], to: temporary.path("absent/file"))
            }
            expectFile(temporary.path("file/inside"), "kept")
            #expect(try temporary.directory().entries().map(\.name) == ["file"])
        }
    }

    @Test(
        .proves(
            .testsAndPages,
            "What a kill left beside a small file that was being written goes with the next write of that file; what is still being written stays"
        ))
    func testThatWhatAKillLeftGoesWithTheNextWrite() async throws {
        try await withTemporaryDirectory { temporary in
            // given: beside it a file that is not from its writes
            let name = "abcdefghijklmnopqrstuvwx27"
            try temporary.write("file.\(name)", "ha")
            let others = ["file.\(name)a", "file.\(name.dropLast())", "file.\(name.dropLast())1", "other.\(name)"]
            for other in others { try temporary.write(other, "kept") }
            let directory = try temporary.directory()
            try directory.makeDirectories("file.\(String(name.reversed()))")
            try directory.makeLink("file.\(String(name.dropFirst()))a", target: Array("other.\(name)".utf8))
            let kept = try directory.entries().map(\.name).filter { $0 != "file.\(name)" }

            // when
            try AtomicFile.write(Array("half".utf8), to: temporary.path("file"))

            // then
            #expect(try directory.entries().map(\.name) == (kept + ["file"]).sorted())
            expectFile(temporary.path("file"), "half")
        }
    }

    @Test(
        .proves(
            .testsAndPages,
            "What a kill left beside a small file that was being written goes with the next write of that file; what is still being written stays"
        ))
    func testThatAWriteTakesNoneAwayThatIsStillGoingOn() async throws {
        try await withTemporaryDirectory { temporary in
            // given
            let left = temporary.path("file.abcdefghijklmnopqrstuvwx27")
            var writer = try FileLock(path: left, contents: "ha")
            #expect(writer != nil)

            // when, then
            try AtomicFile.write([1], to: temporary.path("file"))
            expectFile(left, "ha")

            // and when: the writer is killed
            writer = nil
            try AtomicFile.write([1], to: temporary.path("file"))
            #expect(try temporary.directory().entries().map(\.name) == ["file"])
        }
    }

    @Test(
        .proves(
            .testsAndPages,
            "What a kill left beside a small file that was being written goes with the next write of that file; what is still being written stays"
        ))
    func testThatManyWriteOneFileAtATime() async throws {
        try await withTemporaryDirectory { temporary in
            // when
            let path = temporary.path("file")
            try await withThrowingTaskGroup { group in
                for number in UInt8(0)..<4 {
                    group.addTask {
                        try await SerialQueue(label: "writer \(number)").run { () throws(FileError) -> Void in
                            for _ in 0..<25 { try AtomicFile.write([number], to: path) }
                        }
                    }
                }
                try await group.waitForAll()
            }

            // then
            #expect(try temporary.directory().entries().map(\.name) == ["file"])
            #expect(try WholeFile.read(path, limit: 9).count == 1)
        }
    }

    @Test func testThatAFullDiskIsNamed() async throws {
        // /dev/full accepts no byte (full(4)). The write goes to a file beside it, into a directory that accepts none either.
        await expectRejection(FileError.self, \.code, .notRegular) { try WholeFile.read("/dev/full", limit: 9) }
        #expect(FileError(operation: "write", path: "x", errno: ENOSPC).code == .noSpace)
        #expect(FileError(operation: "write", path: "x", errno: EDQUOT).code == .noSpace)
    }
}

@Suite struct WholeFileTests {
    @Test func testThatItReadsFilesOfTheKernelThatSayTheyAreEmpty() throws {
        #expect(try WholeFile.read("/proc/self/stat", limit: 4096).count > 20)
    }

    @Test func testThatItHoldsItsLimit() async throws {
        try await withTemporaryDirectory { temporary in
            let path = try temporary.write("file", String(repeating: "x", count: 200_000))
            #expect(try WholeFile.read(path, limit: 200_000).count == 200_000)
            await expectRejection(FileError.self, \.code, .tooLarge) { try WholeFile.read(path, limit: 199_999) }
            await expectRejection(FileError.self, \.code, .tooLarge) { try WholeFile.read("/proc/self/maps", limit: 9) }
        }
    }

    @Test func testThatTheMessageSaysWhatWasTriedOnWhatAndWhatHappened() async throws {
        let error = await expectRejection(FileError.self, \.code, .notFound) {
            try WholeFile.read("/nonexistent/file", limit: 9)
        }
        #expect(error?.description == "read of /nonexistent/file failed: No such file or directory")
    }
}

@Suite struct FileLockTests {
    @Test(.proves(.badInput, "A second daemon on the same state is refused"))
    func testThatOnlyOneHoldsItUntilItIsGone() async throws {
        try await withTemporaryDirectory { temporary in
            // given
            let path = temporary.path("lock")
            var first = try FileLock(path: path, contents: "first holder\n")
            #expect(first != nil)
            // when
            let second = try FileLock(path: path, contents: "second\n")
            // then
            #expect(second == nil)
            expectFile(path, "first holder\n")
            first = nil
            #expect(try FileLock(path: path, contents: "third\n") != nil)
            expectFile(path, "third\n")
        }
    }

    @Test func testThatItDoesNotWriteThroughALink() async throws {
        try await withTemporaryDirectory { temporary in
            try temporary.write("target", "kept")
            try temporary.directory().makeLink("lock", target: Array("target".utf8))
            await expectRejection(FileError.self, \.code, .notBeneath) {
                try FileLock(path: temporary.path("lock"), contents: "x")
            }
            expectFile(temporary.path("target"), "kept")
        }
    }
}
