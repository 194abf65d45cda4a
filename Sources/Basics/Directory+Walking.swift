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
        var pending: [(path: [UInt8], status: FileStatus?)] = [(start.bytes, nil)]
        var count = 0
        while let (path, status) = pending.popLast() {
            if let status {
                count += 1
                guard count <= limit else {
                    throw FileError(
                        code: .tooLarge, operation: "walk", path: whole(start.bytes),
                        message: "more than \(limit) files")
                }
                try visit(path, status)
                guard status.kind == .directory, try enters(path) else { continue }
            }
            let found: [([UInt8], FileStatus)]
            do throws(FileError) {
                found = try statuses(in: path, limit: limit)
            } catch {
                // It went away while we walked.
                if status != nil, error.code == .notFound { continue }
                throw error
            }
            for (name, status) in found.reversed() {
                pending.append((path.elementsEqual(".".utf8) ? name : path + [UInt8(ascii: "/")] + name, status))
            }
        }
    }

    /// The names in a directory with their statuses, without what went away meanwhile, sorted by their bytes.
    ///
    /// One call for each, fstatat(2) of a single name beneath the opened directory, follows nothing; what it finds on another
    /// device, a mount or a file of an overlay, is asked for by its whole path, which does not lead into mounts.
    private func statuses(in path: [UInt8], limit: Int) throws(FileError) -> [([UInt8], FileStatus)] {
        let opened = try open(path, O_RDONLY | O_DIRECTORY, operation: "walk")
        let device = try opened.status(operation: "walk", path: whole(path)).device
        let names = try Self.names(in: opened, limit: limit + 1, path: whole(path))
        guard names.count <= limit else {
            throw FileError(code: .tooLarge, operation: "walk", path: whole(path), message: "more than \(limit) names")
        }
        var result: [([UInt8], FileStatus)] = []
        result.reserveCapacity(names.count)
        for name in names.map(\.bytes).sorted(by: { $0.lexicographicallyPrecedes($1) }) {
            var found = stat()
            if name.withCPath({ fstatat(opened.number, $0, &found, AT_SYMLINK_NOFOLLOW) }) != 0 {
                guard errno == ENOENT else { throw FileError(operation: "stat", path: whole(path), errno: errno) }
            } else if UInt64(found.st_dev) == device {
                result.append((name, FileStatus(found)))
            } else if let status = try self.status(path + [UInt8(ascii: "/")] + name) {
                result.append((name, status))
            }
        }
        return result
    }

    /// Has the directory's names written to the disk.
    package func synchronize() throws(FileError) {
        guard fsync(descriptor) == 0 else { throw FileError(operation: "fsync", path: path, errno: errno) }
    }

    /// Writes everything to the disk that was written to the directory's file system, by whichever process (syncfs(2)).
    package func synchronizeFileSystem() throws(FileError) {
        guard clinux_syncfs(descriptor) == 0 else { throw FileError(operation: "syncfs", path: path, errno: errno) }
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
