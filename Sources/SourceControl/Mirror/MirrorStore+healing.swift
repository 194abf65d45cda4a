import Basics
import CLibGit2
import Model

/// What becomes of a mirror in which something was found damaged: only what is damaged goes, and the next fetch brings it again.
extension MirrorStore {
    /// Left by who found the mirror damaged.
    static let damageMark = "martlet-damaged"
    /// Holds, to be made again as soon as their commits are back: lines `ID REF`.
    private static let lostHolds = "martlet-holds"

    /// Has the next fetch look what is damaged.
    func markDamaged() throws(SourceControlError) {
        try files("marking the mirror \(name) as damaged") { () throws(FileError) in
            try AtomicFile.write([], to: "\(path)/\(Self.damageMark)")
        }
    }

    /// Unreadable counts as not: then only what was found later is mended.
    var isMarkedDamaged: Bool { (try? Directory(opening: path).status(Self.damageMark)) != nil }

    /// Whether holds wait for their commits, so that everything should be fetched. Unreadable counts as not: a hold that is lost
    /// costs nothing but the commit's stay after its branch is gone.
    var hasLostHolds: Bool { (try? Directory(opening: path).status(Self.lostHolds)) != nil }

    /// Removes damaged object files and all refs, so that no object is claimed to the server that may be missing here.
    /// - Parameters:
    ///   - program: The git program that verifies packs; without one all packs are removed.
    ///   - commits: Commits that must be complete, in addition to those that refs lead to.
    /// - Returns: False if everything is complete and nothing was changed.
    func heal(
        _ program: GitProgram?, commits: [CommitID], control: NetworkControl
    ) throws(SourceControlError) -> Bool {
        let operation = "repairing the mirror \(name)"
        let repository = try open()
        let bad = try damagedFiles(program, in: repository.pointer, operation, control)
        var isWhole = bad.isEmpty
        if isWhole { isWhole = try isConnected(program, commits, in: repository.pointer, operation, control) }
        try files(operation) { () throws(FileError) in
            let directory = try Directory(opening: path)
            if !isWhole {
                // The list first: from here on a crash leaves what the next fetch goes on with.
                let known =
                    try directory.status(Self.lostHolds) == nil
                    ? [] : directory.read(Self.lostHolds, limit: Self.fileLimit)
                try AtomicFile.write(known + Array(readHolds(directory).utf8), to: "\(path)/\(Self.lostHolds)")
                for name in ["refs/martlet", "packed-refs"] { try directory.remove(name) }
                for file in bad { try directory.remove("objects/" + file) }
                try directory.synchronize()
            }
            try directory.remove(Self.damageMark)
        }
        return !isWhole
    }

    /// Beneath `objects`. Packs without an index, and those in which an object has another content than its id says.
    private func damagedFiles(
        _ program: GitProgram?, in repository: OpaquePointer, _ operation: String, _ control: NetworkControl
    ) throws(SourceControlError) -> [String] {
        let (packs, loose) = try files(operation) { () throws(FileError) in
            let objects = try Directory(creating: path + "/objects")
            var loose: [String] = []
            for entry in try objects.entries() where entry.name.utf8.count == 2 && entry.kind == .directory {
                loose += try objects.entries(entry.name).map { entry.name + $0.name }
            }
            return (Set(try objects.status("pack") == nil ? [] : try objects.entries("pack").map(\.name)), loose)
        }
        var bad: [String] = []
        let stems = Set(packs.compactMap { $0.split(separator: ".").first.map(String.init) }).sorted()
        for stem in stems {
            var isWhole = packs.contains(stem + ".pack") && packs.contains(stem + ".idx") && program != nil
            if isWhole, let program {
                let scratch = try GitScratch(program, store: self, operation: operation)
                let command = ["verify-pack", "--", "\(path)/objects/pack/\(stem).idx"]
                let result = try scratch.run(command, operation, control: control, isQuiet: true)
                try scratch.remove(operation)
                isWhole = try Self.isFine(result, operation)
                if control.stopped != nil {
                    throw SourceControlError(code: .canceled, operation: operation, message: "")
                }
            }
            if !isWhole { bad += packs.filter { $0.hasPrefix(stem + ".") }.map { "pack/" + $0 } }
        }
        let store = try GitHandle(operation, free: git_odb_free) { git_repository_odb($0, repository) }
        for name in loose {
            var id = git_oid()
            var object: OpaquePointer?
            // Its content is held to its id as it is read (GIT_OPT_ENABLE_STRICT_HASH_VERIFICATION, on from the start).
            let isWhole = git_oid_fromstr(&id, name) == 0 && git_odb_read(&object, store.pointer, &id) == 0
            git_odb_object_free(object)
            if !isWhole { bad.append("\(name.prefix(2))/\(name.dropFirst(2))") }
        }
        return bad
    }

