import Foundation
import Glibc
import TestSupport
import Testing

/// The time until the daemon gets a processor that a job uses.
@Suite struct ProcessorSliceTests {
    @Test(
        .proves(
            .jobs,
            "The daemon's threads get a processor at once from whoever has had it for a moment, its jobs do not (Linux 6.12)"
        ), .slices, .program("curl"))
    func testThatTheDaemonAnswersSoonAndItsJobsDoNotInheritThat() async throws {
        try await withDaemon { daemon in
            // given
            let usual = try #require(ProcessorSlice.of("/proc/self/sched"))
            // when
            try await run("grep se.slice /proc/self/sched", by: daemon)
            // then
            let tasks = "/proc/\(try #require(daemon.pid))/task"
            let threads = try FileManager.default.contentsOfDirectory(atPath: tasks)
            // A thread may have exited since.
            let slices = threads.compactMap { ProcessorSlice.of("\(tasks)/\($0)/sched") }
            #expect(slices.count > 3)
            #expect(Set(slices) == [100_000], "nanoseconds")
            #expect(ProcessorSlice.in(try await daemon.output("log", "kit#1")) == usual)
        }
    }

    /// Runs a job under the daemon's own launcher.
    private func run(_ command: String, by daemon: Daemon) async throws {
        try await daemon.push(building: command)
        expectContains(try await daemon.completion(of: 1), #""result":"succeeded""#)
    }
}

/// The kernel's value for a thread: `se.slice   :   1400000`, in nanoseconds.
private enum ProcessorSlice {
    static func of(_ file: String) -> Int? { (try? String(contentsOfFile: file, encoding: .utf8)).flatMap(`in`) }

    static func `in`(_ text: String) -> Int? {
        text.split(separator: "\n").last { $0.hasPrefix("se.slice") }?.split(separator: " ").last.flatMap { Int($0) }
    }

    /// Whether a thread can have its own, which is so from Linux 6.12 on.
    static var canBeAsked: Bool {
        var name = utsname()
        uname(&name)
        let release = withUnsafeBytes(of: &name.release) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        let numbers = release.split { !$0.isNumber }.prefix(2).compactMap { Int($0) }
        return numbers.count == 2 && (numbers[0], numbers[1]) >= (6, 12) && of("/proc/self/sched") != nil
    }
}

extension Trait where Self == ConditionTrait {
    fileprivate static var slices: Self {
        .enabled(if: ProcessorSlice.canBeAsked, "the kernel has no slices of one thread, or does not tell them")
    }
}
