import Basics
import CLibGit2
import Glibc
package import Model

/// Writes the `.git` that a job sees: HEAD, its ref, the tags, the default branch as `origin/…`, an index, and a reference to the mirror's objects.
///
/// It is sufficient for `git rev-parse`, `git describe --dirty`, `git log`, `git merge-base origin/main HEAD` and SwiftPM. It is read-only, and the
/// service never opens it. If it is unchanged since the previous checkout, it is kept: a job that changed it has changed the times of its inodes.
/// Otherwise it is recreated.
struct WorkspaceGit {
    let operation: String
    let store: MirrorStore
    let repository: OpaquePointer
    let commit: CommitID
    let ref: RefName
    let tree: Directory
    /// The service's directory for records, outside of the workspace.
    let memory: Directory
    /// The directories of the root that do not count as changes, whatever the commit's rules say.
    let kept: Set<[UInt8]>
    let upstream: UpstreamRefs

    /// The directories of the `.git`. Their changing contents are not listed.
    private static let directories = [
        "info", "objects/info", "objects/pack", "objects", "refs/heads", "refs/tags",
        "refs/remotes/origin", "refs/remotes", "refs",
    ]
    private static let names = ["HEAD", "config", "packed-refs", "objects/info/alternates", "info/exclude", "index"]
    private static let originHead = "refs/remotes/origin/HEAD"

    /// - Parameters:
    ///   - links: All submodules, by their paths, whether their files are written or not.
    ///   - isSame: Whether the previous checkout wrote the same files of the same commit.
    func write(_ record: CheckoutRecord, links: [[UInt8]: git_oid], isSame: Bool) throws(SourceControlError) {
        let upstream = try presentUpstream()
        let head = upstream.defaultBranch.flatMap { Self.remote($0) }
        let (now, before) = (seal(upstream, head), try sealBefore())
        if isSame, let now, now == before { return }
        let isUntouched = now != nil && now?.rest == before?.rest
        let index = try index(of: record, links)
        var refs = try tags()
        // The job's own ref exists even if the mirror no longer lists it. If a listed tag leads to the commit, its own object is kept.
        if ref.branch != nil || ref.tag != nil, refs[ref]?.commit != commit.description {
            refs[ref] = PackedRef(commit: commit.description, lines: "\(commit) \(ref)\n")
        }
        for (branch, commit) in upstream.branches {
            guard let remote = Self.remote(branch) else { continue }
            refs[remote] = PackedRef(commit: commit.description, lines: "\(commit) \(remote)\n")
        }
        let packed =
            "# pack-refs with: peeled fully-peeled sorted \n"
            + refs.sorted { $0.key < $1.key }.map(\.value.lines).joined()
        let own = Array((ref.branch == nil ? "\(commit)\n" : "ref: \(ref)\n").utf8)
        try files(operation) { () throws(FileError) in
            if isUntouched {
                try setMode(".git", 0o755)
                if try tree.read(".git/HEAD", limit: Directory.maximumPathLength) != own { try write("HEAD", own) }
            } else {
                try tree.remove(".git")
                for directory in [
                    "info", "objects/info", "objects/pack", "refs/heads", "refs/tags", "refs/remotes/origin",
                ] {
                    try tree.makeDirectories(".git/" + directory)
                }
                try write("HEAD", own)
                if let head { try write(Self.originHead, Array("ref: \(head)\n".utf8)) }
                try write("config", Array(Self.configuration.utf8))
                try write("objects/info/alternates", Array((store.path + "/objects\n").utf8))
                try write("info/exclude", Array(excluded.utf8))
                for directory in Self.directories { try setMode(".git/" + directory, 0o555) }
            }
            try write("packed-refs", Array(packed.utf8))
            try write("index", index)
            try setMode(".git", 0o555)
        }
        let bytes = seal(upstream, head)?.bytes ?? []
        _ = try files(operation) { () throws(FileError) in try memory.rewrite("git", bytes: bytes, mode: 0o600) }
    }

