import GRDB
import Model
import TestSupport
import Testing

@testable import Storage

@Suite struct StoreSilencesTests {
    private static let silence = Silence(reason: "known", person: "ada", at: time(100), expires: time(900))

    private func issue(_ fingerprint: String, _ status: Model.Issue.Status = .new, age: Int = 1) -> Model.Issue {
        Model.Issue(
            fingerprint: fingerprint, content: "c", status: status,
            finding: Finding(category: .warning, message: "m"), age: age, configurations: [])
    }

    /// Stores a completed integration with these issues.
    private func integration(
        _ fixture: StoreFixture, _ number: Int, _ issues: [Model.Issue], ref: RefName = RefName(branch: "main")
    ) async throws -> IntegrationID {
        let id = try await fixture.queue(number, ref: ref).id
        try await fixture.store.apply(.started, to: id, at: time(20))
        try await fixture.store.completeIssues(
            of: id, issues: issues, summary: Summary(), at: time(50),
            with: .completed(.warnings, triggerFailed: false))
        return id
    }

    private func statuses(_ fixture: StoreFixture, _ id: IntegrationID) async throws -> [String] {
        try await fixture.store.issues(of: id).map { "\($0.fingerprint) \($0.status) \($0.silence?.reason ?? "-")" }
    }

    @Test(.proves(.issueHistory, "An issue is muted with reason, user and expiry, and no failure becomes green by it"))
    func testThatItShowsThereAndInTheNewestOfEachBranch() async throws {
        try await withStore { fixture in
            // given three integrations of main and one of a release branch, all with the issue `a`
            let line = RefName(branch: "release/1.0")
            let old = try await integration(fixture, 1, [issue("a"), issue("b")])
            let middle = try await integration(fixture, 2, [issue("a", .unresolved, age: 2)])
            let newest = try await integration(fixture, 3, [issue("a", .unresolved, age: 3), issue("b", .resolved)])
            let other = try await integration(fixture, 4, [issue("a")], ref: line)
            // when
            try await fixture.store.silence("a", of: old, Self.silence)
            // then
            #expect(try await statuses(fixture, old) == ["a silenced known", "b new -"])
            #expect(try await statuses(fixture, middle) == ["a unresolved -"])
            #expect(try await statuses(fixture, newest) == ["a silenced known", "b resolved -"])
            #expect(try await statuses(fixture, other) == ["a silenced known"])
            #expect(try await fixture.store.silences(of: name("kit")) == ["a": Self.silence])
            // when it is taken back
            #expect(try await fixture.store.unsilence("a", of: newest))
            #expect(try await statuses(fixture, newest) == ["a unresolved -", "b resolved -"])
            #expect(try await statuses(fixture, other) == ["a new -"])
            #expect(try await fixture.store.silences(of: name("kit")) == [:])
            #expect(try await fixture.store.unsilence("a", of: newest) == false)
        }
    }

    /// Stores a completed integration of a pull request with the issue `a`.
    private func ofPull(_ fixture: StoreFixture, _ number: Int, at commitNumber: Int) async throws -> IntegrationID {
        let ref = RefName(pullRequest: number)
        let head = try commit(commitNumber)
        let id = try await fixture.store.queue(
            NewIntegration(
                bot: try name("kit"), ref: ref, commit: head, cause: .pull,
                pull: IntegratedPullRequest(
                    number: number, place: RefName("refs/pull/\(number)/head"), base: .main,
                    baseCommit: try commit(1), head: head)), at: time(10)
        ).id
        try await fixture.store.apply(.started, to: id, at: time(20))
        try await fixture.store.completeIssues(
            of: id, issues: [issue("a")], summary: Summary(), at: time(50),
            with: .completed(.warnings, triggerFailed: false))
        return id
    }

