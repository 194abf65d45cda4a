import CLibGit2
package import Model

extension Mirror {
    /// Merges a commit into another, in the mirror alone: no ref is touched; `hold` keeps what was made.
    /// - Returns: The merge, or why there is none.
    /// - Throws: `commitMissing` when one of the two is not here; `mirrorDamaged`.
    package func merge(_ head: CommitID, into base: CommitID) async throws(SourceControlError) -> MergeOutcome {
        try await merge(head, into: base, limits: MergeSurvey.Limits())
    }

    /// - Parameter limits: Above which nothing is merged.
    func merge(
        _ head: CommitID, into base: CommitID, limits: MergeSurvey.Limits
    ) async throws(SourceControlError) -> MergeOutcome {
        try await local { repository throws(SourceControlError) in
            let operation = "merging \(head.abbreviated) into \(base.abbreviated)"
            return try MergeWriter(reading: CommitReading(repository: repository, operation: operation), limits: limits)
                .merge(head, into: base)
        }
    }

    /// Whether two commits differ in which submodules they have, where those are had, or at which commits they are.
    /// - Throws: `commitMissing`, `mirrorDamaged`.
    package func haveOtherSubmodules(_ old: CommitID, _ new: CommitID) async throws(SourceControlError) -> Bool {
        try await local { repository throws(SourceControlError) in
            let operation = "comparing the submodules of \(old.abbreviated) and \(new.abbreviated)"
            let reading = CommitReading(repository: repository, operation: operation)
            let before = try reading.rootTree(of: old)
            let after = try reading.rootTree(of: new)
            var isOther = false
            let difference = TreeDifference(reading: reading, limit: MergeSurvey.Limits().entries)
            let isAll = try difference.walk(from: CommitReading.id(of: before), to: CommitReading.id(of: after)) {
                path, old, new throws(SourceControlError) in
                if path.elementsEqual(".gitmodules".utf8) { isOther = true }
                for entry in [old, new] where UInt32(entry?.mode ?? 0) == GIT_FILEMODE_COMMIT.rawValue {
                    isOther = true
                }
            }
            guard isAll || isOther else {
                throw SourceControlError(
                    code: .tooLarge, operation: operation,
                    message: "more than \(difference.limit) files and directories differ")
            }
            return isOther
        }
    }
}

/// The result of a merge of two commits.
package enum MergeOutcome: Sendable, Hashable {
    /// The merge succeeded with this commit, which is the same for the same two commits in every run.
    case merged(CommitID)
    /// Both commits have changed the same lines, or the same file in incompatible ways.
    /// - Parameters:
    ///   - paths: The first `maximumPaths` paths, as text; bytes that are not UTF-8 are replaced.
    ///   - count: The number of all such paths.
    case conflicts(paths: [String], count: Int)
    /// The two trees cannot be merged, for this reason.
    case refused(String)

    /// The most paths that are listed.
    package static let maximumPaths = 5
}

/// Whether a head has come into a branch since the branch was somewhere.
package struct MergeQuestion: Hashable, Sendable {
    package var head: CommitID
    /// Where the branch was.
    package var first: CommitID
    /// Where it is.
    package var tip: CommitID

    package init(head: CommitID, first: CommitID, tip: CommitID) {
        self.head = head
        self.first = first
        self.tip = tip
    }
}

extension Mirror {
    /// Questions that one call answers: each walks two histories back to where they part.
    static let maximumQuestions = 20

    /// Answers which heads are in the history of a branch's tip and were not in that of the tip before.
    /// - Returns: One answer per question, in order; `nil` if a commit is not in the mirror, and for questions beyond `maximumQuestions`.
    package func whichAreMerged(_ questions: [MergeQuestion]) async throws(SourceControlError) -> [Bool?] {
        let store = store
        return try await local { repository throws(SourceControlError) in
            // What is not here is looked for in all packs, so once each.
            var known: [CommitID: Bool] = [:]
            func isHere(_ commit: CommitID) throws(SourceControlError) -> Bool {
                if let known = known[commit] { return known }
                let isHere = try store.contains(commit, in: repository)
                known[commit] = isHere
                return isHere
            }
            func isIn(_ commit: CommitID, _ tip: CommitID) throws(SourceControlError) -> Bool {
                if commit == tip { return true }
                var (old, new) = (try git_oid(commit), try git_oid(tip))
                let found = try git("finding \(commit.abbreviated) in \(tip.abbreviated)") {
                    git_graph_descendant_of(repository, &new, &old)
                }
                return found == 1
            }
            var answers: [Bool?] = []
            var count = 0
            for question in questions {
                guard count < Self.maximumQuestions, try isHere(question.tip), try isHere(question.first),
                    try isHere(question.head)
                else {
                    answers.append(nil)
                    continue
                }
                count += 1
                let isMerged = try isIn(question.head, question.tip)
                let wasIn = isMerged ? try isIn(question.head, question.first) : false
                answers.append(isMerged && !wasIn)
            }
            return answers
        }
    }
}
