import Basics
package import Execution
import Glibc
import Model
package import Storage

/// Restores a backup into an empty state directory, beside which no daemon runs. Everything here blocks.
package struct Restore: Sendable {
    private let state: StateDirectory
    private let directory: String
    private let clock: WallClock

    /// The user and the group that the restored files belong to.
    package struct Owner: Sendable {
        package var user: UInt32
        package var group: UInt32

        package init(user: UInt32, group: UInt32) { (self.user, self.group) = (user, group) }
    }

    /// What a daemon or an installation leaves in a state directory that has no state.
    private static let unimportant: Set<String> = [
        "lock", "launcher.socket", "martlet.socket", "boot", "crashes", "own-network", "reserve", "restoring",
        "lost+found",
    ]

    package init(of directory: String, into state: StateDirectory, clock: WallClock) {
        self.directory = directory
        self.state = state
        self.clock = clock
    }

    /// Restores the backup. Each file is compared with the backup's list. The database is put in place last, so that a restore that was interrupted
    /// leaves a state that no daemon starts with; restoring again begins from the start.
    ///
    /// Unless the backup is the latest state, the numbers of integrations go on with a gap, and publishing is held.
    /// - Parameters:
    ///   - isLatest: Whether no daemon has worked since the backup was made, which must have been without a daemon.
    ///   - owner: The owner of the restored files; `nil` for this process's user.
    /// - Throws: `BackupError` with a sentence.
    package func run(
        isLatest: Bool, owner: Owner?, by person: String
    ) async throws(BackupError) -> BackupDescription {
        let description = try BackupDescription(in: directory)
        guard !isLatest || description.wasStopped else {
            throw BackupError(
                "\(directory) was made while a daemon worked, so it may not be the latest state; restore it without --latest"
            )
        }
        let list = try Backup.list(of: description, in: directory)
        do {
            let root = try Directory(creating: state.path, mode: 0o710)
            guard let lock = try FileLock(path: state.lock, contents: "\(getpid())\n") else {
                throw BackupError(
                    "a daemon works on \(state.path); stop it first, for example with `systemctl stop martlet`")
            }
            defer { withExtendedLifetime(lock) {} }
            try empty(root)
            try AtomicFile.write([], to: state.restoring, mode: 0o600)
            try state.create()
            try copyFiles(list, to: root)
            try await putDatabase(description, isLatest: isLatest, by: person)
            try root.synchronizeTree()
            if let owner { try give(root, to: owner) }
            try root.remove("restoring")
            try root.synchronize()
            return description
        } catch {
            throw (error as? BackupError)
                ?? BackupError(
                    "\(directory) could not be restored: \(error); once the cause is removed, restore again: it begins from the start"
                )
        }
    }

    /// Checks that the state directory has no state, and removes what an interrupted restore left.
    private func empty(_ root: Directory) throws {
        if try root.status("restoring") != nil {
            for name in try root.entries().map(\.name)
            where name.hasPrefix("martlet.sqlite") || name == "files" || name == "integrations" {
                try root.remove(name)
            }
        }
        for entry in try root.entries() where !Self.unimportant.contains(entry.name) {
            var isEmpty = false
            if entry.kind == .directory { isEmpty = try root.entries(entry.name).isEmpty }
            guard isEmpty else {
                throw BackupError(
                    "\(state.path) is not empty: it has \(entry.name.inOneLine). Nothing was changed. Move its content away first"
                )
            }
        }
    }

    private func copyFiles(_ list: BackupList, to root: Directory) throws {
        let source = try Directory(opening: directory, readsSecondNames: true)
        for entry in list.entries where entry.path != Array("martlet.sqlite".utf8) {
            let slash = entry.path.lastIndex(of: UInt8(ascii: "/")) ?? 0
            let above = Array(entry.path[..<slash])
            try Backup.requireFile(entry.path, of: source, in: directory)
            try makeDirectories(above, as: source, in: root)
            _ = try source.copyFile(entry.path, to: root, entry.path, limit: .max, isBeside: false)
            guard try Digest.sha256(of: entry.path, in: root).sha256 == entry.sha256 else {
                throw Backup.damaged(entry.path, in: directory)
            }
        }
    }

    /// Makes the directories down to a path, with the modes that the backup has.
    private func makeDirectories(_ path: [UInt8], as source: Directory, in root: Directory) throws {
        if path.isEmpty { return }
        if try root.status(path) != nil { return }
        let slash = path.lastIndex(of: UInt8(ascii: "/")) ?? 0
        try makeDirectories(Array(path[..<slash]), as: source, in: root)
        try root.makeDirectories(path, mode: 0o700)
        if let mode = try source.status(path)?.mode { try root.setMode(mode & 0o777 | 0o700, ofDirectory: path) }
    }

    /// Checks the copied database, brings it to this version's schema, and puts it in place.
    private func putDatabase(_ description: BackupDescription, isLatest: Bool, by person: String) async throws {
        let (source, root) = (try Directory(opening: directory, readsSecondNames: true), state.path)
        let list = try Backup.list(of: description, in: directory)
        let name = "martlet.sqlite"
        guard let expected = list.entries.first(where: { $0.path == Array(name.utf8) }) else {
            throw BackupError("\(directory) has no database; use another backup")
        }
        let target = try Directory(opening: root)
        try Backup.requireFile(expected.path, of: source, in: directory)
        _ = try source.copyFile(name, to: target, name + ".restoring", limit: .max, isBeside: false)
        guard try Digest.sha256(of: name + ".restoring", in: target).sha256 == expected.sha256 else {
            throw Backup.damaged(expected.path, in: directory)
        }
        try Backup.checkNames(in: directory, list)
        let store = try Store.open(path: "\(root)/\(name).restoring")
        if !isLatest {
            let made = description.made
            try await store.recordRestore(of: made, by: person, at: clock.now())
        }
        try await store.record(
            AuditEntry(.restored, actor: person, subject: "the backup of \(description.made)"), at: clock.now())
        try store.close()
        try target.rename(name + ".restoring", to: target, name, replace: false)
    }

    private func give(_ root: Directory, to owner: Owner) throws {
        try root.walk(limit: Backup.maximumFiles) { path, _ in
            let result = (path + [0]).map { CChar(bitPattern: $0) }.withUnsafeBufferPointer { name -> Int32 in
                guard let start = name.baseAddress else { return -1 }
                return fchownat(root.descriptor, start, owner.user, owner.group, AT_SYMLINK_NOFOLLOW)
            }
            guard result == 0 else {
                throw FileError(
                    operation: "chown", path: "\(root.path)/\(String(decoding: path, as: UTF8.self))", errno: errno)
            }
        }
        guard fchown(root.descriptor, owner.user, owner.group) == 0 else {
            throw FileError(operation: "chown", path: root.path, errno: errno)
        }
    }
}
