import BotSupport
import Integrations
import Jobs
import Model
import Storage
import TestSupport
import Testing

/// Pull requests whose head is on no branch of the bot's repository. Whatever the events claim, they are a fork's. Rows U2, U3, W9, W10, G13 and
/// G14; what their jobs can reach is in `ForkJobTests`.
@Suite struct ForkTests {
    private func rerun(_ id: IntegrationID, _ bot: Bot) async throws {
        _ = try await bot.operations.rerun(id, Rerun(), by: "ada")
        try await bot.idle()
    }

    // MARK: Who may

    @Test(
        .proves(
            .intake,
            "Pull requests: trusted only if the head is the tip of a branch that the same scan lists (W9, W10, G13, G14)"
        ))
    func testThatOneIsRefusedUnlessTheBotTakesThem() async throws {
        try await withBot(pullPlan()) { bot in
            // given
            _ = try await bot.integrate()
            let head = try await bot.pull(1, ["a": "1\n"])

            // when
            let delivery = try await bot.tell("opened", pull: 1, head: head)

            // then
            #expect(delivery.outcome == .ignored)
            expectContains(
                delivery.reason ?? "", "is not the tip of a branch of the repository, so it belongs to a fork")
            #expect(try await bot.integrations(ofPull: 1).isEmpty)
            // An approval does not let it run either
            await expectRejection(OperationError.self, \.code, .conflict) {
                _ = try await bot.operations.approve(
                    pullRequest: 1, of: bot.name, commit: head.description, by: "ada")
            }
        }
    }

    @Test(
        .proves(.intake, "Pull requests: `pull-requests: off, trusted, approved, all`; refused with `isolation: none`"),
        arguments: [
            ("pull-requests: off\n", "the bot file says pull-requests: off"),
            ("branches: [\"release/*\"]\n", "the bot does not watch main, into which it is to go"),
        ])
    func testThatABotThatDoesNotWantAnyHasNone(_ file: String, _ reason: String) async throws {
        try await withBot(pullPlan(file)) { bot in
            // given
            _ = try await bot.push()
            let head = try await bot.pull(1, ["a": "1\n"], branch: "topic")

            // when
            let delivery = try await bot.tell("opened", pull: 1, head: head)

            // then
            #expect(delivery.outcome == .ignored && delivery.reason == "pull request opened; \(reason)")
            #expect(try await bot.integrations(ofPull: 1).isEmpty)
        }
    }

    @Test(
        .proves(.intake, "Pull requests: `pull-requests: off, trusted, approved, all`; refused with `isolation: none`"))
    func testThatNothingRunsWhereNothingKeepsJobsFromTheMachine() async throws {
        try await withBot(BotPlan(file: "pull-requests: all\n")) { bot in
            // given
            _ = try await bot.integrate()
            let head = try await bot.pull(1, ["a": "1\n"], branch: "topic")

            // when
            let delivery = try await bot.tell("opened", pull: 1, head: head)

            // then
            #expect(delivery.outcome == .ignored)
            expectContains(delivery.reason ?? "", "(isolation: none), so nothing of a pull request is run")
            #expect(try await bot.integrations(ofPull: 1).isEmpty)

            // One that was queued with a sandbox does not run without it, and runs once there is one
            try await bot.restart(isolation: JobIsolation(isolation: .sandbox))
            let done = try await bot.completion(ofPull: 1, at: head)
            expectResult(of: done, "succeeded")
            try await bot.restart(isolation: JobIsolation(isolation: .none(reason: "of the test")))
            try await rerun(done.id, bot)
            let again = try #require(try await bot.store.integration(done.id))
            #expect(again.state.verdict == .canceled)
            expectContains(again.reason ?? "", "isolation: none")
        }
    }

