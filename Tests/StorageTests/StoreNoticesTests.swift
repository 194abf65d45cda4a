import Model
import TestSupport
import Testing

@testable import Storage

/// The recipients of notifications, stored with the end that caused them.
@Suite struct StoreNoticesTests {
    /// Returns a bot that notifies `team` by mail and `chat` by a webhook.
    private static func specification(_ when: [Transition] = Transition.allCases) throws -> BotSpecification {
        let ann = try #require(MailAddress("ann@acme.example"))
        return BotSpecification(
            name: try name("kit"), repository: StoreFixture.repository,
            notices: [
                Notice(name: try name("team"), when: when, target: .mail(to: [ann], authorsIn: ["acme.example"])),
                Notice(
                    name: try name("chat"), branches: [RefPattern("main")], when: when,
                    target: .webhook(url: "https://chat.example:8443/hook?key=x", secret: "s")),
            ])
    }

    private static func withNotices(
        _ when: [Transition] = Transition.allCases, _ body: (StoreFixture) async throws -> Void
    ) async throws {
        try await withStore { fixture in
            try await fixture.store.register([try specification(when)], at: time(1))
            try await body(fixture)
        }
    }

    private static func issue(
        _ category: Finding.Category = .error, by email: String? = nil, confidence: Introduction.Confidence = .high,
        status: Model.Issue.Status = .new
    ) throws -> Model.Issue {
        let introduction = try email.map {
            Introduction(
                commit: try commit(1), author: "Bob", email: $0, strategy: .blameLine, confidence: confidence)
        }
        return Model.Issue(
            fingerprint: "f", status: status, finding: Finding(category: category, message: "no"), age: 1,
            configurations: [], introducedBy: introduction)
    }

    /// Completes an integration with its issues.
    @discardableResult
    private static func end(
        _ fixture: StoreFixture, _ verdict: Verdict, on ref: RefName = .main, issues: [Model.Issue] = []
    ) async throws -> IntegrationID {
        let id = try await fixture.queue(ref: ref).id
        try await finish(fixture, id, verdict, issues: issues)
        return id
    }

    private static func finish(
        _ fixture: StoreFixture, _ id: IntegrationID, _ verdict: Verdict, issues: [Model.Issue] = []
    ) async throws {
        try await fixture.store.apply(.started, to: id, at: time(20))
        try await fixture.store.completeIssues(
            of: id, issues: issues, summary: Summary(), at: time(25), with: .completed(verdict, triggerFailed: false))
    }

    /// Returns `TRANSITION NUMBER RECIPIENT-OR-NOTICE`, oldest first.
    private static func reported(_ fixture: StoreFixture) async throws -> [String] {
        try await fixture.store.outbox(limit: 200).items.reversed().map { message in
            let notice = try #require(message.content.notice)
            let broken = notice.brokenBy.map { " since \($0.number).\($0.run)" } ?? ""
            return "\(notice.transition.rawValue) \(message.integration?.number ?? 0)"
                + " \(notice.recipient ?? notice.name.description)\(broken)"
        }
    }

    @Test(
        .proves(
            .intake,
            "Pull requests: silences, branch health and lists of branches do not include theirs; rows are bounded, and with more than 2,000 none is called closed"
        ))
    func testThatAPullRequestStandsForNothingAndWhatStandsIsBounded() async throws {
        try await Self.withNotices { fixture in
            // given: as many refs as are kept, and more
            try await fixture.change(
                """
                WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000)
                INSERT INTO standings SELECT id, 'refs/heads/b' || i, 1, -i, NULL, NULL FROM bots, n
                """)

            // when: an integration of a branch, and one of a pull request
            try await Self.end(fixture, .succeeded)
            let head = try commit(7)
            let pull = try await fixture.store.queue(
                NewIntegration(
                    bot: try name("kit"), ref: RefName(pullRequest: 12), commit: head, cause: .pull,
                    pull: IntegratedPullRequest(
                        number: 12, place: StoreFixture.place, base: .main, baseCommit: head, head: head)), at: time(10)
            )
            try await Self.finish(fixture, pull.id, .testFailures)

            // then: the ones with the highest numbers stay
            #expect(try await fixture.count("standings") == Store.maximumBranchHealths)
            #expect(try await fixture.count("standings WHERE ref = 'refs/heads/main'") == 1)
            #expect(try await fixture.count("standings WHERE ref GLOB 'refs/pull/*'") == 0)
            #expect(try await Self.reported(fixture).isEmpty)
        }
    }

