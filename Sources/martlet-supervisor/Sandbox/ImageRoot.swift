import CLinux
import Glibc
import JobProtocol
import Processes

/// A root file system on disk that becomes the root of a sandbox. Bubblewrap cannot create mount points in read-only mounts. The root is therefore a
/// directory in memory, into which the image's entries are mounted one by one. If a mount must be placed deeper, where the image has no entry for it,
/// the directories above it are also recreated in memory.
struct ImageRoot {
    /// The most entries that are mounted. Directories like /etc or /home are recreated in memory; 1,000 is far more than both have.
    private static let entryLimit = 1000

    let path: String

    /// Returns the options that mount the image.
    /// - Parameters:
    ///   - directories: The paths at which directories will be mounted.
    ///   - files: The paths at which files will be mounted.
    /// - Throws: If the image cannot be read.
    func options(directories: [String], files: [String]) throws(Sandbox.Failure) -> [String] {
        guard let real = SandboxRoot.realPath(path), case .success(let tree) = Tree.open(real) else {
            throw Sandbox.Failure(
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

        /// Mounts the entries of a directory.
        /// - Parameter directory: Empty, or a path that begins with `/`.
        mutating func take(_ directory: String) throws(Sandbox.Failure) {
            guard case .success(let descriptor) = tree.open(Self.inside(directory), O_RDONLY | O_DIRECTORY) else {
                throw Sandbox.Failure(reason: "\(root)\(directory) cannot be read: \(SystemError(number: errno).text)")
            }
            let names = Tree.names(in: descriptor)
            close(descriptor)
            for name in names.sorted() {
                let entry = directory + "/" + name
                if directories.contains(entry) || files.contains(entry) { continue }
                count += 1
                guard count <= ImageRoot.entryLimit else {
                    throw Sandbox.Failure(
                        reason:
                            "\(root)\(directory) has too many entries; make the directories of \(directories) in the image"
                    )
                }
                try take(entry, kind: kind(of: entry))
            }
        }

        private mutating func take(_ entry: String, kind: mode_t) throws(Sandbox.Failure) {
            let beneath = (directories + files).filter { $0.hasPrefix(entry + "/") }
            if kind == S_IFDIR, !beneath.allSatisfy(hasPlace) {
                options += ["--dir", entry]
                try take(entry)
            } else if kind == S_IFDIR || kind == S_IFREG && beneath.isEmpty {
                options += ["--ro-bind", root + entry, entry]
            } else if kind == S_IFLNK, beneath.isEmpty, let target = SandboxRoot.link(root + entry) {
                options += ["--symlink", target, entry]
            }
        }

        /// Returns whether the image has a mount point of the right kind at a path, without following links.
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
