import Glibc
import TestSupport
import Testing

@testable import Basics

@Suite struct CrashMarksTests {
    private func marks(_ directory: TemporaryDirectory, version: String = "1") throws -> CrashMarks {
        try CrashMarks(directory: directory.path("state"), version: version)
    }

    /// Leaves the file of a daemon whose process ended while it worked on some subjects.
    /// - Parameter first: The file's first byte: 1 for a trap, 2 for a trap in a request, 0 for a kill.
    private func end(_ directory: TemporaryDirectory, on subjects: [String], first: UInt8 = 1) async throws {
        let marks = try marks(directory)
        var counts: [UInt8]?
        try await Self.nested(marks, subjects[...]) {
            let file = directory.path("state/working")
            var bytes = try WholeFile.read(file, limit: 1 << 20)
            bytes[0] = first
            try AtomicFile.write(bytes, to: directory.path("state/left"))
            counts = try? WholeFile.read(directory.path("state/crashes"), limit: 1 << 20)
        }
        // One daemon completed the work, the other did not.
        if let counts { try AtomicFile.write(counts, to: directory.path("state/crashes")) }
        guard rename(directory.path("state/left"), directory.path("state/working")) == 0 else {
            throw FileError(operation: "rename", path: "left", errno: errno)
        }
    }

    private static func nested(
        _ marks: CrashMarks, _ subjects: ArraySlice<String>, _ body: () throws -> Void
    ) async throws {
        guard let first = subjects.first else { return try body() }
        let result: Result<Void, any Error> = await marks.during(first) {
            do { return .success(try await nested(marks, subjects.dropFirst(), body)) } catch { return .failure(error) }
        }
        try result.get()
    }

    private func withState(_ body: @Sendable (TemporaryDirectory) async throws -> Void) async throws {
        try await withTemporaryDirectory { directory in
            try directory.makeDirectory("state")
            try await body(directory)
        }
    }

    @Test func testThatWhatWasUnderWayAtThreeTrapsIsLeftAlone() async throws {
        try await withState { directory in
            for count in 1...3 {
                #expect(try marks(directory).reason(for: "look a") == nil, "after \(count - 1)")
                try await end(directory, on: ["look a"])
            }
            expectContains(try marks(directory).reason(for: "look a") ?? "", "3 times")
            #expect(try marks(directory).reason(for: "look b") == nil)
        }
    }

    @Test(
        .proves(
            .intake,
            "What ends the daemon by a trap whenever it is worked on is left alone after three times, and said so; all else goes on (W16)"
        ))
    func testThatAKillCountsNothing() async throws {
        try await withState { directory in
            for _ in 1...5 { try await end(directory, on: ["look a"], first: 0) }
            #expect(try marks(directory).reason(for: "look a") == nil)
        }
    }

    @Test(.proves(.intake, "A trap while a request is answered counts against that request alone (W16)"))
    func testThatATrapOfARequestCountsNothing() async throws {
        try await withState { directory in
            for _ in 1...5 { try await end(directory, on: ["integration kit#1"], first: 2) }
            #expect(try marks(directory).reason(for: "integration kit#1") == nil)
        }
    }

    @Test(
        .proves(.intake, "A trap while a request is answered counts against that request alone (W16)"),
        arguments: [false, true])
    func testThatARealTrapSaysWhoseItWas(isAnswer: Bool) async throws {
        try await withState { directory in
            // given
            let path = directory.path("state")
            // when: a separate process traps on a serial queue that works for its caller
            await #expect(processExitsWith: .signal(SIGILL)) { [path = path as String, isAnswer = isAnswer as Bool] in
                let marks = try CrashMarks(directory: path, version: "1")
                await marks.during("integration kit#1") {
                    await AnsweringThread.$isAnswering.withValue(isAnswer) {
                        await SerialQueue(label: "trap").run { _ = raise(SIGILL) }
                    }
                }
            }
            // then
            let bytes = try WholeFile.read(path + "/working", limit: 1 << 20)
            #expect(bytes.first == (isAnswer ? 2 : 1))
        }
    }

    @Test func testThatAnotherVersionTriesAgain() async throws {
        try await withState { directory in
            for _ in 1...3 { try await end(directory, on: ["look a"]) }
            #expect(try marks(directory, version: "2").reason(for: "look a") == nil)
        }
    }

    @Test func testThatWhatComesToItsEndIsNotSuspectAnyMore() async throws {
        try await withState { directory in
            // given
            for _ in 1...2 { try await end(directory, on: ["look a"]) }

            // when
            let now = try marks(directory)
            await now.during("look a") {}

            // then
            try await end(directory, on: ["look a"])
            #expect(try marks(directory).reason(for: "look a") == nil)
        }
    }

    @Test(
        .proves(
            .intake,
            "What ends the daemon by a trap whenever it is worked on is left alone after three times, and said so; all else goes on (W16)"
        ))
    func testThatOfSuspectsOnlyOneIsTriedAtATime() async throws {
        try await withState { directory in
            // given
            try await end(directory, on: ["look a", "look b"])
            let marks = try marks(directory)
            let (begun, yield) = AsyncStream.makeStream(of: String.self)
            let (gate, open) = AsyncStream.makeStream(of: Void.self)

            // when
            let first = Task {
                await marks.during("look a") {
                    yield.yield("a")
                    for await _ in gate { break }
                    _ = yield.yield("a ends")
                }
            }
            var iterator = begun.makeAsyncIterator()
            #expect(await iterator.next() == "a")
            let second = Task { await marks.during("look b") { _ = yield.yield("b") } }
            // Work that is not suspect does not wait.
            await marks.during("look c") { _ = yield.yield("c") }

            // then
            #expect(await iterator.next() == "c")
            open.yield()
            #expect(await iterator.next() == "a ends")
            #expect(await iterator.next() == "b")
            await first.value
            await second.value
        }
    }

    @Test func testThatALongSubjectIsCut() async throws {
        try await withState { directory in
            let long = "look " + String(repeating: "ä", count: 500) + "\n"
            for _ in 1...3 { try await end(directory, on: [long]) }
            #expect(try marks(directory).reason(for: long) != nil)
        }
    }
}
