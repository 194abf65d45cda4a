import Basics
import BotSupport
import Execution
import ExecutionSupport
import Glibc
import Integrations
import JobProtocol
import Jobs
import Model
import SourceControl
import Storage
import TestSupport
import Testing

/// A bot with isolation. Without isolation no pull request runs; scripted jobs need no real sandbox.
func pullPlan(_ file: String = "", executor: BotPlan.Executor = .scripted(.playing())) -> BotPlan {
    BotPlan(file: file, executor: executor, isolation: JobIsolation(isolation: .sandbox))
}

/// Pull requests of the repository's own branches, from a forge's event to their result.
@Suite struct PullRequestTests {
    @Test(
        .proves(
            .intake,
            "Pull requests: from a signed event to the verdict on the merge; the head alone where it does not merge, which is said"
        ))
    func testThatASignedDeliveryBecomesAnIntegrationOfTheMerge() async throws {
        try await withBot(pullPlan()) { bot in
            // given: main has moved on since the branch was made
            _ = try await bot.integrate()
            let head = try await bot.pull(12, ["topic": "1\n"], branch: "topic", message: "A topic")
            let base = try await bot.integrate(Commit(files: ["other": "2\n"]))

            // when
            let delivery = try await bot.tell("opened", pull: 12, head: head)

            // then
            #expect(delivery.outcome == .integrated, "\(delivery)")
            #expect(delivery.refUpdates.map(\.ref.description) == ["refs/pull/12/head"])
            let done = try await bot.completion(ofPull: 12, at: head)
            expectResult(of: done, "succeeded")
            let record = done.record
            #expect(delivery.refUpdates.first?.integrations == [record.id])
            #expect(record.ref == RefName(pullRequest: 12) && record.cause == .pull)
            #expect(record.subject == "A topic" && record.headCommit == head)
            let pull = try #require(record.pull)
            #expect(pull.isTrusted && pull.source == RefName(branch: "topic") && pull.unmerged == nil)
            #expect(pull.base == RefName(branch: "main") && pull.baseCommit == base.record.commit)
            // Both were merged
            let mirror = try await bot.mirror()
            #expect(try await mirror.details(of: record.commit).parents == [base.record.commit, head])
            let job = try bot.directory(of: try #require(done.attempt("debug"))).job()
            expectContains(job.workspace, "/kit/debug/pull/")
            #expect(job.environment["MARTLET_PULL_REQUEST"] == "12")
            #expect(job.environment["MARTLET_PULL_REQUEST_BASE"] == "main")
            #expect(job.environment["MARTLET_COMMIT"] == record.commit.description)
        }
    }

    @Test(
        .proves(
            .intake,
            "Pull requests: from a signed event to the verdict on the merge; the head alone where it does not merge, which is said"
        ))
    func testThatTheSameIsNotIntegratedTwice() async throws {
        try await withBot(pullPlan()) { bot in
            // given
            _ = try await bot.integrate()
            let head = try await bot.pull(1, ["a": "1\n"], branch: "topic")
            try await bot.tell("opened", pull: 1, head: head)
            _ = try await bot.completion(ofPull: 1, at: head)

            // when: another event for the same head, and a scan without an event
            let edited = try await bot.tell("edited", pull: 1, head: head)
            try await bot.announce()
            try await bot.restart()

            // then
            #expect(edited.outcome == .duplicate && edited.reason == "pull request updated; this was known already")
            #expect(try await bot.integrations(ofPull: 1).count == 1)
        }
    }

    @Test(
        .proves(
            .intake,
            "Pull requests: a newer head supersedes, closing ends what waits and runs, opening again integrates what was not"
        ))
    func testThatANewerHeadSupersedesWhatRuns() async throws {
        let executor = ScriptedExecutor.playing { $0.environment["MARTLET_PULL_REQUEST"] != nil && $0.isFirst }
        try await withBot(pullPlan(executor: .scripted(executor))) { bot in
            // given
            _ = try await bot.integrate()
            let first = try await bot.pull(1, ["a": "1\n", "first": ""], branch: "topic")
            try await bot.tell("opened", pull: 1, head: first)
            let running = try #require(try await bot.integrations(ofPull: 1).first)
            await until("the job begins") { executor.starts.count == 2 }

            // when: a forced push
            let second = try await bot.pull(1, ["a": "2\n"], branch: "topic")
            try await bot.tell("synchronize", pull: 1, head: second)

            // then
            let ended = try await bot.completion(of: running.id)
            let done = try await bot.completion(ofPull: 1, at: second)
            expectVerdict(of: ended, .canceled, because: "superseded by \(done.id), a newer commit of pull/1")
            expectResult(of: done, "succeeded")
        }
    }

    @Test(
        .proves(
            .intake,
            "Pull requests: from a signed event to the verdict on the merge; the head alone where it does not merge, which is said"
        ))
    func testThatWhatWasMissedIsFoundByTheNextScan() async throws {
        try await withBot(pullPlan()) { bot in
            // given: it is known, and the event of its next head never arrives
            _ = try await bot.integrate()
            let first = try await bot.pull(3, ["a": "1\n"], branch: "topic")
            try await bot.tell("opened", pull: 3, head: first)
            _ = try await bot.completion(ofPull: 3, at: first)
            let second = try await bot.pull(3, ["a": "2\n"], from: "topic", branch: "topic")

            // when
            try await bot.announce()

            // then
            expectResult(of: try await bot.completion(ofPull: 3, at: second), "succeeded")
        }
    }

    @Test(
        .proves(
            .intake,
            "Pull requests: from a signed event to the verdict on the merge; the head alone where it does not merge, which is said"
        ))
    func testThatTheMergeIsTheSameInARerunAndANewMirror() async throws {
        try await withBot(pullPlan()) { bot in
            // given
            _ = try await bot.integrate()
            let head = try await bot.pull(1, ["a": "1\n"], branch: "topic")
            _ = try await bot.integrate(Commit(files: ["b": "2\n"]))
            try await bot.tell("opened", pull: 1, head: head)
            let first = try await bot.completion(ofPull: 1, at: head)
            try await bot.stop()
            try bot.directory.directory().remove("state/repositories")
            try await bot.start()

            // when
            _ = try await bot.operations.rerun(
                first.id, Rerun(isFailedOnly: false, testFilter: nil, isTriggersOnly: false), by: "ada")

            // then
            let again = try await bot.wait("the end of the rerun") { store in
                let record = try await store.integration(first.id)
                return record?.run == 2 && record?.state.verdict != nil ? record : nil
            }
            #expect(again.commit == first.record.commit && again.state.verdict == .succeeded)
            #expect(try await bot.mirror().contains(again.commit))
        }
    }

    @Test(
        .proves(
            .intake,
            "Pull requests: from a signed event to the verdict on the merge; the head alone where it does not merge, which is said"
        ))
    func testThatWhatDoesNotMergeIsIntegratedAloneAndSaysSo() async throws {
        try await withBot(pullPlan()) { bot in
            // given
            _ = try await bot.integrate(Commit(files: ["a": "1\n"]))
            let head = try await bot.pull(1, ["a": "topic\n"], branch: "topic")
            _ = try await bot.integrate(Commit(files: ["a": "main\n"]))

            // when
            try await bot.tell("opened", pull: 1, head: head)

            // then
            let done = try await bot.completion(ofPull: 1, at: head)
            expectResult(of: done, "succeeded")
            #expect(done.record.commit == head)
            #expect(
                done.record.pull?.unmerged
                    == "it does not merge with main, so its head alone is integrated: both change a")
        }
    }

