import Basics
import Foundation
import Glibc
import TestSupport
import Testing

extension Daemon {
    /// Returns the daemon's memory, in bytes (proc_pid_status(5), VmRSS).
    func memory(sourceLocation: SourceLocation = #_sourceLocation) throws -> Int {
        let pid = try #require(pid, sourceLocation: sourceLocation)
        let status = try String(contentsOfFile: "/proc/\(pid)/status", encoding: .utf8)
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") }
        let kilobytes = line?.split(whereSeparator: { !$0.isNumber }).first.flatMap { Int($0) }
        return try #require(kilobytes, sourceLocation: sourceLocation) << 10
    }

    /// Expects answers that must always come: to `/health` and to a webhook.
    func expectAnswers(_ delivery: String, sourceLocation: SourceLocation = #_sourceLocation) async throws {
        #expect(try await get("/health").status == 200, sourceLocation: sourceLocation)
        #expect(try await push(delivery: delivery) == 202, sourceLocation: sourceLocation)
    }
}

/// Descriptors for thousands of connections, of the test's process and of its daemon.
enum ManyDescriptors {
    /// Raises the limit as far as the machine allows.
    /// - Returns: Whether it is at least `count`.
    static func raise(to count: Int) -> Bool {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return false }
        limit.rlim_cur = limit.rlim_max
        return setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 && limit.rlim_cur >= rlim_t(count)
    }
}
