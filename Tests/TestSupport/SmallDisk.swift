import Glibc
package import Testing

/// A file system that is soon full.
package enum SmallDisk {
    /// Mounts a tmpfs on a directory for the time of the body.
    /// - Parameter size: As tmpfs(5) reads it.
    package static func mounted(
        on path: String, size: String = "64k", _ body: () async throws -> Void
    ) async throws {
        try await runExpectingSuccess(["mount", "-t", "tmpfs", "-o", "size=\(size)", "tmpfs", path])
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

    /// Writes a file until there is no room for a byte more; removing it makes room again.
    /// - Parameter rest: Bytes by which the file is shortened then.
    package static func fill(with path: String, leaving rest: Int = 0) throws {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o644)
        try #require(descriptor >= 0, "\(path) cannot be made: \(String(cString: strerror(errno)))")
        defer { close(descriptor) }
        let bytes = [UInt8](repeating: 0, count: 1 << 16)
        while write(descriptor, bytes, bytes.count) > 0 {}
        let number = errno
        try #require(number == ENOSPC, "\(path): \(String(cString: strerror(number)))")
        var status = stat()
        try #require(fstat(descriptor, &status) == 0 && ftruncate(descriptor, status.st_size - rest) == 0)
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