    @Test(
        .proves(
            .notices,
            "A notification is stored with the end that causes it, once for each recipient. One message reports the break and its new issues"
        ))
    func testThatEachChangeIsToldOnceToEach() async throws {
        try await Self.withNotices { fixture in
            // when
            for verdict: Verdict in [.succeeded, .testFailures, .buildErrors, .warnings, .succeeded] {
                try await Self.end(fixture, verdict)
            }
            // then
            #expect(
                try await Self.reported(fixture) == [
                    "broke 2 ann@acme.example", "broke 2 chat", "fixed 4 ann@acme.example since 2.1",
                    "fixed 4 chat since 2.1",
                ])
            let messages = try await fixture.store.outbox(limit: 200).items
            #expect(Set(messages.map(\.destination)) == ["mail", "https://chat.example:8443"])
            #expect(
                Set(messages.map(\.subject)) == ["kit refs/heads/main ann@acme.example", "kit refs/heads/main chat"])
            #expect(messages.allSatisfy { $0.state == .waiting }, "what happened is told each time")
        }
    }

    @Test(
        .proves(
            .notices,
            "Broke, fixed and new issue are a function of the integration and the branch's health; still failing is silent; canceled ones and our faults are passed over"
        ))
    func testThatWhatSaysNothingOfTheCodeIsPassedOver() async throws {
        try await Self.withNotices { fixture in
            for verdict: Verdict in [.buildErrors, .canceled, .internalError, .checkoutError, .succeeded] {
                try await Self.end(fixture, verdict)
            }
            #expect(
                try await Self.reported(fixture) == [
                    "broke 1 ann@acme.example", "broke 1 chat", "fixed 5 ann@acme.example since 1.1",
                    "fixed 5 chat since 1.1",
                ])
        }
    }

    @Test func testThatBranchesAreToldOfByThemselvesAndPullRequestsNot() async throws {
        try await Self.withNotices { fixture in
            try await Self.end(fixture, .succeeded)
            try await Self.end(fixture, .buildErrors, on: .line)
            try await Self.end(fixture, .buildErrors, on: RefName(pullRequest: 7))
            try await Self.end(fixture, .succeeded, on: .line)
            // `chat` is notified of main only.
            #expect(
                try await Self.reported(fixture) == ["broke 2 ann@acme.example", "fixed 4 ann@acme.example since 2.1"])
        }
    }

    @Test(
        .proves(
            .notices,
            "A notification is stored with the end that causes it, once for each recipient. One message reports the break and its new issues"
        ))
    func testThatNewIssuesAreToldAndBrokeSaysThemToo() async throws {
        try await Self.withNotices { fixture in
            try await Self.end(fixture, .succeeded, issues: [Self.issue(.analyzerWarning)])
            try await Self.end(fixture, .warnings, issues: [Self.issue(.warning)])
            try await Self.end(fixture, .analyzerWarnings, issues: [Self.issue(.analyzerWarning)])
            try await Self.end(fixture, .analyzerWarnings, issues: [Self.issue(.analyzerWarning, status: .unresolved)])
            try await Self.end(fixture, .buildErrors, issues: [Self.issue()])
            let reported = try await Self.reported(fixture).filter { $0.hasSuffix("chat") }
            #expect(reported == ["new-issue 3 chat", "broke 5 chat"])
        }
        try await Self.withNotices([.newIssue]) { fixture in
            try await Self.end(fixture, .succeeded)
            try await Self.end(fixture, .buildErrors, issues: [Self.issue()])
            #expect(try await Self.reported(fixture) == ["new-issue 2 ann@acme.example", "new-issue 2 chat"])
        }
    }

    @Test(
        .proves(.notices, "Authors of new issues, surely laid to them, within the domains that the operator names (X6)")
    )
    func testX6ThatOnlySureAuthorsOfNamedDomainsAreMailed() async throws {
        try await Self.withNotices { fixture in
            // given
            let addresses = [
                "Bob@ACME.example", "bob@acme.example", "ann@acme.example", "eve@elsewhere.example",
                "eve@acme.example.evil.example", "x\r\nBcc: eve@acme.example", "", "acme.example",
            ]
            var issues = try addresses.map { try Self.issue(by: $0) }
            issues.append(try Self.issue(by: "carl@acme.example", confidence: .low))
            issues.append(try Self.issue(.warning, by: "dora@acme.example"))
            // when
            try await Self.end(fixture, .buildErrors, issues: issues)
            // then
            #expect(
                try await Self.reported(fixture) == [
                    "broke 1 ann@acme.example", "broke 1 Bob@ACME.example", "broke 1 chat",
                ])
        }
    }

    @Test(
        .proves(
            .notices, "Counts are of all issues, whatever is read and shown; mails say how many authors are not told"))
    func testThatAMessageHasAtMostTwentyRecipients() async throws {
        try await Self.withNotices { fixture in
            let issues = try (0..<30).map { try Self.issue(by: "a\($0)@acme.example") }
            try await Self.end(fixture, .buildErrors, issues: issues)
            #expect(try await Self.reported(fixture).count { $0.contains("@") } == 20)
            // One author is named, 30 are authors; each mail states how many are not notified.
            let leftOut = try await fixture.store.outbox(limit: 200).items.map { $0.content.notice?.leftOut }
            #expect(leftOut.count { $0 == 11 } == 20 && leftOut.count { $0 == nil } == 1)
        }
    }

    /// It ends what it would have permitted, so the code is not judged.
    @Test(.proves(.notices, "A failed trigger before the jobs is notified once, until an integration ends otherwise"))
    func testThatAFailedTriggerBeforeTheJobsIsToldOnceUntilItSucceeds() async throws {
        try await Self.withNotices { fixture in
            func refuse() async throws {
                let id = try await fixture.queue().id
                try await fixture.store.apply(.started, to: id, at: time(20))
                try await fixture.store.completeIssues(
                    of: id, issues: [Self.issue(.triggerError)], summary: Summary(), at: time(25),
                    with: .completed(.canceled, triggerFailed: true))
            }
            // when: the first integration as well; an integration that a user cancels in between is not notified
            try await refuse()
            try await refuse()
            try await Self.end(fixture, .canceled)
            try await refuse()
            try await Self.end(fixture, .succeeded)
            try await refuse()
            try await Self.end(fixture, .buildErrors, on: .line)
            // then
            let reported = try await Self.reported(fixture).filter { $0.hasSuffix("chat") }
            #expect(reported == ["new-issue 1 chat", "new-issue 6 chat"])
            let content = try #require(try await fixture.store.outbox(limit: 200).items.last?.content)
            #expect(content.verdict == .canceled && content.hasFailedTrigger)
        }
    }

    @Test(
        .proves(
            .notices,
            "Broke, fixed and new issue are a function of the integration and the branch's health; still failing is silent; canceled ones and our faults are passed over"
        ))
    func testThatARerunTellsWhatItChanges() async throws {
        try await Self.withNotices { fixture in
            func rerun(_ id: IntegrationID, _ verdict: Verdict, _ issues: [Model.Issue] = []) async throws {
                _ = try await fixture.store.reopen(id, for: NewRerun(requestedBy: "ann", jobs: []), at: time(30))
                try await Self.finish(fixture, id, verdict, issues: issues)
            }
            let first = try await Self.end(fixture, .succeeded)
            let second = try await Self.end(fixture, .testFailures, issues: [Self.issue(.testFailure)])
            try await rerun(second, .testFailures, [Self.issue(.testFailure)])
            try await rerun(second, .succeeded)
            try await rerun(second, .testFailures, [Self.issue(.testFailure)])
            // The branch has a newer integration.
            try await rerun(first, .buildErrors)
            try await Self.end(fixture, .succeeded)
            let reported = try await Self.reported(fixture).filter { $0.contains("chat") }
            #expect(
                reported == ["broke 2 chat", "fixed 2 chat since 2.1", "broke 2 chat", "fixed 3 chat since 2.4"])
        }
    }

    @Test func testThatANewNoticeTellsOfTheNextChange() async throws {
        try await withStore { fixture in
            // given: a bot without notifications
            try await Self.end(fixture, .buildErrors)
            // when
            try await fixture.store.register([try Self.specification()], at: time(1))
            try await Self.end(fixture, .buildErrors)
            try await Self.end(fixture, .succeeded)
            // then
            #expect(try await Self.reported(fixture) == ["fixed 3 ann@acme.example", "fixed 3 chat"])
        }
    }

    @Test(
        .proves(
            .notices,
            "A notification is stored with the end that causes it, once for each recipient. One message reports the break and its new issues"
        ))
    func testThatAnEndThatIsNotStoredTellsNobody() async throws {
        try await Self.withNotices { fixture in
            let id = try await fixture.queue().id
            await expectFailure(.illegalTransition) {
                try await fixture.store.writer.write("both") { transaction in
                    let record = try Store.integration(id, transaction.db)
                    _ = try Store.apply(
                        .completed(.buildErrors, triggerFailed: false), to: record, at: time(20), reason: nil,
                        transaction)
                    throw IllegalTransition(state: "a", event: "b")
                }
            }
            #expect(try await Self.reported(fixture).isEmpty)
            try await Self.finish(fixture, id, .buildErrors)
            #expect(try await Self.reported(fixture).count == 2, "nothing was kept of the one that was not")
        }
    }

    @Test(.proves(.notices, "A release is notified in the transaction of its publication"))
    func testThatAVersionIsToldWhenItIsPublished() async throws {
        try await Self.withNotices { fixture in
            // given
            let id = try await Self.end(fixture, .succeeded, on: .line)
            let answer = try await fixture.store.reserve(
                VersionRequest(
                    product: name("kit"), integration: id, commit: commit(1), ref: .line,
                    source: .branch(major: 1, minor: 4, newest: nil, isAncestor: false), onDisk: []), at: time(30))
            #expect(try await Self.reported(fixture).isEmpty, "\(answer)")
            // when
            for _ in 0..<2 {
                try await fixture.store.publish(
                    product: name("kit"), version: version("1.4.0"), files: [], at: time(31))
            }
            // then
            #expect(try await Self.reported(fixture) == ["released 1 ann@acme.example"])
            let content = try #require(try await fixture.store.outbox().items.first?.content)
            #expect(content.version == "1.4.0")
            #expect(content.notice?.product?.description == "kit")
        }
    }
}