    @Test(
        .proves(
            .intake,
            "Pull requests: trusted only if the head is the tip of a branch that the same scan lists (W9, W10, G13, G14)"
        ))
    func testThatAHeadThatABranchHasTooIsNoForks() async throws {
        try await withBot(pullPlan()) { bot in
            // given: the fork offers the head of the repository's own branch
            _ = try await bot.integrate()
            let own = try await bot.pull(1, ["a": "1\n"], branch: "topic")
            try await bot.point(pull: 2, at: own)

            // when
            try await bot.tell("opened", pull: 2, head: own)

            // then: the author may push there
            #expect(try await bot.completion(ofPull: 2, at: own).record.pull?.source == RefName(branch: "topic"))
        }
    }

    @Test(
        .proves(
            .intake,
            "Pull requests: trusted only if the head is the tip of a branch that the same scan lists (W9, W10, G13, G14)"
        ))
    func testW9W10ThatNoNameInCommitOrPayloadMakesItTrusted() async throws {
        try await withBot(pullPlan("pull-requests: approved\n")) { bot in
            // given: a commit with the owner's name and address, and a made-up signature
            _ = try await bot.integrate()
            let head = try await bot.pull(
                1, ["a": "1\n"], message: "Merge branch 'main'\n\nSigned-off-by: Ada Author <ada@acme.example>\n")
            let claims =
                #""author_association":"OWNER","user":{"login":"ada","site_admin":true},"merged_by":{"login":"ada"},"#
                + #""head_repo":{"fork":false},"maintainer_can_modify":true,"draft":false,"#

            // when
            let delivery = try await bot.tell("opened", pull: 1, head: head, more: claims)

            // then
            #expect(delivery.outcome == .refused)
            expectContains(
                delivery.reason ?? "", "waits for an operator: martlet approve 'kit!1' --commit \(head)")
            #expect(try await bot.integrations(ofPull: 1).isEmpty)
        }
    }

    @Test(
        .proves(
            .intake,
            "Pull requests: trusted only if the head is the tip of a branch that the same scan lists (W9, W10, G13, G14)"
        ))
    func testG14ThatATagAtTheHeadMakesNoBranch() async throws {
        try await withBot(pullPlan("tags: [\"*\"]\n")) { bot in
            // given: a tag at it, and one with a branch's name
            _ = try await bot.integrate()
            let head = try await bot.pull(1, ["a": "1\n"])
            try await bot.work.push(to: bot.remote, ["\(head):refs/tags/topic", "\(head):refs/tags/refs/heads/main"])

            // when
            let delivery = try await bot.tell("opened", pull: 1, head: head)

            // then
            #expect(delivery.outcome == .ignored)
            expectContains(delivery.reason ?? "", "so it belongs to a fork")
            #expect(try await bot.integrations(ofPull: 1).isEmpty)
        }
    }

