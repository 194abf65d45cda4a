package import Basics
import Glibc

/// The file operations of staging and publishing, together in one place: what they do to the disk, in which order, is what
/// "appears whole or not at all" rests on, and tests fail each of them once.
package protocol VersionFiles: Sendable {
    /// Creates a directory and the missing directories above it.
    /// - Parameter mode: The mode of new directories, before the umask.
    func makeDirectory(_ path: String, mode: UInt16, in directory: Directory) throws(FileError)
    /// Copies a file of the operator's own; the copy has mode 0444.
    func copy(_ source: String, to directory: Directory, _ path: String) throws(FileError)
    /// Writes a new file of mode 0444.
    func write(_ bytes: [UInt8], to directory: Directory, _ path: String) throws(FileError)
    /// Has a tree written to the disk, its root too.
    func synchronizeTree(_ path: String, in directory: Directory) throws(FileError)
    /// Has a directory's names written to the disk.
    func synchronize(_ directory: Directory) throws(FileError)
    /// Renames, never over something: `exists` then.
    func move(_ path: String, in directory: Directory, to other: Directory, _ newPath: String) throws(FileError)
    /// Removes a tree.
    func remove(_ path: String, in directory: Directory) throws(FileError)
}

/// The disk.
package struct DiskVersionFiles: VersionFiles {
    /// Largest published file, 64 GiB.
    package static let maximumFileSize: Int64 = 64 << 30

    package init() {}

    /// See `VersionFiles`. What is there already is fine.
    package func makeDirectory(_ path: String, mode: UInt16, in directory: Directory) throws(FileError) {
        try directory.makeDirectories(path, mode: mode)
    }

    /// See `VersionFiles`.
    /// - Throws: `FileError`, also for a source that is no regular file, or is larger than `maximumFileSize`.
    package func copy(_ source: String, to directory: Directory, _ path: String) throws(FileError) {
        let slash = source.lastIndex(of: "/")
        let above = slash.map { $0 == source.startIndex ? "/" : String(source[..<$0]) } ?? "."
        let name = slash.map { String(source[source.index(after: $0)...]) } ?? source
        let from = try Directory(opening: above)
        _ = try from.copyFile(name, to: directory, path, limit: Self.maximumFileSize)
        let descriptor = try directory.openForReading(path)
        defer { close(descriptor) }
        guard fchmod(descriptor, 0o444) == 0 else {
            throw FileError(operation: "chmod", path: directory.path + "/" + path, errno: errno)
        }
    }

    /// See `VersionFiles`.
    package func write(_ bytes: [UInt8], to directory: Directory, _ path: String) throws(FileError) {
        try directory.write(path, bytes: bytes, mode: 0o444)
    }

    /// See `VersionFiles`: fsync of every file, then of its directory.
    package func synchronizeTree(_ path: String, in directory: Directory) throws(FileError) {
        try directory.synchronizeTree(path)
    }

    /// See `VersionFiles`.
    package func synchronize(_ directory: Directory) throws(FileError) { try directory.synchronize() }

    /// See `VersionFiles`: renameat2 with RENAME_NOREPLACE.
    package func move(
        _ path: String, in directory: Directory, to other: Directory, _ newPath: String
    ) throws(FileError) {
        try directory.rename(path, to: other, newPath, replace: false)
    }

    /// See `VersionFiles`. What is absent is fine.
    package func remove(_ path: String, in directory: Directory) throws(FileError) { try directory.remove(path) }
}
