import Glibc

/// The free room of a file system. Blocks reserved for root count only if the caller is root.
package struct DiskRoom: Sendable {
    /// The room that the service needs for itself: the database, logs and the ends of jobs. On a small file system it is 1 % of its size.
    private static let floorBytes: Int64 = 256 << 20
    private static let floorFiles: Int64 = 10_000

    /// A resource of which too little is left.
    package enum Shortage: Sendable, Hashable, CustomStringConvertible {
        case bytes(below: Int64)
        case files(below: Int64)

        /// For example `less than 256 MiB left`.
        package var description: String {
            switch self {
            case .bytes(let floor): "less than \(DiskRoom.size(floor)) left"
            case .files(let floor): "fewer than \(floor) files left"
            }
        }
    }

    private let blockSize: Int64
    private let blocks: (free: Int64, floor: Int64)
    /// The floor is 0 if the file system does not count its files (Btrfs).
    private let files: (free: Int64, floor: Int64)

    /// Reads the free room of the file system that holds a path.
    /// - Returns: `nil` if the path does not exist.
    package init?(at path: String) {
        var status = statvfs()
        guard statvfs(path, &status) == 0 else { return nil }
        self.init(status)
    }

    /// Reads the free room of the file system of an open file.
    /// - Returns: `nil` if the descriptor is not open.
    package init?(of descriptor: Int32) {
        var status = statvfs()
        guard fstatvfs(descriptor, &status) == 0 else { return nil }
        self.init(status)
    }

    private init?(_ status: statvfs) {
        guard status.f_frsize > 0 else { return nil }
        let isRoot = geteuid() == 0
        self.init(
            blockSize: Int64(clamping: status.f_frsize), blocks: Int64(clamping: status.f_blocks),
            freeBlocks: Int64(clamping: isRoot ? status.f_bfree : status.f_bavail),
            files: Int64(clamping: status.f_files),
            freeFiles: Int64(clamping: isRoot ? status.f_ffree : status.f_favail))
    }

    /// Computes the room from numbers as in statvfs(3). A file system that states no size has no floor.
    package init(blockSize: Int64, blocks: Int64, freeBlocks: Int64, files: Int64, freeFiles: Int64) {
        // Counted in blocks, because some file systems state more bytes than an Int64 holds.
        self.blockSize = blockSize
        self.blocks = (freeBlocks, min(Self.floorBytes / blockSize, blocks / 100))
        // The service itself creates some 40 files for an integration.
        self.files = (freeFiles, min(Self.floorFiles, max(files / 100, min(64, files / 8))))
    }

    /// The room that the service needs for itself, in bytes and in files.
    package var neededBytes: Int64 { blocks.floor * blockSize }
    package var neededFiles: Int64 { files.floor }

    /// The resource of which too little is left; `nil` if there is enough of both.
    package var shortage: Shortage? { shortage(of: 1) }

    /// The resource of which less than twice the needed room is left; `nil` if both are ample.
    package var shortageOfAmple: Shortage? { shortage(of: 2) }

    package var isAmple: Bool { shortageOfAmple == nil }

    private func shortage(of times: Int64) -> Shortage? {
        if blocks.free < times * blocks.floor { return .bytes(below: times * neededBytes) }
        return files.free < times * files.floor ? .files(below: times * files.floor) : nil
    }

    /// Whether so little is left that even the database may run out of room.
    package var isCritical: Bool { blocks.free < blocks.floor / 8 || files.free < (files.floor + 7) / 8 }

    private static func size(_ bytes: Int64) -> String {
        bytes >= 1 << 20 ? "\(bytes >> 20) MiB" : "\(bytes >> 10) KiB"
    }
}
