import CLinux
import Glibc

extension Directory {
    /// Removes a file, a link (never its target) or a whole tree. Does not fail if the path does not exist.
    ///
    /// It is iterative and uses two descriptors at any depth: a directory that is not empty is first moved to the tree's root. The stack, the number
    /// of descriptors and PATH_MAX therefore do not limit it. Directories that lack permissions get them first. If it is interrupted, call it again
    /// to continue.
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

    /// Removes everything in this directory, but not the directory.
    package func removeContents() throws(FileError) {
        try emptyTree(try open([UInt8(ascii: ".")], O_RDONLY | O_DIRECTORY, operation: "remove"), shown: path)
    }

    /// Makes sure that `path` is an empty directory of this process's user. An existing one is kept, because creating one writes to the disk.
    /// Everything else at `path` is removed.
    /// - Parameter mode: The mode before the umask is applied.
    package func makeEmptyDirectory(_ path: some RelativePath, mode: UInt16 = 0o755) throws(FileError) {
        if let status = try status(path), status.kind == .directory, status.owner == geteuid(),
            // The umask may have removed rights of others. If the owner's rights differ, the directory was not made here.
            status.mode & ~mode == 0, status.mode & 0o700 == mode & 0o700,
            // An error means that the directory has more than 0 entries or cannot be read: it counts as not empty.
            (try? entries(path, limit: 0).isEmpty) ?? false
        {
            return
        }
        try remove(path)
        try makeDirectories(path, mode: mode)
    }

    private func emptyTree(_ root: Descriptor, shown: String) throws(FileError) {
        // Directories that were moved to the root and are still to be emptied.
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

    /// Unlinks what a directory holds, and moves directories that are not empty to `root`.
    private static func empty(
        _ directory: Descriptor, into root: Descriptor, pending: inout [[UInt8]], shown: String
    ) throws(FileError) {
        let isRoot = directory === root
        // Works in portions, so that a directory of a million names needs no memory for all of them.
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
    /// - Returns: `false` for a directory that is not empty; `true` if the name is gone.
    private static func unlink(_ name: [UInt8], in directory: Descriptor, shown: String) throws(FileError) -> Bool {
        if name.withCPath({ unlinkat(directory.number, $0, 0) }) == 0 || errno == ENOENT { return true }
        guard errno == EISDIR else { throw FileError(operation: "remove", path: shown, errno: errno) }
        if name.withCPath({ unlinkat(directory.number, $0, AT_REMOVEDIR) }) == 0 || errno == ENOENT { return true }
        guard errno == ENOTEMPTY || errno == EEXIST else {
            throw FileError(operation: "remove", path: shown, errno: errno)
        }
        return false
    }

    /// Opens a directory after giving its owner all permissions.
    private static func openToEmpty(_ name: [UInt8], in directory: Descriptor, shown: String) throws(FileError)
        -> Descriptor
    {
        try permit(name, in: directory, shown: shown)
        let flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC
        let number = name.withCPath { clinux_open_beneath(directory.number, $0, flags, 0) }
        guard number >= 0 else { throw FileError(operation: "remove", path: shown, errno: errno) }
        return Descriptor(number)
    }

    /// Gives the owner permission to read, write and search a directory. Listing, emptying and moving it (its `..` changes) need them.
    private static func permit(_ name: [UInt8], in directory: Descriptor, shown: String) throws(FileError) {
        let flags = clinux_o_path | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC
        let number = name.withCPath { clinux_open_beneath(directory.number, $0, flags, 0) }
        guard number >= 0 else { throw FileError(operation: "remove", path: shown, errno: errno) }
        let opened = Descriptor(number)
        let status = try opened.status(operation: "remove", path: shown)
        guard status.mode & 0o700 != 0o700 else { return }
        // fchmod(2) refuses O_PATH descriptors, and a link could redirect chmod(2) by name. open(2) ("O_PATH") gives this way: the descriptor's name
        // in /proc.
        guard chmod("/proc/self/fd/\(number)", 0o700) == 0 else {
            throw FileError(operation: "remove", path: shown, errno: errno)
        }
    }
}
