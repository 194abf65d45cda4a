import Basics
package import Execution
import Glibc
import Model
package import Storage

/// Makes and checks backups of a state directory, beside a daemon or without one. Everything here blocks.
package struct Backup: Sendable {
    private let state: StateDirectory
    private let directory: String
    private let version: String
    private let clock: WallClock

    /// The most files of a tree.
    static let maximumFiles = 10_000_000
    /// What an integration's jobs left besides their logs, which is in a backup only if it is asked for.
    private static let large: Set<String> = ["artifacts", "archives", "reports"]
    /// Its depth beneath `integrations`: bot, number, job, attempt.
    private static let largeDepth = 5

    /// - Parameters:
    ///   - directory: The absolute path of the backup.
    ///   - version: The version of Martlet.
    package init(of state: StateDirectory, in directory: String, version: String, clock: WallClock) {
        self.state = state
        self.directory = directory
        self.version = version
        self.clock = clock
    }

    /// Makes a backup.
    ///
    /// The database is copied first, so that every file that it names exists when the files are copied. What retention removes meanwhile is recorded
    /// in the copy. `backup.json` is written last: a backup that was interrupted has none.
    /// - Parameter hasArtifacts: Whether to copy artifacts, archives and reports of integrations, too.
    /// - Throws: `BackupError` with a sentence. An incomplete backup is removed, unless the process is killed.
    package func make(hasArtifacts: Bool) throws(BackupError) -> BackupDescription {
        guard access(state.database, F_OK) == 0 else {
            throw BackupError(
                "\(state.path) has no database; start the daemon once, or name its settings with --settings")
        }
        guard directory != state.path, !(directory + "/").hasPrefix(state.path + "/") else {
            throw BackupError("the backup \(directory) would be in the state directory; name another place")
        }
        let lock = lockIfStopped()
        defer { withExtendedLifetime(lock) {} }
        let target = try emptyDirectory()
        do {
            let made = try copyDatabase()
            let copy = try copyFiles(to: target, hasArtifacts: hasArtifacts)
            return try complete(copy, in: target, made: made, hasArtifacts: hasArtifacts, wasStopped: lock != nil)
        } catch {
            try? target.removeContents()
            throw (error as? BackupError) ?? BackupError("the backup \(directory) could not be made: \(error)")
        }
    }

    /// Copies the database.
    /// - Returns: The time before the copy, since which `complete` reads what was removed.
    func copyDatabase() throws -> Timestamp {
        let made = clock.now()
        try Store.backUp(state.database, to: directory + "/martlet.sqlite")
        return made
    }

    /// Copies the files that the copied database names, and newer ones.
    func copyFiles(to target: Directory, hasArtifacts: Bool) throws -> TreeCopy {
        var copy = TreeCopy(
            from: try Directory(opening: state.path, readsSecondNames: true), to: target, list: BackupList())
        try copy.add("files")
        try copy.add("integrations") { Self.isIncluded($0, hasArtifacts: hasArtifacts) }
        return copy
    }

    /// Records what changed meanwhile, and writes the list and the description.
    func complete(
        _ copy: TreeCopy, in target: Directory, made: Timestamp, hasArtifacts: Bool, wasStopped: Bool
    ) throws -> BackupDescription {
        try recordChanges(since: made)
        var list = copy.list
        let database = try Digest.sha256(of: "martlet.sqlite", in: target)
        list.entries.insert(.init(sha256: database.sha256, path: Array("martlet.sqlite".utf8)), at: 0)
        let bytes = list.bytes
        try target.write(BackupDescription.list, bytes: bytes, mode: 0o600)
        let description = BackupDescription(
            version: version, made: made, hasArtifacts: hasArtifacts, wasStopped: wasStopped,
            files: list.entries.count, bytes: copy.bytes + database.size, listSHA256: Digest.sha256(of: bytes))
        // Everything is on the disk before the file that says that the backup is whole.
        try target.synchronizeTree()
        try AtomicFile.write(
            description.text, to: "\(directory)/\(BackupDescription.file)", mode: 0o600, surviving: .powerLoss)
        return description
    }

    /// Holds the state's lock if no daemon has it.
    private func lockIfStopped() -> FileLock? {
        // The lock's file is never made here: it would belong to this user.
        guard access(state.lock, F_OK) == 0 else { return nil }
        return (try? FileLock(path: state.lock, contents: "\(getpid())\n")) ?? nil
    }

    private func emptyDirectory() throws(BackupError) -> Directory {
        do throws(FileError) {
            let target = try Directory(creating: directory, mode: 0o700, readsSecondNames: true)
            guard try target.entries(limit: 1000).isEmpty else {
                throw FileError(
                    code: .exists, operation: "make the backup in", path: directory, message: "it is not empty")
            }
            try target.setMode(0o700, ofDirectory: ".")
            return target
        } catch {
            throw BackupError(
                error.code == .exists || error.code == .tooLarge
                    ? "\(directory) is not empty; name a directory that is empty or not there"
                    : "the backup \(directory) could not be made: \(error)")
        }
    }

    /// Records in the copy what was removed while files were copied.
    private func recordChanges(since made: Timestamp) throws {
        let changes = try Store.changes(in: state.database, since: made)
        if let bot = changes.renamedBots.first {
            throw BackupError("a bot, formerly \(bot), was renamed while the backup was made; make it again")
        }
        try Store.record(changes, in: directory + "/martlet.sqlite")
    }

    private static func isIncluded(_ path: [UInt8], hasArtifacts: Bool) -> Bool {
        let parts = path.split(separator: UInt8(ascii: "/"))
        // Removed integrations wait there for the removal of their files.
        if parts.count == 2, parts[1].elementsEqual(RetentionDisk.aside.utf8) { return false }
        guard !hasArtifacts, parts.count == largeDepth + 1 else { return true }
        return !large.contains(String(decoding: parts[largeDepth], as: UTF8.self))
    }

    /// Checks a backup: that it is whole, that each file has its digest, that the database is sound, and that it names no version without its files.
    /// - Returns: What the backup is.
    /// - Throws: `BackupError` with the first thing that is wrong.
    package static func verify(_ directory: String) throws(BackupError) -> BackupDescription {
        let description = try BackupDescription(in: directory)
        let list = try list(of: description, in: directory)
        do {
            let root = try Directory(opening: directory, readsSecondNames: true)
            for entry in list.entries {
                try requireFile(entry.path, of: root, in: directory)
                let found = try Digest.sha256(of: entry.path, in: root)
                guard found.sha256 == entry.sha256 else { throw damaged(entry.path, in: directory) }
            }
            try checkNames(in: directory, list)
            return description
        } catch {
            throw (error as? BackupError)
                ?? BackupError("the backup \(directory) is damaged: \(error); use another one")
        }
    }

    /// Reads the list of a backup.
    static func list(of description: BackupDescription, in directory: String) throws(BackupError) -> BackupList {
        let path = "\(directory)/\(BackupDescription.list)"
        let bytes: [UInt8]
        do throws(FileError) {
            bytes = try WholeFile.read(path, limit: BackupList.limit)
        } catch {
            throw BackupError("the backup \(directory) is not whole: \(error); use another one")
        }
        guard Digest.sha256(of: bytes) == description.listSHA256, let list = BackupList(bytes),
            list.entries.count == description.files
        else {
            throw BackupError("\(path) is not the list that the backup was made with; use another backup")
        }
        return list
    }

    static func damaged(_ path: [UInt8], in directory: String) -> BackupError {
        BackupError(
            "\(directory)/\(String(decoding: path, as: UTF8.self).inOneLine) is damaged: its bytes are not those of the backup; use another backup"
        )
    }

    /// Checks that a listed file is in the backup.
    static func requireFile(_ path: [UInt8], of backup: Directory, in directory: String) throws {
        guard try backup.status(path) == nil else { return }
        throw BackupError(
            "\(directory)/\(String(decoding: path, as: UTF8.self).inOneLine) is missing, which the backup had when it was made; use another backup"
        )
    }

    /// Checks the database, and that the backup has each file of the versions that it names.
    static func checkNames(in directory: String, _ list: BackupList) throws {
        var digests: [String: String] = [:]
        for entry in list.entries {
            if let path = String(validating: entry.path, as: UTF8.self) { digests[path] = entry.sha256 }
        }
        for file in try Store.check(copy: directory + "/martlet.sqlite") {
            guard let digest = digests[file.path] else {
                throw BackupError("the database of \(directory) names \(file.path), which the backup does not have")
            }
            guard digest == file.sha256 else {
                throw BackupError(
                    "\(directory)/\(file.path) is not what was published: it was damaged before the backup was made; restore that file from an older backup"
                )
            }
        }
    }
}

