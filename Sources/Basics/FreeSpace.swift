import Glibc

/// What a file system still has for those who are not root.
package struct FreeSpace: Sendable, Hashable {
    /// At most `Int64.max`: some file systems state more than any disk has.
    package let bytes: Int64

    /// - Parameters:
    ///   - blocks: `f_bavail` of statvfs(3).
    ///   - blockSize: `f_frsize`, in bytes.
    package init(blocks: UInt64, blockSize: UInt64) {
        let (product, overflows) = blocks.multipliedReportingOverflow(by: blockSize)
        bytes = overflows ? .max : Int64(clamping: product)
    }

    /// Where a path lies; nothing where there is no such path.
    package init?(at path: String) {
        var space = statvfs()
        guard statvfs(path, &space) == 0 else { return nil }
        self.init(blocks: UInt64(space.f_bavail), blockSize: UInt64(space.f_frsize))
    }
}
