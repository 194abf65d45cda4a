import Model
import TestSupport
import Testing

@testable import SourceControl

/// Merges that would take too long or too much memory. libgit2 cannot be stopped, so they are not begun.
@Suite struct MergeLimitTests {
    private typealias Limit = WritableKeyPath<MergeSurvey.Limits, Int>

    private static func outcome(
        _ fixture: Fixture, _ base: CommitID, _ head: CommitID, _ limit: Limit, _ value: Int
    ) async throws -> String {
        var limits = MergeSurvey.Limits()
        limits[keyPath: limit] = value
        let outcome = try await fixture.mirror.merge(head, into: base, limits: limits)
        switch outcome {
        case .merged: return "merged"
        case .conflicts(let paths, _): return "conflicts in \(paths.joined(separator: " "))"
        case .refused(let reason): return reason
        }
    }

    @Test(
        .proves(
            .intake,
            "Pull requests: a merge that would be too much is not begun, and the head alone is integrated, which says why"
        ))
    func testThatEachLimitIsHeldAndSaysWhatWasTooMuch() async throws {
        let file = (1...20).map { "line \($0)\n" }.joined()
        let bytes = file.utf8.count
        try await withOrigin(["a": file, "d/e": "e\n"]) { fixture in
            // given: two files that differ, one of which was changed on both sides
            let (base, head) = try await fixture.diverge(
                main: ["a": file + "main\n", "b": "b\n"],
                side: ["a": "side\n" + file, "c": "c\n", "f/g": "g\n"])

            // when, then: limits that are just sufficient, and ones that are not
            let cases: [(limit: Limit, enough: Int, few: Int, reason: String)] = [
                (\.commits, 4, 1, "more than 1 commits lie between them"),
                (\.ancestors, 1, 0, "their histories divide in more than 0 commits"),
                (\.entries, 6, 5, "holds more than 5 files and directories, or"),
                (\.pathBytes, 10, 9, "MiB of paths"),
                (\.differing, 7, 6, "more than 6 files and directories differ"),
                (\.fileBytes, bytes + 5, bytes + 4, "both change a, which has more than"),
                (\.mergedBytes, 3 * bytes + 10, 3 * bytes + 9, "the files that both change have more than"),
                (\.fileLines, 21, 20, "both change a, which has more than 20 lines"),
            ]
            for (limit, enough, few, reason) in cases {
                let merged = try await Self.outcome(fixture, base, head, limit, enough)
                #expect(merged == "merged", "\(enough) for \(reason)")
                let refused = try await Self.outcome(fixture, base, head, limit, few)
                #expect(refused.hasPrefix("the merge would exceed a limit: "))
                expectContains(refused, reason)
            }
        }
    }

    @Test(
        .proves(
            .intake,
            "Pull requests: a merge that would be too much is not begun, and the head alone is integrated, which says why"
        ))
    func testThatAHeadWithoutACommonCommitIsNotMerged() async throws {
        try await withOrigin(["a": "1\n"]) { fixture in
            // given
            try await fixture.origin.git("checkout", "-q", "--orphan", "side")
            let head = try await fixture.origin.commit(files: ["a": "2\n"])
            try await fixture.origin.checkout("main")
            let base = try await fixture.origin.head()
            try await fixture.mirror.fetch([fixture.main: base, RefName(branch: "side"): head])

            // when, then
            let outcome = try await fixture.mirror.merge(head, into: base)
            #expect(outcome == .refused("the merge would exceed a limit: they have no commit in common"))
        }
    }

    @Test(
        .proves(
            .intake,
            "Pull requests: a merge that would be too much is not begun, and the head alone is integrated, which says why"
        ))
    func testThatRenamesAreNotLookedForInTooMuch() async throws {
        let text = (1...40).map { "line \($0)\n" }.joined()
        try await withOrigin(["old": text]) { fixture in
            // given: renamed on one side, changed on the other
            let (base, head) = try await fixture.diverge(
                main: ["old": text + "more\n"], side: ["new": text], removing: ["old"])

            // when, then
            let found = try await Self.outcome(fixture, base, head, \.renamedBytes, 2 * text.utf8.count)
            #expect(found == "merged")
            let unsought = try await Self.outcome(fixture, base, head, \.renamedBytes, 99)
            #expect(unsought == "conflicts in old")
        }
    }

