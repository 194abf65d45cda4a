import CLibGit2
package import Model

extension Mirror {
    /// Longest list that `commits` returns.
    package static let maximumCommits = 1000

    /// What a commit says of itself.
    /// - Throws: `commitMissing`.
    package func details(of commit: CommitID) async throws(SourceControlError) -> CommitDetails {
        try await local { repository throws(SourceControlError) in
            try CommitReading(repository: repository, operation: "reading \(commit.abbreviated)").details(of: commit)
        }
    }

    /// The commits that `to` has and `from` has not, newest first; without `from` the newest that lead to `to`.
    /// - Parameters:
    ///   - from: When it is not here (any more), only `to` itself is returned.
    ///   - limit: At most this many, and never more than `maximumCommits`.
    package func commits(from: CommitID?, to: CommitID, limit: Int) async throws(SourceControlError) -> [CommitDetails]
    {
        let limit = min(limit, Self.maximumCommits)
        return try await local { repository throws(SourceControlError) in
            try CommitReading(repository: repository, operation: "listing the commits of \(to.abbreviated)")
                .commits(from: from, to: to, limit: limit)
        }
    }

    /// Whether `descendant` is `ancestor` or has it in its history.
    /// - Throws: `commitMissing` when one of the two is not here.
    package func isAncestor(_ ancestor: CommitID, of descendant: CommitID) async throws(SourceControlError) -> Bool {
        try await local { repository throws(SourceControlError) in
            let operation = "comparing \(ancestor.abbreviated) with \(descendant.abbreviated)"
            let reading = CommitReading(repository: repository, operation: operation)
            _ = try reading.commit(ancestor)
            _ = try reading.commit(descendant)
            if ancestor == descendant { return true }
            var (old, new) = (try git_oid(ancestor), try git_oid(descendant))
            return try git(operation) { git_graph_descendant_of(repository, &new, &old) } == 1
        }
    }

    /// The names in the root of a commit's tree; those that are not UTF-8 are repaired.
    package func rootEntries(of commit: CommitID) async throws(SourceControlError) -> [String] {
        try await local { repository throws(SourceControlError) in
            let reading = CommitReading(repository: repository, operation: "reading the tree of \(commit.abbreviated)")
            return CommitReading.entries(of: try reading.rootTree(of: commit)).map {
                String(decoding: $0.name, as: UTF8.self)
            }
        }
    }

    /// Reads a file of a commit, without filters; `nil` if the path is absent or not a regular file. Links are not followed.
    /// - Parameters:
    ///   - path: From the root, with `/` between; compared byte by byte.
    ///   - limit: In bytes.
    /// - Throws: `tooLarge`, `commitMissing`.
    package func file(_ path: String, at commit: CommitID, limit: Int) async throws(SourceControlError) -> [UInt8]? {
        try await local { repository throws(SourceControlError) in
            try CommitReading(repository: repository, operation: "reading \(path) of \(commit.abbreviated)")
                .file(path, at: commit, limit: limit)
        }
    }

    /// The commit that a user or a program means.
    ///
    /// Only the full name of a branch or tag as the last fetch left it, or at least 7 hexadecimal digits of an id that is
    /// here. Git's revision language (`@{-1}`, `HEAD^{/x}`, `:/x`) never reaches libgit2: CVE-2024-24575 looped in it.
    /// - Returns: `nil` if there is no such ref or commit.
    /// - Throws: `invalidRevision` for anything else, and for digits with which several objects begin.
    package func resolve(_ revision: String) async throws(SourceControlError) -> CommitID? {
        let operation = "resolving \"\(revision.prefix(100))\""
        let digits = revision.lowercased()
        let isHexadecimal = digits.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
        if isHexadecimal, (7...Int(GIT_OID_HEXSZ)).contains(digits.utf8.count) {
            return try await local { repository throws(SourceControlError) in
                try Self.commit(beginning: digits, in: repository, operation)
            }
        }
        let ref = RefName(revision)
        guard ref.branch != nil || ref.tag != nil, !revision.utf8.contains(0), RemoteSession.isValid(ref) else {
            throw SourceControlError(
                code: .invalidRevision, operation: operation,
                message: "write refs/heads/BRANCH, refs/tags/TAG, or 7 to 40 hexadecimal digits of a commit's id")
        }
        return try await local { repository throws(SourceControlError) in
            var found: OpaquePointer?
            let result = git_reference_lookup(&found, repository, ref.description)
            if result == GIT_ENOTFOUND.rawValue { return nil }
            try git(operation) { result }
            defer { git_reference_free(found) }
            var peeled: OpaquePointer?
            guard git_reference_peel(&peeled, found, GIT_OBJECT_COMMIT) == 0 else { return nil }
            defer { git_object_free(peeled) }
            return git_object_id(peeled)?.pointee.commitID
        }
    }

    private static func commit(beginning digits: String, in repository: OpaquePointer, _ operation: String)
        throws(SourceControlError) -> CommitID?
    {
        var prefix = git_oid()
        try git(operation) { git_oid_fromstrn(&prefix, digits, digits.utf8.count) }
        var found: OpaquePointer?
        let result = git_object_lookup_prefix(&found, repository, &prefix, digits.utf8.count, GIT_OBJECT_ANY)
        if result == GIT_ENOTFOUND.rawValue { return nil }
        if result == GIT_EAMBIGUOUS.rawValue {
            throw SourceControlError(
                code: .invalidRevision, operation: operation,
                message: "several objects begin with these digits; write more of them")
        }
        try git(operation) { result }
        defer { git_object_free(found) }
        var peeled: OpaquePointer?
        guard git_object_peel(&peeled, found, GIT_OBJECT_COMMIT) == 0 else { return nil }
        defer { git_object_free(peeled) }
        return git_object_id(peeled)?.pointee.commitID
    }
}
