import Foundation
import Glibc
package import Testing

/// Memory groups of control groups version 1.
package enum MemoryGroup {
    private static let place = "/sys/fs/cgroup/memory"

    /// Whether a group can be made here. Under version 2 the units' MemoryMax does the same.
    package static var isPossible: Bool {
        let probe = "\(place)/martlet-probe-\(getpid())-\(UInt32.random(in: 0 ... .max))"
        guard mkdir(probe, 0o755) == 0 else { return false }
        return rmdir(probe) == 0
    }

    /// Runs the body with a group, and removes the group afterwards in any case.
    /// - Parameters:
    ///   - name: A name that is unique in this process.
    ///   - bytes: The limit of memory for all processes of the group together.
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
        // The kernel may still reap the last process of the group. A launcher that was moved here does not search here for the groups of killed
        // supervisors.
        await until("the group is empty") {
            for name in (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? [] { rmdir(path + "/" + name) }
            return rmdir(path) == 0
        }
        try result.get()
    }
}

extension Trait where Self == ConditionTrait {
    /// Skips the test, with that reason, if a memory group of version 1 cannot be made.
    package static var memoryGroup: Self {
        .enabled(if: MemoryGroup.isPossible, "no memory group of cgroup v1 can be made here")
    }
}
