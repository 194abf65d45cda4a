import CLinux
import Glibc

extension Directory {
    /// Visits everything beneath a path. A directory comes before its contents, and names are in the order of their bytes. Symbolic links are visited
    /// as links and never followed.
    /// - Parameters:
    ///   - limit: The largest number of entries.
    ///   - enters: Returns whether to visit a directory's contents. Gets the directory's path relative to this directory.
    ///   - visit: Gets each path relative to this directory, as bytes, because names need not be UTF-8.
    /// - Throws: `FileError`, or what `visit` and `enters` throw. `tooLarge` if there are more than `limit` entries, or a path is longer than
    ///   `maximumPathLength`.
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
                // The directory was removed meanwhile.
                if status != nil, error.code == .notFound { continue }
                throw error
            }
            for (name, status) in found.reversed() {
                pending.append((path.elementsEqual(".".utf8) ? name : path + [UInt8(ascii: "/")] + name, status))
            }
        }
    }

    /// Returns the names in a directory with their statuses, sorted by their bytes. Names that were removed meanwhile are left out.
    ///
    /// It calls fstatat(2) with each name and the open directory, which follows no links. An entry on another device is a mount or a file of an
    /// overlay. Its status is read by its whole path instead, which does not lead into mounts.
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

    /// Writes the directory's names to the disk (fsync(2)).
    package func synchronize() throws(FileError) {
        guard fsync(descriptor) == 0 else { throw FileError(operation: "fsync", path: path, errno: errno) }
    }

    /// Writes all changes of the directory's file system to the disk, of all processes (syncfs(2)).
    package func synchronizeFileSystem() throws(FileError) {
        guard clinux_syncfs(descriptor) == 0 else { throw FileError(operation: "syncfs", path: path, errno: errno) }
    }

    /// Writes every file and directory of a tree to the disk. A directory's contents are written before the directory.
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
