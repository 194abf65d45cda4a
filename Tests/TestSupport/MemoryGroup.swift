import Foundation
import Glibc
package import Testing

/// Memory groups of control groups of version 1.
package enum MemoryGroup {
    private static let place = "/sys/fs/cgroup/memory"

    /// Whether one can be made here; under version 2 the units' MemoryMax does the same.
    package static var isPossible: Bool {
        let probe = "\(place)/martlet-probe-\(getpid())-\(UInt32.random(in: 0 ... .max))"
        guard mkdir(probe, 0o755) == 0 else { return false }
        return rmdir(probe) == 0
    }

    /// Gives a test one, and takes it away afterwards, whatever happened.
    /// - Parameters:
    ///   - name: Its own in this process.
    ///   - bytes: What is in it may have together.
    package static func with(
        _ name: String, bytes: Int, _ body: (_ path: String) async throws -> Void
    ) async throws {
        let path = "\(place)/martlet-test-\(getpid())-\(name)"
        try #require(mkdir(path, 0o755) == 0, "\(path): \(String(cString: strerror(errno)))")
        let result: Result<Void, any Error>
        do {
            try await runExpectingSuccess(["sh", "-c", "echo \(bytes) > \(path)/memory.limit_in_bytes"])
            result = .success(try await body(path))
        } catch {
            result = .failure(error)
        }
        // The last process of it may still be reaped. And a launcher that was moved here does not look here for the groups of supervisors
        // that were killed.
        await until("the group is empty") {
            for name in (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? [] { rmdir(path + "/" + name) }
            return rmdir(path) == 0
        }
        try result.get()
    }
}

extension Trait where Self == ConditionTrait {
    /// Where a memory group of cgroup v1 can be made.
    package static var memoryGroup: Self {
        .enabled(if: MemoryGroup.isPossible, "no memory group of cgroup v1 can be made here")
    }
}
