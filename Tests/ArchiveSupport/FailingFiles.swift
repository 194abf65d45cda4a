package import Basics
import Releases
import TestSupport

/// The disk of published versions of which the n-th operation fails, before or after its work.
package final class FailingFiles: VersionFiles {
    private let disk = DiskVersionFiles()
    private let left: Locked<Int>
    private let isDoneFirst: Bool

    /// - Parameters:
    ///   - count: The number of the failing operation, counted from 1.
    ///   - isDoneFirst: Whether the operation does its work before it fails, so that only its answer is lost.
    package init(failing count: Int, isDoneFirst: Bool) {
        left = Locked(count)
        self.isDoneFirst = isDoneFirst
    }

    /// Whether the failing operation was reached.
    package var wasReached: Bool { left.value <= 0 }

    private func fail(_ body: () throws(FileError) -> Void) throws(FileError) {
        let isNow = left.withLock { left in
            left -= 1
            return left == 0
        }
        if !isNow || isDoneFirst { try body() }
        if isNow {
            throw FileError(code: .other, operation: "test", path: "", errno: 5, message: "Input/output error")
        }
    }

    package func makeDirectory(_ path: String, mode: UInt16, in directory: Directory) throws(FileError) {
        try fail { () throws(FileError) in try disk.makeDirectory(path, mode: mode, in: directory) }
    }

    package func copy(_ source: String, to directory: Directory, _ path: String) throws(FileError) {
        try fail { () throws(FileError) in try disk.copy(source, to: directory, path) }
    }

    package func write(_ bytes: [UInt8], to directory: Directory, _ path: String) throws(FileError) {
        try fail { () throws(FileError) in try disk.write(bytes, to: directory, path) }
    }

    package func synchronizeTree(_ path: String, in directory: Directory) throws(FileError) {
        try fail { () throws(FileError) in try disk.synchronizeTree(path, in: directory) }
    }

    package func synchronize(_ directory: Directory) throws(FileError) {
        try fail { () throws(FileError) in try disk.synchronize(directory) }
    }

    package func move(
        _ path: String, in directory: Directory, to other: Directory, _ newPath: String
    ) throws(FileError) {
        try fail { () throws(FileError) in try disk.move(path, in: directory, to: other, newPath) }
    }

    package func remove(_ path: String, in directory: Directory) throws(FileError) {
        try fail { () throws(FileError) in try disk.remove(path, in: directory) }
    }
}
