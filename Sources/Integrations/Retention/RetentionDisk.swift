import Basics
import Model
import Storage

/// Measures and removes the files of integrations, on a lane of its own: a tree of a million files holds up nobody.
struct RetentionDisk: Sendable {
    private let state: StateDirectory
    private let lane = BlockingLane(label: "retention")

    /// Beside the bots' directories, so that moving there is one rename; no bot's name begins with a dot. Its entries are called `BOT.NUMBER`.
    static let aside = ".removed"
    /// Files of an integration that are counted; more are not.
    private static let countLimit = 10_000_000
    /// Bytes that are counted: a pebibyte.
    private static let byteLimit: Int64 = 1 << 50

    init(state: StateDirectory) { self.state = state }

    /// What an integration's files take; nothing for one that has none.
    func use(of id: IntegrationID) async throws -> DiskUse {
        let integrations = state.integrations
        return try await lane.run {
            var use = DiskUse()
            let root = try Directory(opening: integrations)
            guard try root.status("\(id.bot)/\(id.number)") != nil else { return use }
            use.files = 1
            do {
                try root.walk("\(id.bot)/\(id.number)", limit: Self.countLimit) { _, status in
                    use.files += 1
                    // A file with holes can say more than any disk has.
                    if status.kind == .file {
                        use.bytes = min(use.bytes + min(status.size, Self.byteLimit), Self.byteLimit)
                    }
                }
            } catch is FileError {
                // Too many, too deep, or not to be read: what was seen of it counts, and the other integrations have their turn.
            }
            return use
        }
    }

    /// Takes an integration's directory out of its place, at once. Whoever has a file of it open reads on.
    func moveAside(_ id: IntegrationID) async throws(FileError) {
        let integrations = state.integrations
        try await lane.run { () throws(FileError) in
            let root = try Directory(opening: integrations)
            try root.makeDirectories(Self.aside, mode: 0o700)
            let target = "\(Self.aside)/\(id.bot).\(id.number)"
            // Of an integration whose directory was made anew after that: both go.
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

    /// Removes all that was moved aside, also by a daemon before this one. Ends early, between two attempts, when the task is canceled.
    func removeAside() async throws {
        let integrations = state.integrations
        let places = try await lane.run { () throws(FileError) in
            let root = try Directory(opening: integrations)
            return try root.status(Self.aside) == nil ? [] : Self.parts(of: Self.aside, depth: 3, in: root)
        }
        var failure: FileError?
        for place in places {
            try Task.checkCancellation()
            do throws(FileError) {
                try await lane.run { () throws(FileError) in try Directory(opening: integrations).remove(place) }
            } catch {
                // One that cannot be removed holds up no other.
                failure = error
            }
        }
        if let failure { throw failure }
    }

    /// What lies so deep, each before the directory that holds it: one call removes one attempt and not all of a large integration.
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
