import CLinux
import Glibc
import JobProtocol

/// A root file system on disk as the root of a fence. Bubblewrap cannot make mount points in what it mounts read-only, so
/// the root is a directory in memory into which the image's own entries are mounted one by one; where something of ours
/// lies deeper and the image has no place for it, its directories are taken apart the same way.
struct ImageRoot {
    /// The most entries that are mounted. A directory that is taken apart is /etc or /home; 1,000 is far beyond both.
    private static let entryLimit = 1000

    let path: String

    /// - Parameters:
    ///   - directories: Where directories will be mounted.
    ///   - files: Where files will be.
    func options(directories: [String], files: [String]) throws(Fence.Failure) -> [String] {
        guard let real = FenceRoot.realPath(path), case .success(let tree) = Tree.open(real) else {
            throw Fence.Failure(
                reason: "the image directory \(path) cannot be opened: \(SystemError(number: errno).text)")
        }
        var taking = TakingApart(tree: tree, root: real, directories: directories, files: files)
        try taking.take("")
        return taking.options
    }

    private struct TakingApart {
        let tree: Tree
        let root: String
        let directories: [String]
        let files: [String]
        var options: [String] = []
        var count = 0

        /// - Parameter directory: Empty, or beginning with `/`.
        mutating func take(_ directory: String) throws(Fence.Failure) {
            guard case .success(let descriptor) = tree.open(Self.inside(directory), O_RDONLY | O_DIRECTORY) else {
                throw Fence.Failure(reason: "\(root)\(directory) cannot be read: \(SystemError(number: errno).text)")
            }
            let names = Tree.names(in: descriptor)
            close(descriptor)
            for name in names.sorted() {
                let entry = directory + "/" + name
                if directories.contains(entry) || files.contains(entry) { continue }
                count += 1
                guard count <= ImageRoot.entryLimit else {
                    throw Fence.Failure(
                        reason:
                            "\(root)\(directory) has too many entries; make the directories of \(directories) in the image"
                    )
                }
                try take(entry, kind: kind(of: entry))
            }
        }

        private mutating func take(_ entry: String, kind: mode_t) throws(Fence.Failure) {
            let beneath = (directories + files).filter { $0.hasPrefix(entry + "/") }
            if kind == S_IFDIR, !beneath.allSatisfy(hasPlace) {
                options += ["--dir", entry]
                try take(entry)
            } else if kind == S_IFDIR || kind == S_IFREG && beneath.isEmpty {
                options += ["--ro-bind", root + entry, entry]
            } else if kind == S_IFLNK, beneath.isEmpty, let target = FenceRoot.link(root + entry) {
                options += ["--symlink", target, entry]
            }
        }

        /// Whether the image has what can be mounted upon, through no link.
        private func hasPlace(_ path: String) -> Bool {
            kind(of: path) == (directories.contains(path) ? S_IFDIR : S_IFREG)
        }

        private func kind(of path: String) -> mode_t {
            guard case .success(let descriptor) = tree.open(Self.inside(path), clinux_o_path | O_NOFOLLOW) else {
                return 0
            }
            defer { close(descriptor) }
            var status = stat()
            return fstat(descriptor, &status) == 0 ? status.st_mode & S_IFMT : 0
        }

        private static func inside(_ path: String) -> [UInt8] { Array(path.utf8.dropFirst()) }
    }
}
