import Basics
import CLibGit2
import Glibc
import Model

/// A mirror's bare repository on disk. Synchronous: every call is made on the mirror's queue.
///
/// `refs/heads` and `refs/tags` are what the server listed at the last fetch, as far as their commits are here; they are
/// written as one `packed-refs` file, so that they change all at once. `refs/martlet/<bot>/<number>` are loose and ours.
struct MirrorStore: Sendable {
    /// The repository's directory.
    let path: String
    /// Its last component.
    let name: String

    static let fileLimit = 64 << 20

    /// Opens the repository, and creates it if there is none. Files of it that cannot be parsed are written again. Objects
    /// are never removed here (see `heal`).
    func open() throws(SourceControlError) -> GitHandle {
        try LibGit2.start()
        let directory = try files("opening the mirror \(name)") { () throws(FileError) in
            try Directory(creating: path)
        }
        let isWhole = try files("opening the mirror \(name)") { () throws(FileError) in
            if try directory.entries().isEmpty { return false }
            return try repairFiles(directory)
        }
        if !isWhole { try make() }
        do throws(SourceControlError) {
            return try opened()
        } catch {
            // Too few descriptors or too little memory are no damage.
            let classes = [GIT_ERROR_CONFIG, GIT_ERROR_REPOSITORY, GIT_ERROR_INVALID].map { Int32($0.rawValue) }
            guard let failure = error.underlying as? GitFailure, classes.contains(failure.errorClass) else {
                throw error
            }
            try files("opening the mirror \(name)") { () throws(FileError) in try directory.remove("config") }
            try make()
            return try opened()
        }
    }

    /// Takes away what git would not read of `HEAD` and `packed-refs`, and marks the mirror where objects or refs are gone: a
    /// crash in the middle of making it leaves some of these; refs without objects are worse than nothing.
    /// - Returns: Whether all is there.
    private func repairFiles(_ directory: Directory) throws(FileError) -> Bool {
        for (name, isReadable) in [("HEAD", Self.isHead), ("packed-refs", Self.isPackedRefs)]
        where try directory.status(name) != nil {
            if try !isReadable(Self.start(of: name, in: directory)) { try directory.remove(name) }
        }
        for part in ["objects", "refs"] where try directory.status(part) == nil {
            try AtomicFile.write([], to: "\(path)/\(Self.damageMark)")
        }
        for part in ["HEAD", "config", "objects", "refs"] where try directory.status(part) == nil { return false }
        return true
    }

    private static func start(of name: String, in directory: Directory) throws(FileError) -> [UInt8] {
        let file = try directory.openForReading(name)
        defer { close(file) }
        return [UInt8](unsafeUninitializedCapacity: 64) { buffer, count in
            count = max(0, read(file, buffer.baseAddress, buffer.count))
        }
    }

    private static func isHead(_ start: [UInt8]) -> Bool { start.starts(with: "ref: refs/".utf8) }

    /// libgit2 would read over what is no ref, and a job's git would not.
    private static func isPackedRefs(_ start: [UInt8]) -> Bool {
        start.isEmpty || start.starts(with: "# pack-refs".utf8)
            || start.prefix(40).allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
    }

    private func make() throws(SourceControlError) {
        try files("making the mirror \(name)") { () throws(FileError) in
            let directory = try Directory(opening: path)
            // Left by a daemon that was killed while it made it: nobody else writes here, and we one after the other.
            for file in ["config", "HEAD"] { try directory.remove(file + ".lock") }
        }
        _ = try GitHandle("making the mirror \(name)", free: git_repository_free) { git_repository_init($0, path, 1) }
    }

    /// Opens what exists.
    func opened() throws(SourceControlError) -> GitHandle {
        let operation = "opening the mirror \(name)"
        let repository = try GitHandle(operation, free: git_repository_free) { git_repository_open_bare($0, path) }
        // The repository's own configuration and no other: an operator's core.autocrlf must not change what jobs build. As it is now: libgit2 looks
        // at the file for each value that it asks for.
        let file = try GitHandle(operation, free: git_config_free) { git_config_open_ondisk($0, path + "/config") }
        let configuration = try GitHandle(operation, free: git_config_free) { git_config_snapshot($0, file.pointer) }
        try git(operation) { git_repository_set_config(repository.pointer, configuration.pointer) }
        return repository
    }

