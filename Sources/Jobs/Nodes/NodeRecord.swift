package import Basics
import Glibc
package import Model

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

/// When a bot's workspaces were cleaned last: one file a bot in the state directory's `nodes`. The daemon does not reach the workspaces on nodes. So
/// the time is part of each workspace's mark, and a node empties a workspace that has another mark.
package struct NodeCleaning: Sendable {
    private let directory: String
    private let file: String

    /// - Parameter directory: The directory of the records.
    package init(directory: String, bot: Name) {
        self.directory = directory
        file = "\(directory)/\(bot).cleaned"
    }

    /// Returns the mark of a workspace on a node, with the time of the last cleaning. A bot that was never cleaned changes no mark.
    func mark(_ mark: String) -> String {
        guard let bytes = try? WholeFile.read(file, limit: 64) else { return mark }
        return "\(mark) cleaned \(String(decoding: bytes, as: UTF8.self))"
    }

    /// Records a cleaning. Without a record of any node there is no workspace to be cleaned.
    /// - Throws: `FileError`.
    package func record(at time: Timestamp) throws(FileError) {
        guard access(directory, F_OK) == 0, try !Directory(opening: directory).entries().isEmpty else { return }
        try AtomicFile.write(Array("\(time.millisecondsSinceEpoch)".utf8), to: file)
    }
}
