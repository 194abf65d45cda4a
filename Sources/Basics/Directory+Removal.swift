import CLinux
import Glibc

extension Directory {
    /// Removes a file, a link (never its target) or a whole tree. What is absent is fine.
    ///
    /// Iterative and with two descriptors whatever the depth: a directory that is not empty is first moved up into the
    /// tree's root, so neither the stack, the number of descriptors nor PATH_MAX limits what can be removed. Directories
    /// without permissions are given them first. If it is interrupted, calling it again goes on.
    package func remove(_ path: some RelativePath) throws(FileError) {
        let path = try CheckedPath(path, operation: "remove")
        let parent: Descriptor
        do throws(FileError) {
            parent = try openParent(of: path, operation: "remove")
        } catch  where error.code == .notFound || error.code == .notDirectory {
            return
        }
        if try Self.unlink(path.last, in: parent, shown: whole(path.bytes)) { return }
        let root = try Self.openToEmpty(path.last, in: parent, shown: whole(path.bytes))
        try emptyTree(root, shown: whole(path.bytes))
        guard path.last.withCPath({ unlinkat(parent.number, $0, AT_REMOVEDIR) }) == 0 || errno == ENOENT else {
            throw FileError(operation: "remove", path: whole(path.bytes), errno: errno)
        }
    }

    /// Removes all that a directory holds, and keeps it.
    package func removeContents() throws(FileError) {
        try emptyTree(try open([UInt8(ascii: ".")], O_RDONLY | O_DIRECTORY, operation: "remove"), shown: path)
    }

    /// Sees to it that there is an empty directory of ours. One that is there, is ours and is empty already stays: making one is a write
    /// to the disk.
    /// - Parameter mode: Before the umask.
    package func makeEmptyDirectory(_ path: some RelativePath, mode: UInt16 = 0o755) throws(FileError) {
        if let status = try status(path), status.kind == .directory, status.owner == geteuid(),
            // Fewer rights than that are the umask's doing; without its owner's own it was somebody else's.
            status.mode & ~mode == 0, status.mode & 0o700 == mode & 0o700,
            // More than it may have, or not to be read: it is not empty.
            (try? entries(path, limit: 0).isEmpty) ?? false
        {
            return
        }
        try remove(path)
        try makeDirectories(path, mode: mode)
    }

    private func emptyTree(_ root: Descriptor, shown: String) throws(FileError) {
        // Directories that were moved up into the root, to be emptied there.
        var pending: [[UInt8]] = []
        try Self.empty(root, into: root, pending: &pending, shown: shown)
        while let name = pending.popLast() {
            let directory = try Self.openToEmpty(name, in: root, shown: shown)
            try Self.empty(directory, into: root, pending: &pending, shown: shown)
            guard name.withCPath({ unlinkat(root.number, $0, AT_REMOVEDIR) }) == 0 || errno == ENOENT else {
                throw FileError(operation: "remove", path: shown, errno: errno)
            }
        }
    }

    /// Unlinks what a directory holds; directories that are not empty go up into `root`.
    private static func empty(
        _ directory: Descriptor, into root: Descriptor, pending: inout [[UInt8]], shown: String
    ) throws(FileError) {
        let isRoot = directory === root
        // In portions, so that a directory of a million names needs no memory for all.
        let portion = 4096
        while true {
            let names = try Self.names(in: directory, limit: portion + pending.count, path: shown).map(\.bytes)
            let waiting = isRoot ? Set(pending) : []
            let left = names.filter { !waiting.contains($0) }
            if left.isEmpty { return }
            for name in left where !(try unlink(name, in: directory, shown: shown)) {
                try permit(name, in: directory, shown: shown)
                let moved = temporaryName()
                let result = name.withCPath { old in
                    moved.withCPath { clinux_renameat2(directory.number, old, root.number, $0, 1) }
                }
                if result != 0 {
                    if errno == ENOENT { continue }
                    throw FileError(operation: "remove", path: shown, errno: errno)
                }
                pending.append(moved)
            }
        }
    }

    /// Unlinks a file or link, or removes an empty directory.
    /// - Returns: False for a directory that is not empty.
    private static func unlink(_ name: [UInt8], in directory: Descriptor, shown: String) throws(FileError) -> Bool {
        if name.withCPath({ unlinkat(directory.number, $0, 0) }) == 0 || errno == ENOENT { return true }
        guard errno == EISDIR else { throw FileError(operation: "remove", path: shown, errno: errno) }
        if name.withCPath({ unlinkat(directory.number, $0, AT_REMOVEDIR) }) == 0 || errno == ENOENT { return true }
        guard errno == ENOTEMPTY || errno == EEXIST else {
            throw FileError(operation: "remove", path: shown, errno: errno)
        }
        return false
    }

    /// Opens a directory whatever its permissions.
    private static func openToEmpty(_ name: [UInt8], in directory: Descriptor, shown: String) throws(FileError)
        -> Descriptor
    {
        try permit(name, in: directory, shown: shown)
        let flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC
        let number = name.withCPath { clinux_open_beneath(directory.number, $0, flags, 0) }
        guard number >= 0 else { throw FileError(operation: "remove", path: shown, errno: errno) }
        return Descriptor(number)
    }

    /// Lets us read, write and search a directory: needed to list it, to empty it and to move it (its `..` changes).
    private static func permit(_ name: [UInt8], in directory: Descriptor, shown: String) throws(FileError) {
        let flags = clinux_o_path | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC
        let number = name.withCPath { clinux_open_beneath(directory.number, $0, flags, 0) }
        guard number >= 0 else { throw FileError(operation: "remove", path: shown, errno: errno) }
        let opened = Descriptor(number)
        let status = try opened.status(operation: "remove", path: shown)
        guard status.mode & 0o700 != 0o700 else { return }
        // fchmod(2) refuses O_PATH descriptors, and chmod by name could be led astray by a link: /proc's name for the
        // descriptor is the way that open(2) gives ("O_PATH").
        guard chmod("/proc/self/fd/\(number)", 0o700) == 0 else {
            throw FileError(operation: "remove", path: shown, errno: errno)
        }
    }
}
