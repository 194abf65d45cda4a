import Basics
import Execution
import Glibc
import JobProtocol

/// Bytes and files that the state directory holds in reserve and releases when the disk is full. The database can then still store the results of
/// jobs, and retention can remove old files.
struct DiskReserve: Sendable {
    /// At most a quarter of the room that the service needs for itself, so that releasing it makes no room for jobs.
    private static let largestBytes: Int64 = 16 << 20
    private static let mostFiles: Int64 = 32
    /// The file of the reserve that holds the bytes.
    private static let name = "bytes"

    let state: StateDirectory

    var isThere: Bool { access(state.reserve + "/" + Self.name, F_OK) == 0 }

    /// Creates the reserve, if there is ample room.
    /// - Throws: `FileError`.
    func keep(_ room: DiskRoom) throws(FileError) {
        guard room.isAmple else { return }
        let directory = try Directory(creating: state.reserve, mode: 0o700)
        guard try directory.status(Self.name) == nil else { return }
        for number in 0..<min(Self.mostFiles, room.neededFiles / 4) {
            try directory.write("\(number)", bytes: [], mode: 0o600)
        }
        let path = directory.path + "/" + Self.name
        let file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw FileError(operation: "make", path: path, errno: errno) }
        defer { close(file) }
        let failure = posix_fallocate(file, 0, off_t(max(1, min(Self.largestBytes, room.neededBytes / 4))))
        guard failure == 0 else {
            unlink(path)
            throw FileError(operation: "reserve room in", path: path, errno: failure)
        }
    }

    /// Releases the reserve if almost nothing is left.
    /// - Returns: Whether there was a reserve.
    func release(_ room: DiskRoom) throws(FileError) -> Bool {
        guard room.isCritical, isThere else { return false }
        try Directory(opening: state.reserve).removeContents()
        return true
    }
}

extension StateDirectory {
    /// Releases the reserve if the disk is full, before the database is opened.
    /// - Returns: What the disk is short of, in words; `nil` if it has enough.
    package func releaseReserve() -> String? {
        guard let room = DiskRoom(at: path) else { return nil }
        // A failed removal is no reason not to try to start.
        _ = try? DiskReserve(state: self).release(room)
        return room.shortage.map { "\(path) has \($0)" }
    }
}
