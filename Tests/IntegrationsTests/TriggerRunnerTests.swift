import BotSupport
import ExecutionSupport
import JobProtocol
import Model
import Storage
import TestSupport
import Testing
import Transfer

@testable import Integrations

@Suite struct TriggerRunnerTests {
    typealias Condition = Trigger.Condition

    /// The table of docs/guide/triggers.md, "when".
    @Test(
        .proves(.triggers, "Conditions `succeeded`, `clean`, `failed`, `fixed`, `always`"),
        arguments: [
            (Condition.succeeded, [Verdict.succeeded, .warnings, .analyzerWarnings]), (.clean, [.succeeded]),
            (.failed, [.testFailures, .buildErrors, .checkoutError, .internalError]), (.fixed, []),
            (
                .always,
                [.succeeded, .warnings, .analyzerWarnings, .testFailures, .buildErrors, .checkoutError, .internalError]
            ),
        ])
    func testThatAConditionHoldsForVerdicts(condition: Condition, verdicts: [Verdict]) throws {
        for verdict in Verdict.allCases where verdict != .canceled {
            for before in [nil, Verdict.succeeded, .warnings] {
                #expect(
                    try holds([condition], verdict, before: before) == verdicts.contains(verdict),
                    "\(verdict) after \(before?.rawValue ?? "nothing")")
            }
        }
    }

    @Test(
        .proves(.triggers, "Conditions `succeeded`, `clean`, `failed`, `fixed`, `always`"),
        arguments: [Verdict.testFailures, .buildErrors])
    func testThatFixedHoldsForAGreenIntegrationAfterARedOne(before: Verdict) throws {
        #expect(try holds([.fixed], .succeeded, before: before))
        #expect(try holds([.fixed], .analyzerWarnings, before: before))
        #expect(try !holds([.fixed], .testFailures, before: before))
    }

    @Test func testThatOneOfSeveralConditionsSuffices() throws {
        #expect(try holds([.failed, .clean], .succeeded))
        #expect(try holds([.failed, .clean], .buildErrors))
        #expect(try !holds([.failed, .clean], .warnings))
        #expect(try !holds([], .succeeded))
    }

    @Test func testThatTheReasonNamesConditionAndVerdict() throws {
        let reason = TriggerRunner.whyNot(try trigger([.clean, .fixed]), facts(.warnings, before: nil))
        #expect(reason == "when: clean, fixed, and the verdict is warnings")
    }

    /// Also if that warning is muted, so that the verdict is succeeded.
    @Test(
        .proves(
            .reports,
            "What tests nothing is not published, also muted or `when: always`, unless the recipe says `test: none`"),
        arguments: [Verdict.succeeded, .warnings, .analyzerWarnings])
    func testThatNothingTestedIsNoSuccess(verdict: Verdict) throws {
        // given
        var untested = facts(verdict, before: .testFailures)
        untested.isUntested = true
        // when, then
        for condition in [Condition.succeeded, .fixed] + (verdict == .succeeded ? [.clean] : []) {
            let reason = TriggerRunner.whyNot(try trigger([condition]), untested)
            expectContains(reason ?? "", "when: \(condition.rawValue), and nothing was tested; write `test:`")
        }
        #expect(
            TriggerRunner.whyNot(try trigger([.failed]), untested)
                == "when: failed, and the verdict is \(verdict.rawValue)")
        #expect(TriggerRunner.whyNot(try trigger([.always]), untested) == nil)
    }

    private func trigger(_ conditions: [Condition]) throws -> Trigger {
        Trigger(name: try Samples.name("t"), when: conditions, action: .run("x"))
    }

    private func facts(_ verdict: Verdict, before: Verdict?) -> TriggerRunner.Facts {
        TriggerRunner.Facts(verdict: verdict, summary: Summary(), before: before)
    }

    private func holds(_ conditions: [Condition], _ verdict: Verdict, before: Verdict? = nil) throws -> Bool {
        TriggerRunner.whyNot(try trigger(conditions), facts(verdict, before: before)) == nil
    }

    @Suite struct GivenABotWithTriggers {
        private static let triggers = """
            branches: [main, "release/*"]
            triggers:
              - { name: publish, branches: ["release/*"], publish: { version: branch } }
              - { name: office, branches: ["release/*"], upload: "https://files.example/{product}/{version}/" }
              - { name: again, branches: ["release/*"], when: always, upload: "https://more.example/{version}/" }

            """

        @Test(
            .proves(.triggers, "Script, from `triggers/` beside `bots/`, never one of the repository"),
            .proves(.triggers, "Publish"), .proves(.triggers, "Upload"))
        func testThatTheyActInTheirOrderOnTheirBranches() async throws {
            try await withBot(configurations: ["debug"], file: Self.triggers) { bot in
                // given
                bot.transport.serve("https://files.example/")
                bot.transport.serve("https://more.example/")

                // when
                let main = try await bot.integrate(.succeeding, on: "main")
                let release = try await bot.integrate(.succeeding, on: "release/1.0")

                // then
                expectTriggers(of: main, [:])
                expectTriggers(of: release, ["publish": .succeeded, "office": .succeeded, "again": .succeeded])
                #expect(release.trigger("publish")?.reason == "published 1.0.0")
                try await expectPublished(by: bot, ["1.0.0"])
                let there = bot.transport.urls.filter { $0.hasPrefix("https://files.example/") }
                #expect(there == (try bot.publishedFiles("1.0.0")).map { "https://files.example/kit/1.0.0/\($0)" })
                _ = bot.transport.takeRequests()
            }
        }

        @Test(
            .proves(
                .model,
                "Steps of an integration: pending, preparing, before-triggers, running, after-triggers, uploading, completed"
            ))
        func testThatTheIntegrationIsUploadingWhileFilesAreSent() async throws {
            try await withBot(configurations: ["debug"], file: Self.triggers) { bot in
                // given: a record of what is stored during each request
                bot.transport.serve("https://files.example/")
                bot.transport.serve("https://more.example/")
                let (store, seen) = (try bot.store, Locked<Set<String>>([]))
                bot.transport.witness { _ in
                    let running = try? await store.integrations(IntegrationFilter(state: "running")).items
                    let state = running?.map { "\($0.state.word) \($0.state.step.rawValue)" }
                    seen.withLock { $0.formUnion(state ?? ["unreadable"]) }
                }

                // when
                let release = try await bot.integrate(.succeeding, on: "release/1.0")

                // then
                #expect(seen.value == ["running uploading"])
                #expect(release.record.state.step == .completed)
                _ = bot.transport.takeRequests()
            }
        }

        @Test(.proves(.triggers, "In their order; a failed one stops the later ones, what was published stays"))
        func testThatAFailureStopsTheLaterOnesAndWhatWasPublishedStays() async throws {
            try await withBot(configurations: ["debug"], file: Self.triggers) { bot in
                // given
                bot.transport.serve("https://files.example/")
                bot.transport.fail(request: 1, with: .status(403))
                bot.transport.forbid(.put, "https://more.example/")

                // when
                let release = try await bot.integrate(.succeeding, on: "release/1.0")

                // then
                expectTriggers(of: release, ["publish": .succeeded, "office": .failed, "again": .skipped])
                expectResult(of: release, "trigger-error")
                expectVerdict(of: release, .succeeded, because: "the trigger office failed")
                #expect(release.trigger("again")?.reason == "a trigger before it failed")
                try await expectPublished(by: bot, ["1.0.0"])
                _ = bot.transport.takeRequests()
            }
        }

        @Test(.proves(.triggers, "Conditions `succeeded`, `clean`, `failed`, `fixed`, `always`"))
        func testThatRedPublishesAndUploadsNothing() async throws {
            try await withBot(configurations: ["debug"], file: BotPlan.uploading) { bot in
                // given
                bot.transport.forbid(.put, "https://files.example/")

                // when
                let release = try await bot.integrate(.failing("debug"), on: "release/1.0")

                // then
                expectTriggers(of: release, ["publish": .skipped, "office": .skipped])
                expectVerdict(of: release, .testFailures)
                try await expectPublished(by: bot, [])
            }
        }

        @Test func testThatRedIsNotPublishedThoughItsTriggerAlwaysActs() async throws {
            try await withBot(
                configurations: ["debug"],
                file: """
                    branches: ["release/*"]
                    triggers: [{ name: publish, branches: ["release/*"], when: always, publish: { version: branch } }]

                    """
            ) { bot in
                // when
                let release = try await bot.integrate(.failing("debug"), on: "release/1.0")

                // then
                expectTriggers(of: release, ["publish": .failed])
                expectContains(release.trigger("publish")?.reason ?? "", "is never published")
                expectResult(of: release, "test-failures")
                try await expectPublished(by: bot, [])
            }
        }

        @Test func testThatAnIntegrationThatArchivedNothingPublishesAndUploadsNothing() async throws {
            let recipe = """
                configurations:
                  debug: { build: sh play building, test: sh play testing, report: build/junit.xml }
                analyze: []
                archive: { include: [] }

                """
            for action in ["publish: { version: branch }", "upload: \"https://files.example/{branch}/\""] {
                try await withBot(
                    BotPlan(
                        recipe: recipe,
                        file: "branches: [\"release/*\"]\n"
                            + "triggers: [{ name: release, branches: [\"release/*\"], \(action) }]\n")
                ) { bot in
                    // given
                    bot.transport.forbid(.put, "https://files.example/")

                    // when
                    let release = try await bot.integrate(.succeeding, on: "release/1.0")

                    // then
                    expectTriggers(of: release, ["release": .failed])
                    expectContains(release.trigger("release")?.reason ?? "", "the integration archived nothing")
                    expectResult(of: release, "trigger-error")
                    try await expectPublished(by: bot, [])
                }
            }
        }

        /// The release branch published the commit; the tag on it does not publish again, and uploads that version.
        @Test(
            .proves(
                .releases,
                "Uploads: What a publish trigger of the integration said is uploaded, also a version that another ref published of the commit"
            ))
        func testThatACommitThatIsPublishedAlreadyIsUploadedAsItsVersion() async throws {
            let triggers = """
                branches: [main, "release/*"]
                tags: ["v*"]
                triggers:
                  - { name: publish, branches: ["release/*"], publish: { version: branch } }
                  - { name: tagged, tags: ["v*"], publish: { version: tag } }
                  - { name: office, tags: ["v*"], upload: "https://files.example/{version}/" }
                  - { name: plain, tags: ["v*"], upload: "https://more.example/{product}/" }

                """
            try await withBot(configurations: ["debug"], file: triggers) { bot in
                // given
                bot.transport.serve("https://files.example/")
                bot.transport.serve("https://more.example/")
                _ = try await bot.integrate(.succeeding, on: "release/1.0")

                // when
                let tagged = try await bot.integrate(tag: "v1.0.0")

                // then
                expectTriggers(
                    of: tagged, ["tagged": .succeeded, "office": .succeeded, "plain": .succeeded])
                #expect(tagged.trigger("tagged")?.reason == "already 1.0.0")
                #expect(tagged.trigger("tagged")?.version == SemanticVersion(1, 0, 0))
                let files = try bot.publishedFiles("1.0.0")
                for place in ["https://files.example/1.0.0/", "https://more.example/kit/"] {
                    #expect(bot.transport.urls.filter { $0.hasPrefix(place) } == files.map { place + $0 })
                }
                _ = bot.transport.takeRequests()
            }
        }

        /// It was red at first without the commit's fault. When it runs again, its successor has been published.
        @Test func testThatASupersededCommitGetsNoVersionAndUploadsNothingUnderOne() async throws {
            let isBroken = Locked(true)
            let executor = ScriptedExecutor { job in
                ScriptedExecutor.Plan(artifacts: job.collect.isEmpty ? [:] : ["products/tool": [1]]) { _, step in
                    .init(
                        exit: step.step == JobStep.testing.rawValue && isBroken.value ? 1 : 0,
                        reports: step.report.isEmpty ? [:] : ["build/junit.xml": Commit.Reports.passing])
                }
            }
            try await withBot(BotPlan(file: Self.triggers, executor: .scripted(executor))) { bot in
                // given
                bot.transport.serve("https://files.example/")
                bot.transport.serve("https://more.example/")
                let red = try await bot.integrate(Commit(files: ["a": "1"]), on: "release/1.0")
                expectVerdict(of: red, .testFailures)
                isBroken.withLock { $0 = false }
                expectResult(of: try await bot.integrate(Commit(files: ["a": "2"]), on: "release/1.0"), "succeeded")
                _ = bot.transport.takeRequests()

                // when
                _ = try await bot.operations.rerun(red.id, Rerun(), by: "ada")
                let rerun = try await bot.completion(of: red.id)

                // then
                expectTriggers(of: rerun, ["publish": .succeeded, "office": .skipped, "again": .skipped])
                #expect(rerun.trigger("publish")?.reason == "superseded by 1.0.0")
                expectContains(rerun.trigger("office")?.reason ?? "", "the commit got no version")
                #expect(bot.transport.takeRequests().isEmpty)
                try await expectPublished(by: bot, ["1.0.0"])
            }
        }
    }
}