    @Test(
        .proves(
            .intake,
            "Pull requests: from a signed event to the verdict on the merge; the head alone where it does not merge, which is said"
        ))
    func testThatItIsComparedWithItsBase() async throws {
        try await withBot(pullPlan()) { bot in
            // given: main has a failing test
            let main = try await bot.integrate(.failing("debug"))
            let head = try await bot.pull(1, ["a": "1\n"], branch: "topic")
            let other = try await bot.pull(
                2, ["plays/debug/testing.xml": Commit.Reports.passing, "plays/debug/testing.exit": "0\n"],
                branch: "mended")

            // when
            try await bot.tell("opened", pull: 1, head: head)
            try await bot.tell("opened", pull: 2, head: other)

            // then: it is not the pull request's failure
            let red = try await bot.completion(ofPull: 1, at: head)
            let green = try await bot.completion(ofPull: 2, at: other)
            #expect(main.issues.map(\.status) == [.new] && main.summary.counts.testFailures == 1)
            #expect(red.issues.map(\.status) == [.unresolved] && red.summary.change.testFailures == 0)
            #expect(green.issues.map(\.status) == [.resolved] && green.summary.change.testFailures == -1)
            // It is not the bot's latest integration
            #expect(try await bot.store.latestIntegration(of: bot.name)?.id == main.id)
        }
    }

