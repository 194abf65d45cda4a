import Basics
import Glibc
import Model

/// Which node of a cluster has a workspace: one file a workspace beneath the state directory's `nodes`.
struct NodeRecord: Sendable {
    private let directory: String
    private let name: String

    /// - Parameters:
    ///   - directory: The directory of the records.
    ///   - workspace: The path of the workspace on the node.
    init(directory: String, executor: Name, workspace: String) {
        let digest = String(Digest.sha256(of: Array("\(executor) \(workspace)".utf8)).prefix(32))
        self.directory = Self.directory(of: digest, in: directory)
        name = digest + ".node"
    }

    /// Returns the directory of a file about a workspace: one of 256. A write lists its directory, and there are thousands of workspaces.
    /// - Parameters:
    ///   - digest: The file's digest, in hexadecimal.
    ///   - records: The directory of the records.
    static func directory(of digest: String, in records: String) -> String { "\(records)/\(digest.prefix(2))" }

    /// The node; `nil` if none is recorded, or the file cannot be read: the next build then runs anywhere.
    var node: String? {
        guard let bytes = try? WholeFile.read("\(directory)/\(name)", limit: 256) else { return nil }
        let text = String(decoding: bytes, as: UTF8.self)
        // sbatch would take a comma or bracket for a list, and a hyphen for an option.
        let isPlain = text.utf8.allSatisfy {
            (0x30...0x39).contains($0) || (0x41...0x5A).contains($0) || (0x61...0x7A).contains($0)
                || "._-".utf8.contains($0)
        }
        return isPlain && !text.isEmpty && !text.hasPrefix("-") ? text : nil
    }

    /// - Throws: `FileError`.
    func write(_ node: String) throws(FileError) {
        guard self.node != node else { return }
        _ = try Directory(creating: directory, mode: 0o700)
        try AtomicFile.write(Array(node.utf8), to: "\(directory)/\(name)", surviving: .kill)
    }

    /// - Throws: `FileError`.
    func remove() throws(FileError) {
        guard access("\(directory)/\(name)", F_OK) == 0 else { return }
        try Directory(opening: directory).remove(name)
    }
}