/// A copy of trees, with a list of the digests of all copied files.
struct TreeCopy {
    private let source: Directory
    private let target: Directory
    private(set) var list: BackupList
    private(set) var bytes: Int64 = 0
    /// How often a directory is read again in which a file was renamed meanwhile, as a log that is compressed.
    private static let rounds = 3

    init(from source: Directory, to target: Directory, list: BackupList) {
        (self.source, self.target, self.list) = (source, target, list)
    }

    /// Copies a tree. Links and special files are left out; files that disappear meanwhile, too.
    /// - Parameter isIncluded: Whether a directory is copied.
    mutating func add(_ path: String, isIncluded: ([UInt8]) -> Bool = { _ in true }) throws {
        guard try source.status(path)?.kind == .directory else { return }
        try target.makeDirectories(path, mode: 0o700)
        var places: [[UInt8]] = [Array(path.utf8)]
        for _ in 0..<Self.rounds where !places.isEmpty {
            var changed: Set<[UInt8]> = []
            for place in places where try source.status(place)?.kind == .directory {
                try copy(place, isIncluded, &changed)
            }
            places = changed.sorted { $0.lexicographicallyPrecedes($1) }
        }
    }

    private mutating func copy(
        _ place: [UInt8], _ isIncluded: ([UInt8]) -> Bool, _ changed: inout Set<[UInt8]>
    ) throws {
        var found: [(path: [UInt8], status: FileStatus)] = []
        try source.walk(place, limit: Backup.maximumFiles, enters: isIncluded) { found.append(($0, $1)) }
        for (path, status) in found {
            switch status.kind {
            case .directory:
                guard isIncluded(path) else { continue }
                try target.makeDirectories(path, mode: 0o700)
                try target.setMode(status.mode & 0o777 | 0o700, ofDirectory: path)
            case .file:
                guard try target.status(path) == nil else { continue }
                if try !copy(path) { changed.insert(Array(path[..<(path.lastIndex(of: UInt8(ascii: "/")) ?? 0)])) }
            case .link, .other: continue
            }
        }
    }

    /// - Returns: Whether the file was there.
    private mutating func copy(_ path: [UInt8]) throws -> Bool {
        if let failure = Self.failure(ofCopying: path, from: source, to: target) {
            guard failure.code == .notFound else { throw failure }
            try target.remove(path)
            return false
        }
        // The digest is that of the copy, so that a fault of the copying is found when the backup is checked against it.
        let digest = try Digest.sha256(of: path, in: target)
        list.entries.append(.init(sha256: digest.sha256, path: path))
        bytes += digest.size
        return true
    }

    /// Copies a file.
    /// - Returns: Why it failed; `nil` if it is copied.
    private static func failure(ofCopying path: [UInt8], from source: Directory, to target: Directory) -> FileError? {
        do throws(FileError) {
            _ = try source.copyFile(path, to: target, path, limit: .max, isBeside: false)
            return nil
        } catch {
            return error
        }
    }
}