    // MARK: Refs

    /// Whether nothing was ever fetched.
    var isEmpty: Bool {
        // Unreadable counts as not: then only the slower way is taken.
        guard let objects = try? Directory(opening: path + "/objects").entries() else { return false }
        return objects.allSatisfy { entry in
            ["info", "pack"].contains(entry.name)
                && (try? Directory(opening: path + "/objects/" + entry.name).entries().isEmpty) == true
        }
    }

    /// Removes what an interrupted fetch has left: nobody else writes here, and we one after the other.
    /// - Returns: The size of the largest, and how many packs there are.
    @discardableResult
    func removeTemporaryPacks(_ operation: String) throws(SourceControlError) -> (largest: Int64, packs: Int) {
        try files(operation) { () throws(FileError) in
            let objects = try Directory(opening: path + "/objects")
            guard try objects.status("pack") != nil else { return (0, 0) }
            var largest: Int64 = 0
            let entries = try objects.entries("pack")
            // `.keep` guards a pack that is being fetched from a repack; ours wait for each other.
            for entry in entries
            where ["tmp_", ".tmp-", "pack_git2"].contains(where: entry.name.hasPrefix)
                || [".keep", ".temp"].contains(where: entry.name.hasSuffix)
            {
                largest = max(largest, try objects.status("pack/" + entry.name)?.size ?? 0)
                try objects.remove("pack/" + entry.name)
            }
            return (largest, entries.count { $0.name.hasSuffix(".pack") })
        }
    }

    /// The names of the packs' files.
    func packs(_ operation: String) throws(SourceControlError) -> Set<String> {
        try files(operation) { () throws(FileError) in
            let objects = try Directory(opening: path + "/objects")
            return Set(try objects.status("pack") == nil ? [] : try objects.entries("pack").map(\.name))
        }
    }

    /// Removes what a fetch has brought that must not stay.
    func removePacks(except kept: Set<String>, _ operation: String) throws(SourceControlError) {
        let brought = try packs(operation).subtracting(kept)
        try files(operation) { () throws(FileError) in
            let objects = try Directory(opening: path + "/objects")
            for name in brought { try objects.remove("pack/" + name) }
        }
    }

    /// The ref that keeps an integration's commit. Bots' names may hold what git refuses in a ref (`a..b`, `x.lock`); their
    /// dots are percent-encoded then, and no name holds a percent sign.
    static func holdName(_ id: IntegrationID) -> String {
        let plain = "refs/martlet/\(id.bot)/\(id.number)"
        if RemoteSession.isValid(RefName(plain)) { return plain }
        let encoded = id.bot.description.split(separator: ".", omittingEmptySubsequences: false).joined(
            separator: "%2e")
        return "refs/martlet/\(encoded)/\(id.number)"
    }

    func hold(_ commit: CommitID, as ref: String, in repository: OpaquePointer) throws(SourceControlError) {
        try withoutStaleLock(of: ref) { () throws(SourceControlError) in
            var id = try git_oid(commit)
            _ = try GitHandle("holding \(commit.abbreviated)", free: git_reference_free) {
                git_reference_create($0, repository, ref, &id, 1, "held by Martlet")
            }
        }
    }

    /// Removes a ref; one that is absent is fine.
    func release(_ ref: String, in repository: OpaquePointer) throws(SourceControlError) {
        try withoutStaleLock(of: ref) { () throws(SourceControlError) in
            let result = git_reference_remove(repository, ref)
            guard result != GIT_ENOTFOUND.rawValue else { return }
            try git("releasing \(ref)") { result }
        }
    }