    @Test(
        .proves(
            .intake,
            "Pull requests: trusted only if the head is the tip of a branch that the same scan lists (W9, W10, G13, G14)"
        ))
    func testG13ThatACommitThatIsNotAtItsRefIsNotBuilt() async throws {
        try await withBot(pullPlan("pull-requests: all\n")) { bot in
            // given: the server has another commit, of another fork, and the event names that one
            _ = try await bot.integrate()
            let head = try await bot.pull(1, ["a": "1\n"])
            let other = try await bot.pull(2, ["evil": "1\n"])

            // when
            let delivery = try await bot.tell("opened", pull: 1, head: other, isUnlisted: true)

            // then
            #expect(delivery.outcome == .duplicate)
            #expect(
                delivery.reason
                    == "pull request opened; the repository shows \(head.abbreviated) at refs/pull/1/head, not "
                    + "\(other.abbreviated); this was known already")
            let all = try await bot.integrations(ofPull: 1)
            #expect(all.map(\.headCommit) == [head])
            // One of a pull request that does not exist does not run either
            let none = try await bot.tell("opened", pull: 9, head: other, isUnlisted: true)
            #expect(none.reason == "pull request opened; the repository does not list refs/pull/9/head")
        }
    }

    // MARK: Approval

    @Test(.proves(.intake, "Pull requests: approval by an operator bound to the commit and the base (U2)"))
    func testU2ThatAnApprovalIsOfOneHeadAlone() async throws {
        try await withBot(pullPlan("pull-requests: approved\n")) { bot in
            // given: A waits
            _ = try await bot.integrate()
            let first = try await bot.pull(1, ["a": "1\n"])
            let waiting = try await bot.tell("opened", pull: 1, head: first)
            #expect(waiting.outcome == .refused)

            // when: a user approves A, and the head becomes B
            let record = try await bot.operations.approve(
                pullRequest: 1, of: bot.name, commit: first.description, by: "ada")
            let done = try await bot.completion(of: record.id)
            let second = try await bot.pull(1, ["a": "2\n"])
            let moved = try await bot.tell("synchronize", pull: 1, head: second)

            // then
            expectResult(of: done, "succeeded")
            #expect(done.record.pull?.approvedBy == "ada" && done.record.pull?.isTrusted == false)
            #expect(try await bot.store.deliveries().items.first { $0.id == waiting.id }?.outcome == .integrated)
            #expect(moved.outcome == .refused)
            // B waits for its own approval, whatever is done to the pull request
            try await bot.tell("closed", pull: 1, head: second)
            let reopened = try await bot.tell("reopened", pull: 1, head: second)
            #expect(reopened.outcome == .refused)
            try await bot.restart()
            #expect(try await bot.integrations(ofPull: 1).map(\.headCommit) == [first])
            // Approving the head from before it moved has no effect
            await expectRejection(OperationError.self, \.code, .conflict) {
                _ = try await bot.operations.approve(
                    pullRequest: 1, of: bot.name, commit: first.description, by: "ada")
            }
            #expect(try await bot.integrations(ofPull: 1).count == 1)
        }
    }

    @Test func testU2ThatARerunIsHeldToWhatTheBotFileSaysBy() async throws {
        try await withBot(pullPlan("pull-requests: all\n")) { bot in
            // given
            _ = try await bot.integrate()
            let head = try await bot.pull(1, ["a": "1\n"])
            try await bot.tell("opened", pull: 1, head: head)
            let done = try await bot.completion(ofPull: 1, at: head)
            expectResult(of: done, "succeeded")
            // when
            try bot.writeFile("pull-requests: approved\n")
            try await bot.restart()
            try await rerun(done.record.id, bot)
            // then
            let again = try #require(try await bot.integrations(ofPull: 1).first)
            #expect(again.state.verdict == .canceled && again.run == 2)
            #expect(again.reason == "the bot file now says pull-requests: approved")
        }
    }

    @Test(.proves(.intake, "Pull requests: approval by an operator bound to the commit and the base (U2)"))
    func testU2ThatAnotherBaseWaitsAgain() async throws {
        try await withBot(pullPlan("pull-requests: approved\nbranches: [main, next]\n")) { bot in
            // given: approved for main
            _ = try await bot.integrate()
            _ = try await bot.integrate(Commit(files: ["next": "1\n"]), on: "next")
            try await bot.work.checkout("main")
            let head = try await bot.pull(1, ["a": "1\n"])
            try await bot.tell("opened", pull: 1, head: head)
            let record = try await bot.operations.approve(
                pullRequest: 1, of: bot.name, commit: head.description, by: "ada")
            _ = try await bot.completion(of: record.id)

            // when
            let edited = try await bot.tell("edited", pull: 1, head: head, base: "next")

            // then
            #expect(edited.outcome == .refused)
            #expect(try await bot.integrations(ofPull: 1).count == 1)
            // With the earlier base it is the approved one, and has run
            let back = try await bot.tell("edited", pull: 1, head: head)
            #expect(back.outcome == .duplicate)
        }
    }

    @Test(
        .proves(.intake, "Pull requests: approval by an operator bound to the commit and the base (U2)"),
        arguments: ["", "abc1234", "main", "refs/pull/1/head"])
    func testU2ThatOnlyAWholeIdIsApproved(_ commit: String) async throws {
        try await withBot(pullPlan("pull-requests: approved\n")) { bot in
            // given
            _ = try await bot.integrate()
            let head = try await bot.pull(1, ["a": "1\n"])
            try await bot.tell("opened", pull: 1, head: head)

            // when, then
            await expectRejection(OperationError.self, \.code, .invalid) {
                _ = try await bot.operations.approve(pullRequest: 1, of: bot.name, commit: commit, by: "ada")
            }
            await expectRejection(OperationError.self, \.code, .notFound) {
                _ = try await bot.operations.approve(
                    pullRequest: 2, of: bot.name, commit: head.description, by: "ada")
            }
            try await bot.tell("closed", pull: 1, head: head)
            await expectRejection(OperationError.self, \.code, .conflict) {
                _ = try await bot.operations.approve(
                    pullRequest: 1, of: bot.name, commit: head.description, by: "ada")
            }
            #expect(try await bot.integrations(ofPull: 1).isEmpty)
        }
    }

    // MARK: Triggers

    @Test(.proves(.intake, "Pull requests: no trigger runs, however a branch or a base is named (U3)"))
    func testU3ThatNoTriggerRunsHoweverItsBranchIsNamedAndWhereverItGoes() async throws {
        let file = """
            branches: [main, "release/*"]
            pull-requests: all
            triggers:
              - name: before
                phase: before
                run: script
              - name: every
                run: script
                when: always
              - name: publish
                branches: ["release/*"]
                publish: { version: branch }

            """
        var plan = pullPlan(file)
        plan.scripts = ["script": "#!/bin/sh\n"]
        try await withBot(plan) { bot in
            // given: a branch of the repository with a release branch's name, which was not integrated
            _ = try await bot.integrate()
            let own = try await bot.pull(1, ["a": "1\n"], branch: "release-1.0")
            let fork = try await bot.pull(2, ["b": "1\n"])

            // when: also into a release branch
            try await bot.work.push(to: bot.remote, ["main:refs/heads/release/1.0"])
            for (number, head) in [(1, own), (2, fork)] {
                try await bot.tell("opened", pull: number, head: head)
                _ = try await bot.completion(ofPull: number, at: head)
                try await bot.tell("edited", pull: number, head: head, base: "release/1.0")
            }
            try await bot.idle()

            // then
            for number in [1, 2] {
                let all = try await bot.integrations(ofPull: number)
                #expect(all.map { $0.pull?.base } == [RefName(branch: "main"), RefName(branch: "release/1.0")])
                for record in all {
                    let done = try await bot.completion(of: record.id)
                    expectResult(of: done, "succeeded")
                    #expect(done.triggers.isEmpty && !done.record.isRelease)
                    // A request for them does not either
                    await expectRejection(OperationError.self, \.code, .conflict) {
                        _ = try await bot.operations.rerun(
                            record.id, Rerun(isTriggersOnly: true), by: "ada")
                    }
                }
            }
            try await expectPublished(by: bot, ["1.0.0"])
        }
    }

    @Test(.proves(.intake, "Pull requests: no trigger runs, however a branch or a base is named (U3)"))
    func testU3ThatAForksBranchNamedForAReleasePublishesNothing() async throws {
        try await withBot(pullPlan(BotPlan.publishing + "pull-requests: all\n")) { bot in
            // given: the event claims that its branch is release/9.9, the fork's name for it
            _ = try await bot.integrate()
            let head = try await bot.pull(1, ["a": "1\n"])

            // when
            try await bot.tell(
                "opened", pull: 1, head: head, more: #""title":"release/9.9","ref":"refs/heads/release/9.9","#)

            // then
            let done = try await bot.completion(ofPull: 1, at: head)
            expectResult(of: done, "succeeded")
            #expect(done.triggers.isEmpty)
            try await expectPublished(by: bot, [])
        }
    }
}
