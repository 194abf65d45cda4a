import Execution
import Glibc
import JobProtocol
import TestSupport
import Testing

/// Output of a job that is made to harm the keeper of its log: rows B4 and J2 of the threats.
@Suite(.proves(.jobs, "A log's limit, `log:` in the bot file, 64 KiB to 1 GiB"))
struct LogThreatTests {
    struct Flood: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var script: String
    }

    /// Each prints without end, and continues when it is asked to end.
    static let floods = [
        Flood(testDescription: "lines without end", script: "yes"),
        Flood(testDescription: "one line without end", script: "tr '\\0' a </dev/zero"),
        Flood(testDescription: "NULs", script: "cat /dev/zero"),
        Flood(testDescription: "bytes that are no text", script: "cat /dev/urandom"),
        Flood(testDescription: "one byte at a time", script: "exec dd if=/dev/zero bs=1 2>/dev/null"),
        Flood(testDescription: "the beginning of a secret", script: "yes canary-of-the-lo | tr -d '\\n'"),
    ]

    @Test(arguments: floods)
    func testThatB4ALogBombEndsAtTheLimitWithAMarker(flood: Flood) async throws {
        try await withLaunched { launched in
            // given
            let limit: Int64 = 1 << 20
            let job = launched.job(
                "trap '' TERM; \(flood.script)", timeout: 600_000, grace: 300_000,
                limits: .init(logBytes: limit, graceMilliseconds: 300_000),
                secrets: ["token"])
            let attempt = launched.attempt()
            try attempt.prepare(job)
            // when
            try await launched.executor.start(attempt, secrets: ["token": "canary-of-the-log"])
            let supervisor = try #require(launched.lockOwner(attempt.paths.lock)?.pid)
            await until("the end of the log", limit: TestLimits.wait * 4) { attempt.logSize > limit }
            // The job goes on, so its supervisor is still there to be measured. Then its processes are killed.
            let peak = Self.peakKilobytes(of: supervisor)
            try await until("the end of the job", limit: TestLimits.wait * 4) {
                // What a killed child leaves becomes the supervisor's child.
                for child in Self.children(of: supervisor) { kill(child, SIGKILL) }
                return try attempt.status().last?.isFinished ?? false
            }
            // then
            let end = try await launched.end(of: attempt)
            #expect(end.result == .failed)
            #expect(end.limit == "log over 1 MiB")
            let tail = String(decoding: try attempt.readLog(from: limit - 10, count: 4096), as: UTF8.self)
            expectContains(tail, "\nmartlet: log over 1 MiB; the rest is not kept\n")
            #expect(attempt.logSize < limit + 1024)
            #expect(peak > 0 && peak < 32 << 10, "the supervisor took up \(peak) KiB")
            var index = stat()
            #expect(stat(attempt.paths.logIndex, &index) == 0 && Int64(index.st_size) < limit)
        }
    }

    @Test func testThatJ2WhatIsNoTextIsKeptAsItWasPrinted() async throws {
        try await withLaunched { launched in
            // given: invalid UTF-8, NULs, endless escapes, no newline
            let job = launched.job(#"printf 'a\0\0\377\376\303\050\033]0;'; printf '\302'"#)
            // when
            let end = try await launched.run(job)
            // then
            #expect(end.result == .completed)
            let log = try end.attempt.readLog(from: 0, count: 100)
            #expect(log == [0x61, 0, 0, 0xFF, 0xFE, 0xC3, 0x28, 0x1B, 0x5D, 0x30, 0x3B, 0xC2])
        }
    }

    /// Returns the children of a process with one thread; proc_pid_task(5).
    private static func children(of process: Int32) -> [Int32] {
        let text = SmallFile.read("/proc/\(process)/task/\(process)/children", limit: 8192) ?? []
        return String(decoding: text, as: UTF8.self).split(separator: " ").compactMap { Int32($0) }
    }

    /// Returns the peak memory of a process, in KiB; 0 if it has exited.
    private static func peakKilobytes(of process: Int32) -> Int {
        let text = String(decoding: SmallFile.read("/proc/\(process)/status", limit: 8192) ?? [], as: UTF8.self)
        let line = text.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
        return line?.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
    }
}
