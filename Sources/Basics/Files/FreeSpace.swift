import Glibc

/// The space of a file system that is available to users other than root.
package struct FreeSpace: Sendable, Hashable {
    /// The space in bytes. At most `Int64.max`, because some file systems state more than any disk has.
    package let bytes: Int64

    /// Computes the space from the numbers of statvfs(3).
    /// - Parameters:
    ///   - blocks: `f_bavail`.
    ///   - blockSize: `f_frsize`, in bytes.
    package init(blocks: UInt64, blockSize: UInt64) {
        let (product, overflows) = blocks.multipliedReportingOverflow(by: blockSize)
        bytes = overflows ? .max : Int64(clamping: product)
    }

    /// Reads the free space of the file system that holds a path.
    /// - Returns: `nil` if the path does not exist.
    package init?(at path: String) {
        var space = statvfs()
        guard statvfs(path, &space) == 0 else { return nil }
        self.init(blocks: UInt64(space.f_bavail), blockSize: UInt64(space.f_frsize))
    }
}

/// The size of a file system, and the space of it that is available to users other than root.
package struct DiskSpace: Sendable, Hashable {
    /// In bytes.
    package let size: Int64
    /// In bytes.
    package let free: Int64

    /// Reads the space of the file system that holds a path.
    /// - Returns: `nil` if the path does not exist.
    package init?(at path: String) {
        var space = statvfs()
        guard statvfs(path, &space) == 0 else { return nil }
        size = FreeSpace(blocks: UInt64(space.f_blocks), blockSize: UInt64(space.f_frsize)).bytes
        free = FreeSpace(blocks: UInt64(space.f_bavail), blockSize: UInt64(space.f_frsize)).bytes
    }
}
