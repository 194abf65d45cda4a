import Glibc
package import Testing

/// A small file system that is easily filled.
package enum SmallDisk {
    /// Mounts a tmpfs on a directory while the body runs.
    /// - Parameter size: The size in the format of tmpfs(5).
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
        // It is unmounted lazily, because files that the body opened may still be open.
        try await runExpectingSuccess(["umount", "-l", path])
        try result.get()
    }

    /// Writes a file until there is no room for another byte. Removing the file makes room again.
    /// - Parameter rest: The number of bytes by which the file is shortened afterwards.
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
    /// Skips the test, with that reason, if a tmpfs cannot be mounted.
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
