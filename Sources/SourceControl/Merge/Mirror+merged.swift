import CLibGit2
package import Model

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
                let found = try git("looking for \(commit.abbreviated) in \(tip.abbreviated)") {
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