    /// Writes a file. If the process is killed here, the file's status differs from the seal, so that the next checkout recreates the whole `.git`.
    private func write(_ name: String, _ bytes: [UInt8]) throws(FileError) {
        try tree.rewrite(".git/" + name, bytes: bytes, mode: 0o444)
    }

    /// The configuration. It sets `checkStat`, because the record lacks the group and device that git would otherwise compare.
    private static let configuration = """
        [core]
        \trepositoryformatversion = 0
        \tfilemode = true
        \tbare = false
        \tcheckStat = minimal
        [gc]
        \tauto = 0

        """

    /// The ignore patterns for kept directories. The checkout never reads them: it uses the commit's own rules.
    private var excluded: String {
        kept.map { "/\(String(decoding: $0, as: UTF8.self))/\n" }.sorted().joined()
    }

    /// The contents of the `.git`, and the status of its files after they were written.
    private struct Seal: Equatable {
        /// The part that another commit, or another tag, changes.
        var what: String
        /// The part that does not depend on either, and the status of each file and directory.
        var rest: String

        var bytes: [UInt8] { Array("\(what)\n\n\(rest)".utf8) }
    }

    /// Returns the seal of the current files. `nil` if one is missing, or if a job has put a link in place of a directory.
    /// - Parameter head: The target of `origin/HEAD`.
    private func seal(_ upstream: UpstreamRefs, _ head: RefName?) -> Seal? {
        do throws(FileError) {
            let packed = try Directory(opening: store.path).status("packed-refs")
            // The seal includes what this version of the program writes.
            var rest = "\(Self.configuration)\(Self.directories)\(store.path)\n\(excluded)\(head?.description ?? "")\n"
            let names = Self.names + (head == nil ? [] : [Self.originHead])
            for name in [".git"] + (Self.directories + names).map({ ".git/" + $0 }) {
                guard let status = try tree.status(name) else { return nil }
                rest += Self.line(status) + "\n"
            }
            let others = upstream.branches.sorted { $0.key < $1.key }.map { " \($0.key) \($0.value)" }.joined()
            return Seal(what: "\(commit) \(ref)\(others)\n\(packed.map(Self.line) ?? "-")", rest: rest)
        } catch {
            return nil
        }
    }

    private static func line(_ status: FileStatus) -> String {
        "\(status.device) \(status.inode) \(status.changed) \(status.size) \(status.mode)"
    }

    /// Returns the seal that the previous checkout stored; `nil` if there is none.
    private func sealBefore() throws(SourceControlError) -> Seal? {
        try files(operation) { () throws(FileError) in
            guard try memory.status("git") != nil else { return nil }
            let text = String(decoding: try memory.read("git", limit: 1 << 16), as: UTF8.self)
            guard let end = text.firstRange(of: "\n\n") else { return nil }
            return Seal(what: String(text[..<end.lowerBound]), rest: String(text[end.upperBound...]))
        }
    }

    /// Returns the branches whose commits are in the mirror, and the default branch if it is one of them.
    private func presentUpstream() throws(SourceControlError) -> UpstreamRefs {
        guard !upstream.branches.isEmpty else { return UpstreamRefs() }
        let isHere = try store.objects(in: repository, operation)
        var present = upstream
        present.branches = upstream.branches.filter { $0.key.branch != nil && isHere($0.value.description) }
        if let branch = upstream.defaultBranch, present.branches[branch] == nil { present.defaultBranch = nil }
        return present
    }

    /// Returns the name of a server's branch in a clone; `nil` if the ref is not a branch.
    private static func remote(_ branch: RefName) -> RefName? {
        branch.branch.map { RefName("refs/remotes/origin/" + $0) }
    }

    private func setMode(_ path: String, _ mode: mode_t) throws(FileError) {
        let directory = try tree.directory(path)
        guard fchmod(directory.descriptor, mode) == 0 else {
            throw FileError(operation: "chmod", path: directory.path, errno: errno)
        }
    }