    @Test(
        .proves(
            .intake,
            "Pull requests: silences, branch health and lists of branches do not include theirs; rows are bounded, and with more than 2,000 none is called closed"
        ))
    func testThatAPullRequestsIsItsOwn() async throws {
        try await withStore { fixture in
            // given: the same issue in main and in two pull requests, one with two heads
            let main = try await integration(fixture, 1, [issue("a")])
            let first = try await ofPull(fixture, 7, at: 2)
            let second = try await ofPull(fixture, 7, at: 3)
            let other = try await ofPull(fixture, 8, at: 4)

            // when: it is silenced in one
            try await fixture.store.silence("a", of: first, Self.silence)
            // then: it is silenced only there
            #expect(try await statuses(fixture, first) == ["a silenced known"])
            #expect(try await statuses(fixture, second) == ["a silenced known"])
            #expect(try await statuses(fixture, other) == ["a new -"])
            #expect(try await statuses(fixture, main) == ["a new -"])
            #expect(try await fixture.store.silences(of: name("kit")) == [:])
            #expect(try await fixture.store.silencedIssues(of: name("kit")).isEmpty)
            #expect(try await fixture.store.silences(for: main) == [:])
            #expect(try await fixture.store.silences(for: other) == [:])
            #expect(try await fixture.store.silences(for: second) == ["a": Self.silence])

            // when: it is silenced in main for another reason
            var mains = Self.silence
            mains.reason = "accepted"
            try await fixture.store.silence("a", of: main, mains)
            // then: the other pull request follows it from its next head on, and the list shows main's
            #expect(try await statuses(fixture, main) == ["a silenced accepted"])
            #expect(try await statuses(fixture, other) == ["a new -"])
            #expect(try await statuses(fixture, second) == ["a silenced known"])
            #expect(try await fixture.store.silences(for: other) == ["a": mains])
            #expect(try await fixture.store.silences(for: second) == ["a": Self.silence])
            let listed = try await fixture.store.silencedIssues(of: name("kit"))
            #expect(listed.map(\.silence) == [mains] && listed.first?.issue?.integration == main)

            // when: the pull request's silence is removed
            #expect(try await fixture.store.unsilence("a", of: second))
            // then: main's counts
            #expect(try await fixture.store.silences(of: name("kit")) == ["a": mains])
            #expect(try await statuses(fixture, second) == ["a new -"])
            #expect(try await statuses(fixture, main) == ["a silenced accepted"])
            #expect(try await fixture.store.unsilence("a", of: second) == false)
        }
    }

    @Test func testThatWhatIsNotThereCannotBeSilenced() async throws {
        try await withStore { fixture in
            let id = try await integration(fixture, 1, [issue("a", .resolved)])
            await expectFailure(.notFound) { try await fixture.store.silence("a", of: id, Self.silence) }
            await expectFailure(.notFound) { try await fixture.store.silence("z", of: id, Self.silence) }
            let unknown = IntegrationID(bot: try name("kit"), number: 99)
            await expectFailure(.notFound) { try await fixture.store.silence("a", of: unknown, Self.silence) }
        }
    }

    @Test func testThatReasonsAreBounded() async throws {
        try await withStore { fixture in
            let id = try await integration(fixture, 1, [issue("a")])
            for reason in ["", String(repeating: "x", count: Silence.maximumReasonBytes + 1)] {
                var silence = Self.silence
                silence.reason = reason
                await expectFailure(.tooLarge) { try await fixture.store.silence("a", of: id, silence) }
            }
        }
    }

    @Test(.proves(.issueHistory, "An issue is muted with reason, user and expiry, and no failure becomes green by it"))
    func testThatTheirNumberIsBoundedAndOldOnesAreForgotten() async throws {
        try await withStore { fixture in
            // given: as many as a bot may have
            let id = try await integration(fixture, 1, [issue("a"), issue("b")])
            try await fixture.store.writer.write("fill") { transaction in
                try transaction.db.execute(
                    sql: """
                        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(Store.maximumSilences))
                        INSERT INTO silences SELECT 1, 'x' || i, 'r', 'p', 1, 200000 FROM n
                        """)
            }
            // then
            await expectFailure(.tooLarge, "unmute some") {
                try await fixture.store.silence("a", of: id, Self.silence)
            }
            // The limit holds until the ones that expired long ago are removed
            var later = Self.silence
            later.at = time(100 * 86_400)
            later.expires = nil
            try await fixture.store.silence("a", of: id, later)
            #expect(try await fixture.store.silences(of: name("kit")) == ["a": later])
        }
    }

    @Test func testThatBotsAreApart() async throws {
        try await withStore(["kit", "other"]) { fixture in
            let id = try await integration(fixture, 1, [issue("a")])
            try await fixture.store.silence("a", of: id, Self.silence)
            #expect(try await fixture.store.silences(of: name("other")) == [:])
        }
    }
}
