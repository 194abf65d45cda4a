package import Basics
package import Execution
import Jobs
package import Storage

/// Measures what lies in the state directory, on a queue of its own.
package struct DiskSurvey: Sendable {
    /// What a part of the state directory is.
    package enum Kind: String, Sendable, CaseIterable {
        /// Logs, reports and artifacts of a bot's integrations.
        case integrations
        /// Checked-out trees with the products of builds, of a bot.
        case workspaces
        /// A copy of a repository.
        case mirror
        /// Published versions of a product.
        case published
        case database
        /// Everything else, such as versions that are being published.
        case other
    }

    /// A part of the state directory.
    package struct Part: Sendable, Hashable {
        package var kind: Kind
        /// The bot or product, or the directory of a mirror.
        package var name: String
        package var use: DiskUse
    }

    /// The most files of a part that are counted.
    private static let countLimit = 10_000_000
    /// The most bytes of a file that are counted, a pebibyte. A sparse file can have a size larger than any disk.
    private static let byteLimit: Int64 = 1 << 50
    /// The most parts of a survey.
    package static let maximumParts = 20_000

    private let state: StateDirectory
    private let queue = SerialQueue(label: "survey")
    /// Only one survey of everything at a time.
    private let turn = JobSlots(count: 1)

    package init(state: StateDirectory) { self.state = state }

    /// Returns the disk use of a path relative to the state directory; zero if it does not exist.
    package func use(of path: String) async throws(FileError) -> DiskUse {
        let state = state
        return try await queue.run { () throws(FileError) in
            Self.use(of: path, in: try Directory(opening: state.path, readsSecondNames: true))
        }
    }

    /// Returns all parts, the largest first.
    package func parts() async throws -> [Part] {
        try await turn.withSlot {
            let places = try await queue.run { [state] () throws(FileError) in
                try Self.places(in: Directory(opening: state.path, readsSecondNames: true))
            }
            var parts: [Part] = []
            for place in places.prefix(Self.maximumParts) {
                try Task.checkCancellation()
                var use = DiskUse()
                for path in place.paths { use = use + (try await self.use(of: path)) }
                if use.files > 0 { parts.append(Part(kind: place.kind, name: place.name, use: use)) }
            }
            return parts.sorted { ($1.use.bytes, $0.name) < ($0.use.bytes, $1.name) }
        }
    }

    private static func places(
        in root: Directory
    ) throws(FileError) -> [(kind: Kind, name: String, paths: [String])] {
        var places: [(Kind, String, [String])] = []
        let kinds: [(String, Kind)] = [
            ("integrations", .integrations), ("workspaces", .workspaces), ("repositories", .mirror),
            ("files", .published),
        ]
        for (directory, kind) in kinds where try root.status(directory)?.kind == .directory {
            for entry in try root.entries(directory) where entry.isText {
                places.append((kind, entry.name, ["\(directory)/\(entry.name)"]))
            }
        }
        let database = ["martlet.sqlite", "martlet.sqlite-wal", "martlet.sqlite-shm"]
        places.append((.database, "martlet.sqlite", database))
        let known = Set(kinds.map(\.0) + database)
        for entry in try root.entries() where entry.isText && !known.contains(entry.name) {
            places.append((.other, entry.name, [entry.name]))
        }
        return places
    }

    private static func use(of path: String, in root: Directory) -> DiskUse {
        var use = DiskUse()
        func count(_ status: FileStatus) {
            use.files += 1
            if status.kind == .file {
                use.bytes = min(use.bytes + min(status.size, byteLimit), byteLimit)
            }
        }
        do {
            guard let status = try root.status(path) else { return use }
            count(status)
            guard status.kind == .directory else { return use }
            try root.walk(path, limit: countLimit) { _, status in count(status) }
        } catch {
            // There are too many files, or they cannot be read. The files that were found count, and the other parts are measured.
        }
        return use
    }
}