    /// A ref in the form of `packed-refs`.
    private struct PackedRef {
        /// The commit that it leads to, through an annotated tag if it is one.
        var commit: String
        var lines: String
    }

    /// Returns all tags of the mirror.
    private func tags() throws(SourceControlError) -> [RefName: PackedRef] {
        let text = try files(operation) { () throws(FileError) -> [UInt8] in
            guard try Directory(opening: store.path).status("packed-refs") != nil else { return [] }
            return try WholeFile.read(store.path + "/packed-refs", limit: 256 << 20)
        }
        var tags: [RefName: PackedRef] = [:]
        var last: RefName?
        for line in String(decoding: text, as: UTF8.self).split(separator: "\n") {
            if line.hasPrefix("^") {
                guard let last else { continue }
                tags[last]?.commit = String(line.dropFirst())
                tags[last]?.lines += line + "\n"
                continue
            }
            let parts = line.split(separator: " ", maxSplits: 1)
            let ref = parts.count == 2 ? RefName(String(parts[1])) : nil
            last = ref?.tag == nil ? nil : ref
            if let last { tags[last] = PackedRef(commit: String(parts[0]), lines: line + "\n") }
        }
        return tags
    }

    /// Returns git's index of the written files, with their times, so that `git status` finds no change.
    private func index(of record: CheckoutRecord, _ links: [[UInt8]: git_oid]) throws(SourceControlError) -> [UInt8] {
        let path = memory.path + "/index"
        try files(operation) { () throws(FileError) in try memory.remove("index") }
        let index = try GitHandle(operation, free: git_index_free) { git_index_open($0, path) }
        // For git a submodule is its commit, whatever is in its directory.
        var entries = record.entries
        if !links.isEmpty {
            let slash = UInt8(ascii: "/")
            entries = entries.filter { path, _ in
                !path.indices.contains { path[$0] == slash && links[Array(path[..<$0])] != nil }
            }
            for (path, id) in links { entries[path] = .init(.init(kind: .submodule, id: id), size: 0) }
        }
        // The entries are in the index's own order, so that each is appended instead of inserted.
        for (path, entry) in entries.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
            var added = git_index_entry()
            added.mtime = git_index_time(
                seconds: Int32(truncatingIfNeeded: entry.modified / 1_000_000_000), nanoseconds: 0)
            added.ctime = git_index_time(
                seconds: Int32(truncatingIfNeeded: entry.changed / 1_000_000_000), nanoseconds: 0)
            added.file_size = UInt32(truncatingIfNeeded: entry.size)
            switch entry.kind {
            case .file: added.mode = GIT_FILEMODE_BLOB.rawValue
            case .executable: added.mode = GIT_FILEMODE_BLOB_EXECUTABLE.rawValue
            case .link: added.mode = GIT_FILEMODE_LINK.rawValue
            case .submodule: added.mode = GIT_FILEMODE_COMMIT.rawValue
            }
            added.id = entry.id.id
            var result: Int32 = 0
            (path + [0]).withUnsafeBytes { bytes in
                added.path = bytes.bindMemory(to: CChar.self).baseAddress
                result = git_index_add(index.pointer, &added)
            }
            try git(operation) { result }
        }
        try git(operation) { git_index_write(index.pointer) }
        return try files(operation) { () throws(FileError) in try memory.read("index", limit: 1 << 30) }
    }
}

/// The server's branches that a job's `.git` contains as `refs/remotes/origin/…`, in addition to its own ref and the tags.
package struct UpstreamRefs: Sendable, Hashable {
    /// The branches, each with its commit. A branch whose commit is not in the mirror is left out.
    package var branches: [RefName: CommitID]
    /// The target of `origin/HEAD`; `nil` if it is not one of them.
    package var defaultBranch: RefName?

    package init(branches: [RefName: CommitID] = [:], defaultBranch: RefName? = nil) {
        self.branches = branches
        self.defaultBranch = defaultBranch
    }
}
