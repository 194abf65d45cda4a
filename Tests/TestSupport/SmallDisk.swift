package import Testing

/// A file system that is soon full.
package enum SmallDisk {
    /// Mounts a tmpfs of 64 KiB on a directory for the time of the body.
    package static func mounted(on path: String, _ body: () async throws -> Void) async throws {
        try await runExpectingSuccess(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", path])
        let result: Result<Void, any Error>
        do {
            result = .success(try await body())
        } catch {
            result = .failure(error)
        }
        // Lazily: what the body opened may not be closed yet.
        try await runExpectingSuccess(["umount", "-l", path])
        try result.get()
    }
}

extension Trait where Self == ConditionTrait {
    /// Skips the test, and says so, where a tmpfs cannot be mounted.
    package static var smallDisk: Self {
        .enabled("a tmpfs cannot be mounted here") {
            try await withTemporaryDirectory { directory in
                let mount = try await run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", directory.path])
                if mount.status == 0 { try await runExpectingSuccess(["umount", directory.path]) }
                return mount.status == 0
            }
        }
    }
}
