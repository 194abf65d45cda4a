import Basics
import Execution
import JobProtocol
import TestSupport
import Testing

@Suite struct AttemptLogTests {
    /// Runs a test with a log of some 0.7 MB, as a build prints it, in the directory of a finished job.
    private func with(
        lines: Int = 12_000, isFinished: Bool = true, _ body: (AttemptDirectory, [UInt8]) async throws -> Void
    ) async throws {
        try await withTemporaryDirectory { temporary in
            let log = (0..<lines).flatMap { number in
                Array(
                    "[\(number)/12000] Compiling Kit File\(number &* 7919 % 1000).swift -O -module-name Kit_\(number &* 31)\n"
                        .utf8)
            }
            try temporary.write("1/log", log)
            let finished = StatusEvent.finished(at: 0, result: .completed, reason: nil, limit: nil, step: nil)
            let events = isFinished ? [.started(step: 0, at: 0), finished] : [StatusEvent.started(step: 0, at: 0)]
            try temporary.write("1/status.jsonl", events.flatMap { $0.line() + [0x0A] })
            try await body(AttemptDirectory(path: temporary.path("1")), log)
        }
    }

    private func names(_ attempt: AttemptDirectory) throws -> Set<String> {
        Set(try Directory(opening: attempt.path).entries().map(\.name)).subtracting(["status.jsonl"])
    }

    @Suite struct GivenAFinishedJob {
        private let tests = AttemptLogTests()

        @Test(.proves(.jobs, "Finished logs compressed, and read alike"))
        func testThatEveryRangeReadsTheSameAfterwards() async throws {
            try await tests.with { attempt, log in
                // when
                try attempt.compressLog()
                // then
                #expect(try tests.names(attempt) == ["log.zst"])
                #expect(attempt.logSize == Int64(log.count))
                let frame = 256 * 1024
                for (offset, count) in [
                    (0, 100), (0, log.count), (frame - 1, 2), (frame, frame), (frame - 7, 2 * frame),
                    (3 * frame + 5, 1),
                    (log.count - 3, 100), (log.count, 10), (log.count + 5, 10), (777, 0),
                ] {
                    let wanted = Array(log[min(offset, log.count)..<min(offset + count, log.count)])
                    #expect(try attempt.readLog(from: Int64(offset), count: count) == wanted, "\(count) from \(offset)")
                }
                let size = try Directory(opening: attempt.path).status("log.zst")?.size ?? .max
                #expect(size < Int64(log.count) / 4)
            }
        }

        @Test(.program("zstd")) func testThatAnyZstdProgramReadsIt() async throws {
            try await tests.with { attempt, log in
                // when
                try attempt.compressLog()
                // then
                let output = attempt.path + "/plain"
                let result = try await run(["zstd", "-q", "-d", attempt.path + "/log.zst", "-o", output])
                #expect(result.status == 0, "\(result.stderr)")
                #expect(try WholeFile.read(output, limit: 16 << 20) == log)
            }
        }

        @Test func testThatWhoReadsItMeanwhileReadsOn() async throws {
            try await tests.with { attempt, log in
                // given
                let open = try #require(try AttemptLog.open(in: attempt.path))
                // when
                try attempt.compressLog()
                // then
                #expect(try open.read(at: 500_000, count: 10) == Array(log[500_000..<500_010]))
            }
        }

        /// The files that a daemon leaves if it is stopped at any point in between.
        @Test(
            .proves(.jobs, "Finished logs compressed, and read alike"),
            arguments: ["nothing", "part of it", "both", "all"])
        func testThatItGoesOnFromWhereverItWasStopped(left: String) async throws {
            try await tests.with { attempt, log in
                // given
                let directory = try Directory(opening: attempt.path)
                if left == "part of it" { try directory.write("log.zst.part", bytes: [0x28, 0xB5, 0x2F]) }
                if left == "both" || left == "all" {
                    try attempt.compressLog()
                    if left == "both" { try directory.write("log", bytes: log) }
                }
                #expect(try attempt.readLog(from: 0, count: 4 << 20) == log, "readable as it was left")
                // when
                try attempt.compressLog()
                // then
                #expect(try tests.names(attempt) == ["log.zst"])
                #expect(try attempt.readLog(from: 0, count: 4 << 20) == log)
            }
        }

        @Test(.proves(.jobs, "Finished logs compressed, and read alike"), .smallDisk)
        func testThatOnAFullDiskTheLogStaysAsItWas() async throws {
            try await withTemporaryDirectory { temporary in
                try temporary.makeDirectory("disk")
                try await SmallDisk.mounted(on: temporary.path("disk")) {
                    // given: 64 KiB of disk, and 40 KB of log that cannot be compressed
                    var state: UInt64 = 1
                    let log = (0..<40_000).map { _ in
                        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                        return UInt8(truncatingIfNeeded: state >> 33)
                    }
                    let directory = try Directory(creating: temporary.path("disk/1"))
                    try directory.write("log", bytes: log)
                    let finished = StatusEvent.finished(at: 0, result: .completed, reason: nil, limit: nil, step: nil)
                    try directory.write("status.jsonl", bytes: finished.line() + [0x0A])
                    let attempt = AttemptDirectory(path: temporary.path("disk/1"))
                    // when
                    await expectRejection(ExecutionError.self, \.code, .directory) { try attempt.compressLog() }
                    // then
                    #expect(try attempt.readLog(from: 0, count: 4 << 20) == log)
                    #expect(try tests.names(attempt) == ["log"], "nothing is left beside it")
                }
            }
        }

        @Test(arguments: ["damaged", "of another log"])
        func testThatACompressedLogThatIsNotTheSameIsMadeAgain(left: String) async throws {
            try await tests.with { attempt, log in
                // given
                let directory = try Directory(opening: attempt.path)
                if left == "damaged" {
                    try directory.write("log.zst", bytes: [1, 2, 3])
                } else {
                    try directory.write("log", bytes: Array(log.dropLast(1000)))
                    try attempt.compressLog()
                    try directory.write("log", bytes: log)
                }
                // when
                try attempt.compressLog()
                // then
                #expect(try tests.names(attempt) == ["log.zst"])
                #expect(try attempt.readLog(from: 0, count: 4 << 20) == log)
            }
        }

        @Test func testThatASmallLogIsLeftAlone() async throws {
            try await tests.with(lines: 10) { attempt, _ in
                try attempt.compressLog()
                #expect(try tests.names(attempt) == ["log"])
            }
        }

        @Test(arguments: ["a frame", "the table", "the end"])
        func testThatADamagedLogIsNotShownAsAnother(place: String) async throws {
            try await tests.with { attempt, log in
                // given
                try attempt.compressLog()
                let directory = try Directory(opening: attempt.path)
                var bytes = try directory.read("log.zst", limit: 4 << 20)
                switch place {
                case "a frame": bytes[1000] ^= 0xFF
                case "the table": bytes[bytes.count - 20] ^= 0x01
                default: bytes.removeLast(3)
                }
                try directory.write("log.zst", bytes: bytes)
                // when, then
                await expectRejection(ExecutionError.self, \.code, .malformed) {
                    _ = try attempt.readLog(from: 0, count: 4 << 20)
                }
            }
        }
    }

    @Suite struct GivenAJobThatRuns {
        private let tests = AttemptLogTests()

        @Test func testThatItsLogIsLeftAlone() async throws {
            try await tests.with(isFinished: false) { attempt, _ in
                try attempt.compressLog()
                #expect(try tests.names(attempt) == ["log"])
            }
        }
    }
}