    // MARK: Closed

    @Test(
        .proves(
            .intake,
            "Pull requests: a newer head supersedes, closing ends what waits and runs, opening again integrates what was not"
        ))
    func testThatWhatWaitsAndWhatRunsEndsWithIt() async throws {
        let executor = ScriptedExecutor.playing { $0.environment["MARTLET_PULL_REQUEST"] == "1" }
        var plan = pullPlan("supersede: never\n", executor: .scripted(executor))
        plan.concurrency = 1
        try await withBot(plan) { bot in
            // given: one runs, and one of the same pull request waits for it
            _ = try await bot.integrate()
            let first = try await bot.pull(1, ["a": "1\n"], branch: "topic")
            try await bot.tell("opened", pull: 1, head: first)
            await until("the job begins") { executor.starts.count == 2 }
            let second = try await bot.pull(1, ["a": "2\n"], from: "topic", branch: "topic")
            try await bot.tell("synchronize", pull: 1, head: second)

            // when
            let closed = try await bot.tell("closed", pull: 1, head: second)

            // then
            #expect(closed.outcome == .ignored && closed.reason == "pull request closed; it is closed")
            for record in try await bot.integrations(ofPull: 1) {
                expectVerdict(
                    of: try await bot.completion(of: record.id), .canceled, because: "pull request 1 was closed")
            }
            // No new integration begins
            let third = try await bot.pull(1, ["a": "3\n"], from: "topic", branch: "topic")
            try await bot.announce()
            try await bot.idle()
            #expect(try await bot.integrations(ofPull: 1).count == 2)

            // When it is opened again, its head of that time is integrated
            try await bot.tell("reopened", pull: 1, head: third)
            let last = try #require(try await bot.integrations(ofPull: 1).last)
            #expect(last.headCommit == third)
            try await bot.tell("closed", pull: 1, head: third)
            _ = try await bot.completion(of: last.id)
        }
    }

    @Test(
        .proves(
            .intake,
            "Pull requests: a newer head supersedes, closing ends what waits and runs, opening again integrates what was not"
        ))
    func testThatOneThatWasClosedWhileItRanIsIntegratedWhenItIsOpenedAgain() async throws {
        let isHeld = Locked(true)
        let executor = ScriptedExecutor.playing { _ in isHeld.value }
        try await withBot(pullPlan(executor: .scripted(executor))) { bot in
            // given
            isHeld.withLock { $0 = false }
            _ = try await bot.integrate()
            isHeld.withLock { $0 = true }
            let head = try await bot.pull(1, ["a": "1\n"], branch: "topic")
            try await bot.tell("opened", pull: 1, head: head)
            let first = try #require(try await bot.integrations(ofPull: 1).first)
            await until("the job begins") { executor.starts.count == 2 }
            try await bot.tell("closed", pull: 1, head: head)
            _ = try await bot.completion(of: first.id)
            isHeld.withLock { $0 = false }

            // when: twice, as forges do
            try await bot.tell("reopened", pull: 1, head: head)
            let again = try await bot.tell("reopened", pull: 1, head: head)

            // then
            #expect(again.outcome == .duplicate)
            let all = try await bot.integrations(ofPull: 1)
            #expect(all.count == 2)
            expectResult(of: try await bot.completion(of: try #require(all.last).id), "succeeded")
        }
    }
}

extension JobDescription {
    /// Whether the checked-out commit has the file `first`.
    fileprivate var isFirst: Bool { access(workspace + "/first", F_OK) == 0 }
}

extension Bot {
    /// Returns the mirror of the bot's repository.
    func mirror() async throws -> Mirror {
        mirrors.mirror(of: try RemoteURL(remote.path, isInsecureAllowed: false))
    }
}