    @Test(
        .proves(
            .intake,
            "Pull requests: a merge that would be too much is not begun, and the head alone is integrated, which says why"
        ))
    func testThatHistoriesThatPartInManyPlacesAreNotMerged() async throws {
        try await withOrigin { fixture in
            // given: each branch has merged the other's first commit
            try await fixture.origin.branch("side")
            let side = try await fixture.origin.commit(files: ["s": "1\n"])
            try await fixture.origin.checkout("main")
            let main = try await fixture.origin.commit(files: ["m": "1\n"])
            try await fixture.origin.git("merge", "-q", "--no-ff", "-m", "One", "\(side)")
            let base = try await fixture.origin.head()
            try await fixture.origin.checkout("side")
            try await fixture.origin.git("merge", "-q", "--no-ff", "-m", "Two", "\(main)")
            let head = try await fixture.origin.head()
            try await fixture.mirror.fetch([fixture.main: base, RefName(branch: "side"): head])

            // when, then: two merge bases, and the base of those
            let merged = try await Self.outcome(fixture, base, head, \.ancestors, 3)
            #expect(merged == "merged")
            let refused = try await Self.outcome(fixture, base, head, \.ancestors, 2)
            #expect(refused == "the merge would exceed a limit: their histories divide in more than 2 commits")
        }
    }

    /// Ten trees of ten entries each name ten billion files.
    @Test(
        .proves(
            .intake,
            "Pull requests: a merge that would be too much is not begun, and the head alone is integrated, which says why"
        ))
    func testThatAPyramidOfTreesIsNeitherMergedNorSearchedForSubmodules() async throws {
        try await withOrigin(["a": "1\n"]) { fixture in
            // given
            let base = try await fixture.fetch()
            var entry = "100644 blob \(try await fixture.origin.git(["hash-object", "-w", "--stdin"], input: "x\n"))"
            for _ in 1...10 {
                let lines = (0...9).map { "\(entry)\t\($0)\n" }.joined()
                entry = "040000 tree \(try await fixture.origin.git(["mktree"], input: lines))"
            }
            let tree = String(entry.split(separator: " ")[2])
            let id = try await fixture.origin.git("commit-tree", "-p", "\(base)", "-m", "Pyramid", tree)
            let head = try #require(CommitID(id))
            try await fixture.origin.git("branch", "pyramid", id)
            try await fixture.mirror.fetch([RefName(branch: "pyramid"): head])

            // when, then
            guard case .refused(let reason) = try await fixture.mirror.merge(head, into: base) else {
                return #expect(Bool(false), "it was merged")
            }
            expectContains(reason, "holds more than 1000000 files and directories")
            await expectRejection(SourceControlError.self, \.code, .tooLarge) {
                _ = try await fixture.mirror.haveOtherSubmodules(base, head)
            }
        }
    }

    // MARK: Merged without a word

    @Test(
        .proves(
            .intake,
            "Pull requests: a closing that was never announced is found: its ref is gone for ten minutes, its head is in its base, or 180 days passed without an event"
        ))
    func testThatAHeadIsMergedOnceItIsInItsBaseAndWasNotBefore() async throws {
        try await withOrigin { fixture in
            // given: one that is merged, one that is not, one that was there from the beginning, and one that the mirror does not have
            let first = try await fixture.origin.head()
            try await fixture.origin.branch("side")
            let head = try await fixture.origin.commit(files: ["s": "1\n"])
            try await fixture.origin.branch("open")
            let open = try await fixture.origin.commit(files: ["o": "1\n"])
            try await fixture.origin.checkout("main")
            try await fixture.origin.git("merge", "-q", "--no-ff", "-m", "Merge", "side")
            let tip = try await fixture.origin.head()
            try await fixture.mirror.fetch([fixture.main: tip, RefName(branch: "open"): open])
            let other = try #require(CommitID(String(repeating: "ab", count: 20)))

            // when
            let answers = try await fixture.mirror.whichAreMerged([
                MergeQuestion(head: head, first: first, tip: tip), MergeQuestion(head: open, first: first, tip: tip),
                MergeQuestion(head: first, first: first, tip: tip), MergeQuestion(head: head, first: first, tip: other),
                MergeQuestion(head: other, first: first, tip: tip), MergeQuestion(head: tip, first: first, tip: tip),
            ])

            // then
            #expect(answers == [true, false, false, nil, nil, true])
            // One call may not ask for more
            let many = Array(repeating: MergeQuestion(head: open, first: first, tip: tip), count: 30)
            #expect(try await fixture.mirror.whichAreMerged(many).count { $0 != nil } == Mirror.maximumQuestions)
        }
    }
}