    /// Once more without the lock that a daemon left which was killed while libgit2 changed this ref: nobody else writes
    /// here, and we one after the other, so a lock that is there when we come is nobody's.
    private func withoutStaleLock(
        of ref: String, _ body: () throws(SourceControlError) -> Void
    ) throws(SourceControlError) {
        do throws(SourceControlError) {
            try body()
        } catch {
            guard (error.underlying as? GitFailure)?.code == GIT_ELOCKED.rawValue else { throw error }
            try files("removing the lock of \(ref) in the mirror \(name)") { () throws(FileError) in
                try Directory(opening: path).remove(ref + ".lock")
            }
            try body()
        }
    }

    /// Whether the commit's object, and it as a commit, is here. One that is damaged is not, and is remembered for the next fetch.
    func contains(_ commit: CommitID, in repository: OpaquePointer) throws(SourceControlError) -> Bool {
        var id = try git_oid(commit)
        var found: OpaquePointer?
        defer { git_commit_free(found) }
        let result = git_commit_lookup(&found, repository, &id)
        if result == GIT_ENOTFOUND.rawValue { return false }
        do throws(SourceControlError) {
            try git("finding \(commit.abbreviated)") { result }
        } catch {
            // Fetched again, as one that is not here.
            guard error.code == .mirrorDamaged else { throw CommitReading.unparsed(error) }
            try markDamaged()
            return false
        }
        return true
    }

    /// Asks whether objects are here, as of now.
    func objects(in repository: OpaquePointer, _ operation: String) throws(SourceControlError) -> (String) -> Bool {
        let store = try GitHandle(operation, free: git_odb_free) { git_repository_odb($0, repository) }
        // The repository keeps it for as long as it is open.
        let pointer = store.pointer
        try git(operation) { git_odb_refresh(pointer) }
        return { id in
            var oid = git_oid()
            return git_oid_fromstr(&oid, id) == 0
                && git_odb_exists_ext(pointer, &oid, GIT_ODB_LOOKUP_NO_REFRESH.rawValue) == 1
        }
    }

    /// The text of `packed-refs`; empty when there is none.
    func packedRefs(_ operation: String) throws(SourceControlError) -> String {
        try files(operation) { () throws(FileError) in
            guard try Directory(opening: path).status("packed-refs") != nil else { return "" }
            return String(decoding: try WholeFile.read("\(path)/packed-refs", limit: 256 << 20), as: UTF8.self)
        }
    }

    /// Writes what the server lists, as far as it is here, in place of what it listed before.
    func writeRefs(_ refs: [RefName: RemoteSession.AdvertisedRef], in repository: OpaquePointer)
        throws(SourceControlError)
    {
        let operation = "writing the refs of the mirror \(name)"
        let isHere = try objects(in: repository, operation)
        let old = try packedRefs(operation)
        var lines: [(name: String, line: String)] = []
        for (ref, advertised) in refs where isHere(advertised.id) {
            var line = "\(advertised.id) \(ref)\n"
            if let peeled = advertised.peeled { line += "^\(peeled)\n" }
            lines.append((ref.description, line))
        }
        // Who ran git gc here has packed our own refs too.
        for line in old.split(separator: "\n") where !line.hasPrefix("#") {
            let parts = line.split(separator: " ", maxSplits: 1)
            if parts.count == 2, parts[1].hasPrefix("refs/martlet/") { lines.append((String(parts[1]), line + "\n")) }
        }
        lines.sort { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
        let text = "# pack-refs with: peeled fully-peeled sorted \n" + lines.map(\.line).joined()
        guard text != old else { return }
        try files(operation) { () throws(FileError) in
            try AtomicFile.write(Array(text.utf8), to: "\(path)/packed-refs", surviving: .kill)
        }
    }
}

/// Runs file operations and says for what they failed.
func files<Value>(_ operation: String, _ body: () throws(FileError) -> Value) throws(SourceControlError) -> Value {
    do throws(FileError) {
        return try body()
    } catch {
        let code: SourceControlError.Code = error.code == .tooLarge ? .tooLarge : .file
        throw SourceControlError(code: code, operation: operation, message: error.description, underlying: error)
    }
}
