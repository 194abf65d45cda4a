import Basics
import Execution
import Model
import Storage

/// Measures and removes the files of integrations on a separate queue, so that a tree of a million files delays no other work.
struct RetentionDisk: Sendable {
    private let state: StateDirectory
    private let queue = SerialQueue(label: "retention")

    /// The directory for removed integrations. It is beside the bots' directories, so that one rename moves there; no bot's name begins with a dot.
    /// Its entries are named `BOT.NUMBER`.
    static let aside = ".removed"
    /// The most files of an integration that are counted.
    private static let countLimit = 10_000_000
    /// The most bytes that are counted: a pebibyte.
    private static let byteLimit: Int64 = 1 << 50

    init(state: StateDirectory) { self.state = state }

    /// Returns the disk usage of an integration's files; zero if it has none.
    func use(of id: IntegrationID) async throws -> DiskUse {
        let integrations = state.integrations
        return try await queue.run {
            var use = DiskUse()
            let root = try Directory(opening: integrations)
            guard try root.status("\(id.bot)/\(id.number)") != nil else { return use }
            use.files = 1
            do {
                try root.walk("\(id.bot)/\(id.number)", limit: Self.countLimit) { _, status in
                    use.files += 1
                    // A sparse file can have a size larger than any disk.
                    if status.kind == .file {
                        use.bytes = min(use.bytes + min(status.size, Self.byteLimit), Self.byteLimit)
                    }
                }
            } catch is FileError {
                // There are too many files, they are too deep, or they cannot be read. The files that were found count, and the other integrations
                // are measured.
            }
            return use
        }
    }

    /// Moves an integration's directory aside, at once. A process that has one of its files open can still read it.
    func moveAside(_ id: IntegrationID) async throws(FileError) {
        let integrations = state.integrations
        try await queue.run { () throws(FileError) in
            let root = try Directory(opening: integrations)
            try root.makeDirectories(Self.aside, mode: 0o700)
            let target = "\(Self.aside)/\(id.bot).\(id.number)"
            // The directory may have been made again after an earlier move. Both are removed.
            try root.remove(target)
            Failpoint.pass("retention.moved", .before)
            do throws(FileError) {
                try root.rename("\(id.bot)/\(id.number)", to: root, target, replace: false)
            } catch  where error.code == .notFound {
                return
            }
            try root.directory("\(id.bot)").synchronize()
            Failpoint.pass("retention.moved", .after)
        }
    }

    /// Removes all that was moved aside, also by an earlier daemon. Ends early, between two attempts, if the task is canceled.
    func removeAside() async throws {
        let integrations = state.integrations
        let places = try await queue.run { () throws(FileError) in
            let root = try Directory(opening: integrations)
            return try root.status(Self.aside) == nil ? [] : Self.parts(of: Self.aside, depth: 3, in: root)
        }
        var failure: FileError?
        for place in places {
            try Task.checkCancellation()
            do throws(FileError) {
                try await queue.run { () throws(FileError) in try Directory(opening: integrations).remove(place) }
            } catch {
                // One that cannot be removed does not delay the others.
                failure = error
            }
        }
        if let failure { throw failure }
    }

    /// Returns the paths down to a depth, each before the directory that contains it. So one call removes one attempt, not all of a large
    /// integration.
    private static func parts(of path: String, depth: Int, in root: Directory) throws(FileError) -> [[UInt8]] {
        var parts: [[UInt8]] = []
        for entry in try root.entries(path) {
            let inner = Array((path + "/").utf8) + entry.bytes
            if depth > 1, entry.kind == .directory, let text = String(validating: inner, as: UTF8.self) {
                parts += try self.parts(of: text, depth: depth - 1, in: root)
            }
            parts.append(inner)
        }
        return parts
    }
}
