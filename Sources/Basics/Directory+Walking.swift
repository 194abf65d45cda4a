import CLinux
import Glibc

extension Directory {
    /// Visits everything beneath a path, each directory before what it holds, names in the order of their bytes. Links are
    /// visited as links and never followed.
    /// - Parameters:
    ///   - limit: More entries than this are refused as `tooLarge`.
    ///   - enters: Whether to look into a directory, whose path (relative to this directory) it gets.
    ///   - visit: Gets the path relative to this directory, as bytes since names need not be UTF-8.
    /// - Throws: `FileError`, or what `visit` throws. `tooLarge` also for paths longer than `maximumPathLength`.
    package func walk(
        _ path: some RelativePath = ".", limit: Int, enters: ([UInt8]) throws -> Bool = { _ in true },
        _ visit: (_ path: [UInt8], _ status: FileStatus) throws -> Void
    ) throws {
        let start = try CheckedPath(path, operation: "walk")
        var pending: [[UInt8]] = [start.bytes]
        var count = 0
        while let path = pending.popLast() {
            let isStart = path == start.bytes
            if !isStart {
                count += 1
                guard count <= limit else {
                    throw FileError(
                        code: .tooLarge, operation: "walk", path: whole(start.bytes),
                        message: "more than \(limit) files")
                }
                // Nothing: it went away while we walked.
                guard let status = try self.status(path) else { continue }
                try visit(path, status)
                guard status.kind == .directory, try enters(path) else { continue }
            }
            let prefix = path.elementsEqual(".".utf8) ? [] : path + [UInt8(ascii: "/")]
            for entry in try entries(path, limit: limit).reversed() { pending.append(prefix + entry.bytes) }
        }
    }

    /// Has the directory's names written to the disk.
    package func synchronize() throws(FileError) {
        guard fsync(descriptor) == 0 else { throw FileError(operation: "fsync", path: path, errno: errno) }
    }

    /// Has every file and directory of a tree written to the disk, what a directory holds before itself.
    package func synchronizeTree(_ path: some RelativePath = ".") throws(FileError) {
        var directories: [[UInt8]] = [path.pathBytes]
        do {
            try walk(path, limit: 10_000_000) { path, status in
                switch status.kind {
                case .directory: directories.append(path)
                case .file:
                    let file = try open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, operation: "fsync")
                    try file.synchronize(path: whole(path))
                case .link, .other: break
                }
            }
            for directory in directories.reversed() {
                let opened = try open(directory, O_RDONLY | O_DIRECTORY, operation: "fsync")
                try opened.synchronize(path: whole(directory))
            }
        } catch let error as FileError {
            throw error
        } catch {
            throw FileError(code: .other, operation: "fsync", path: self.path, message: "\(error)")
        }
    }
}