    /// Whether all that refs, holds and these commits lead to is here.
    private func isConnected(
        _ program: GitProgram?, _ commits: [CommitID], in repository: OpaquePointer, _ operation: String,
        _ control: NetworkControl
    ) throws(SourceControlError) -> Bool {
        guard let program else { return false }
        let holds = try files(operation) { () throws(FileError) in readHolds(try Directory(opening: path)) }
        // One that is still to be fetched says nothing of what is here.
        let isHere = try objects(in: repository, operation)
        let ids =
            holds.split(separator: "\n").compactMap { $0.split(separator: " ").first }
            + commits.filter { isHere("\($0)") }.map { Substring("\($0)") }
        let refs = ids.enumerated().map { "\($1) refs/asked/\($0)\n" }.joined()
        let scratch = try GitScratch(
            program, store: self, refs: "# pack-refs with: \n" + refs + (try listedRefs(operation)),
            operation: operation)
        let result = try scratch.run(
            ["rev-list", "--objects", "--all", "--quiet"], operation, control: control, isQuiet: true)
        try scratch.remove(operation)
        return try Self.isFine(result, operation)
    }

    /// Whether git found all whole. What it did not come to the end of says nothing of the mirror.
    /// - Throws: `unreachable`, so that it is tried again.
    static func isFine(
        _ result: ChildProcess.Result, _ operation: String
    ) throws(SourceControlError) -> Bool {
        if result.status == 0 { return true }
        let said = result.errors.lowercased()
        let isOurs =
            result.status > 128 && result.status < 128 + 65
            || [
                "out of memory", "cannot allocate", "died of signal", "create thread", "too many open files",
                "input/output error", "no space left", "disk quota", "cannot run", "resource temporarily",
            ].contains { said.contains($0) }
        guard !isOurs else {
            throw SourceControlError(
                code: .unreachable, operation: operation,
                message: "git could not check what is damaged: \(result.errors.suffix(300)) (status \(result.status)); "
                    + "Martlet tries again later")
        }
        return false
    }

    private func listedRefs(_ operation: String) throws(SourceControlError) -> String {
        try packedRefs(operation).split(separator: "\n").filter { !$0.hasPrefix("#") && !$0.hasPrefix("^") }.map {
            $0 + "\n"
        }
        .joined()
    }

    /// Lines `ID REF`, read from the files themselves since libgit2 may be unable to.
    private func readHolds(_ directory: Directory) -> String {
        var lines = ""
        // What cannot be read is not held any more; its integration is still in the database.
        try? directory.walk("refs/martlet", limit: 1_000_000) { path, status in
            guard status.kind == .file, let bytes = try? directory.read(path, limit: 100) else { return }
            let id = String(decoding: bytes.prefix(40), as: UTF8.self)
            if CommitID(id) != nil { lines += "\(id) \(String(decoding: path, as: UTF8.self))\n" }
        }
        // Who ran git gc here has packed them.
        let packed = (try? packedRefs("reading holds")) ?? ""
        for line in packed.split(separator: "\n") {
            let parts = line.split(separator: " ", maxSplits: 1)
            if parts.count == 2, CommitID(parts[0]) != nil, parts[1].hasPrefix("refs/martlet/") { lines += line + "\n" }
        }
        return lines
    }

    /// Makes the holds again. Those whose commits neither came back nor `fetch` brings are given up; where the server does not answer they wait
    /// for the next fetch.
    /// - Parameter fetch: Asks the server. It says whether that answered.
    func restoreHolds(
        in repository: OpaquePointer, fetch: (CommitID) throws(SourceControlError) -> Bool
    ) throws(SourceControlError) {
        let operation = "holding commits in the mirror \(name) again"
        let bytes = try files(operation) { () throws(FileError) in
            try WholeFile.read("\(path)/\(Self.lostHolds)", limit: Self.fileLimit)
        }
        var (tries, waiting) = (0, "")
        for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n") {
            let parts = line.split(separator: " ")
            guard parts.count == 2, let commit = CommitID(parts[0]) else { continue }
            if try !contains(commit, in: repository), waiting.isEmpty, tries < Self.maximumTries {
                tries += 1
                if try !fetch(commit) { waiting = "\(line)\n" }
            } else if try !contains(commit, in: repository), !waiting.isEmpty {
                waiting += "\(line)\n"
            }
            if try contains(commit, in: repository) { try hold(commit, as: String(parts[1]), in: repository) }
        }
        try files(operation) { [waiting] () throws(FileError) in
            if waiting.isEmpty { return try Directory(opening: path).remove(Self.lostHolds) }
            try AtomicFile.write(Array(waiting.utf8), to: "\(path)/\(Self.lostHolds)")
        }
    }

    /// Commits that no branch has any more are asked for one by one, each over a connection of its own.
    private static let maximumTries = 50
}

extension RemoteSession {
    /// Fetches, once more where the mirror is found damaged. What is damaged again at once is a bad disk.
    /// - Parameter commits: What is fetched.
    /// - Throws: `unreachable` when the mirror is whole, and so the server's repository is not.
    func healing(
        _ commits: [CommitID], _ fetch: (RemoteSession) throws(SourceControlError) -> Void
    ) throws(SourceControlError) {
        let program = engine == .library ? nil : try GitProgram.installed()
        if store.isMarkedDamaged { _ = try store.heal(program, commits: commits, control: control) }
        do throws(SourceControlError) {
            try fetch(self)
        } catch {
            guard error.code == .mirrorDamaged else { throw error }
            guard try store.heal(program, commits: [], control: control) else {
                throw SourceControlError(
                    code: .unreachable, operation: error.operation,
                    message: "the server's repository is damaged, the mirror is whole: \(error.message)",
                    underlying: error)
            }
            try fetch(self)
        }
    }
}
