package import Basics
import Glibc

/// The file operations of staging and publishing. Their order on the disk guarantees that a version appears completely or not at all. Tests let each
/// of them fail once.
package protocol VersionFiles: Sendable {
    /// Creates a directory and the missing directories above it.
    /// - Parameter mode: The mode of new directories, before the umask.
    func makeDirectory(_ path: String, mode: UInt16, in directory: Directory) throws(FileError)
    /// Copies a file that the operator chose. The copy has mode 0444.
    func copy(_ source: String, to directory: Directory, _ path: String) throws(FileError)
    /// Writes a new file of mode 0444.
    func write(_ bytes: [UInt8], to directory: Directory, _ path: String) throws(FileError)
    /// Writes a tree to the disk, including its root directory.
    func synchronizeTree(_ path: String, in directory: Directory) throws(FileError)
    /// Writes a directory's names to the disk.
    func synchronize(_ directory: Directory) throws(FileError)
    /// Renames without replacing.
    /// - Throws: `exists` if the new path exists.
    func move(_ path: String, in directory: Directory, to other: Directory, _ newPath: String) throws(FileError)
    /// Removes a tree.
    func remove(_ path: String, in directory: Directory) throws(FileError)
}

/// The file operations on the real disk.
package struct DiskVersionFiles: VersionFiles {
    /// The size limit of a published file in bytes: 64 GiB.
    package static let maximumFileSize: Int64 = 64 << 30

    package init() {}

    /// See `VersionFiles`. Existing directories are accepted.
    package func makeDirectory(_ path: String, mode: UInt16, in directory: Directory) throws(FileError) {
        try directory.makeDirectories(path, mode: mode)
    }

    /// See `VersionFiles`.
    /// - Throws: `FileError`, also if the source is not a regular file, or is larger than `maximumFileSize`.
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

    /// See `VersionFiles`. Calls fsync(2) for every file, then for its directory.
    package func synchronizeTree(_ path: String, in directory: Directory) throws(FileError) {
        try directory.synchronizeTree(path)
    }

    /// See `VersionFiles`.
    package func synchronize(_ directory: Directory) throws(FileError) { try directory.synchronize() }

    /// See `VersionFiles`. Uses renameat2(2) with RENAME_NOREPLACE.
    package func move(
        _ path: String, in directory: Directory, to other: Directory, _ newPath: String
    ) throws(FileError) {
        try directory.rename(path, to: other, newPath, replace: false)
    }

    /// See `VersionFiles`. Does not fail if the path does not exist.
    package func remove(_ path: String, in directory: Directory) throws(FileError) { try directory.remove(path) }
}
