import Basics
import BotSupport
import Execution
import ExecutionSupport
import Glibc
import JobProtocol
import Model
import Storage
import TestSupport
import Testing

@testable import Integrations
@testable import Jobs

/// Jobs that an earlier daemon started, and that the next one continues.
@Suite struct TakingUpTests {
    /// A loss of power leaves it like this: the supervisor is gone, and its `job.json` never reached the disk.
    @Test(
        .proves(
            .jobs,
            "After a loss of power, an attempt whose `job.json` never came to the disk is lost, its workspaces are made anew, and one more follows"
        ), arguments: ["", nil])
    func testThatAnAttemptWhoseJobNeverCameToTheDiskIsLostAndRunsOnceMore(text: String?) async throws {
        try await withRunningJob { bot, executor, id in
            // given
            try await bot.stop()
            let first = try started(0, of: executor.starts)
            executor.lose(first)
            let directory = try Directory(opening: first.path)
            let workspace = try Directory(opening: try first.job().workspace)
            try directory.remove("job.json")
            if let text { try directory.write("job.json", bytes: Array(text.utf8)) }
            try workspace.write("built", bytes: [])

            // when
            try await bot.start()
            await until("the second attempt") { executor.starts.count == 2 }

            // then
            #expect(access(workspace.path + "/built", F_OK) != 0)
            executor.lose(try started(1, of: executor.starts))
            let integration = try await bot.completion(of: id)
            expectVerdict(of: integration, .internalError, because: "the supervisor exited without a result")
            #expect(integration.attempts.count == 2)
        }
    }

    /// The limit of concurrent jobs holds, however often the daemon restarts.
    @Test func testThatAJobThatRunsAlreadyHasASlot() async throws {
        let plan = BotPlan(configurations: ["debug", "release"], concurrency: 1)
        try await withRunningJob(plan) { bot, executor, id in
            // given: everything that could begin beside it has begun when a commit is pushed that is not integrated
            let store = try bot.store
            try await until("the other configuration's attempt") { try await store.attempts(of: id).count == 2 }
            try await bot.restart()
            _ = try await bot.push(Commit(files: ["a": ""]), on: "elsewhere")
            #expect(executor.starts.count == 1)
            let first = AttemptDirectory(path: try #require(executor.starts.first))

            // when
            try await executor.cancel(first, reason: "enough", grace: .zero)

            // then
            await until("the second attempt") { executor.starts.count == 2 }
            let second = AttemptDirectory(path: try #require(executor.starts.last))
            try await executor.cancel(second, reason: "enough", grace: .zero)
            expectVerdict(of: try await bot.completion(of: id), .canceled)
        }
    }

    /// It is unknown in which workspace the lost one was, but known in which it was not.
    @Test(
        .proves(
            .jobs,
            "After a loss of power, an attempt whose `job.json` never came to the disk is lost, its workspaces are made anew, and one more follows"
        ))
    func testThatAWorkspaceInUseStaysWhereAnotherJobOfTheConfigurationWasLost() async throws {
        let executor = ScriptedExecutor()
        try await withBot(BotPlan(file: "branches: [main, topic]\n", executor: .scripted(executor), concurrency: 3)) {
            bot in
            // given: the second one's job continues
            var ids = [try await bot.begin()]
            await until("the first attempt") { executor.starts.count == 1 }
            ids.append(try await bot.begin(on: "topic"))
            await until("the attempt of topic") { executor.starts.count == 2 }
            try await bot.stop()
            let jobs = executor.starts.map { AttemptDirectory(path: $0) }
            let workspaces = try jobs.map { try $0.job().workspace }
            for workspace in workspaces { try Directory(opening: workspace).write("built", bytes: []) }
            executor.lose(jobs[0])
            try Directory(opening: jobs[0].path).remove("job.json")

            // when
            try await bot.start()
            await until("the second attempt") { executor.starts.count == 3 }

            // then
            #expect(access(workspaces[0] + "/built", F_OK) != 0)
            #expect(access(workspaces[1] + "/built", F_OK) == 0)
            let again = try started(2, of: executor.starts)
            #expect(try again.job().workspace != workspaces[1])
            for job in [jobs[1], again] { try await executor.cancel(job, reason: "enough", grace: .zero) }
            for id in ids { expectVerdict(of: try await bot.completion(of: id), .canceled) }
        }
    }

    /// Processes of a killed job still write into it.
    @Test(
        .proves(
            .jobs,
            "A workspace that cannot be removed is moved aside for the next attempt, and removed at the next start"),
        .smallDisk)
    func testThatAWorkspaceThatCannotBeRemovedIsMovedAsideForTheNextAttempt() async throws {
        try await withRunningJob { bot, executor, id in
            // given
            let first = try started(0, of: executor.starts)
            let tree = try first.job().workspace
            try Directory(opening: tree).makeDirectories("mounted")
            try await runExpectingSuccess(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", tree + "/mounted"])

            // when
            executor.lose(first)
            await until("the second attempt") {
                bot.timer.advance(by: .seconds(1))
                return executor.starts.count == 2
            }
            try await runExpectingSuccess([
                "sh", "-c", "grep -o '\(bot.state.workspaces)[^ ]*' /proc/mounts | xargs -r umount -l",
            ])

            // then
            let second = try started(1, of: executor.starts)
            #expect(try second.job().workspace == tree)
            #expect(access(tree + "/mounted", F_OK) != 0)
            let domain = String(tree.dropLast("/0/tree".count))
            #expect(try Directory(opening: domain).entries().count { $0.name.hasPrefix(".gone-") } == 1)
            try await executor.cancel(second, reason: "enough", grace: .zero)
            let integration = try await bot.completion(of: id)
            expectContains(integration.attempts.first?.reason ?? "", "the supervisor exited without a result")

            // and when
            try await bot.restart()

            // then
            await until("what was moved aside is removed") {
                (try? Directory(opening: domain).entries().contains { $0.name.hasPrefix(".gone-") }) == false
            }
        }
    }

    /// A kill leaves them like this: each is written beside its place, without its name yet.
    @Test(
        .proves(
            .testsAndPages,
            "Within 15 s of a job, whoever was killed meanwhile: no process, mount, control group or temporary file of it is left"
        ))
    func testThatSmallFilesThatWereBeingWrittenAreRemoved() async throws {
        try await withRunningJob { bot, executor, id in
            // given
            try await bot.stop()
            let attempt = try started(0, of: executor.starts)
            let workspace = String(try attempt.job().workspace.dropLast("/tree".count))
            let half = "abcdefghijklmnopqrstuvwx27"
            let places = ["\(attempt.path)/cancel", "\(workspace)/cleaned", "\(workspace)/checkout/pending"]
            let left = places.map { "\($0).\(half)" }
            let others = [attempt.path + "/log.index", "\(workspace)/tree/cleaned.\(half)"]
            for path in left + others { try AtomicFile.write([], to: path) }

            // when
            try await bot.start()

            // then
            await until("what was being written is removed") { left.allSatisfy { access($0, F_OK) != 0 } }
            for path in others { #expect(access(path, F_OK) == 0, "\(path)") }
            try await executor.cancel(attempt, reason: "enough", grace: .zero)
            expectVerdict(of: try await bot.completion(of: id), .canceled)
        }
    }

    /// The launcher was stopped while the earlier daemon asked it, and continues while the next daemon prepares the job again.
    @Test(.proves(.jobs, "A start that is given up is withdrawn; one that comes late is taken up, or never begins"))
    func testThatAJobThatBeginsWhileItIsPreparedAgainIsTakenUp() async throws {
        let executor = LateExecutor()
        try await withBot(BotPlan(executor: .other(executor))) { bot in
            // given
            let id = try await bot.begin()
            await until("the first try") { executor.refusals.value == 1 }
            try await bot.stop()

            // when: the first request is about workspaces in use, the second about the job
            executor.countdown.withLock { $0 = 2 }
            try await bot.start()
            await until("it runs") { executor.inner.starts.count == 1 }

            // then
            try await executor.cancel(
                try started(0, of: executor.inner.starts), reason: "enough", grace: .zero)
            let integration = try await bot.completion(of: id)
            expectVerdict(of: integration, .canceled, because: "enough")
            #expect(integration.attempts.count == 1)
        }
    }

    /// The launcher may still take it.
    @Test(.proves(.jobs, "A start that is given up is withdrawn; one that comes late is taken up, or never begins"))
    func testThatAStartThatADaemonAskedForIsWithdrawnWhereTheIntegrationIsCanceled() async throws {
        let executor = LateExecutor()
        try await withBot(BotPlan(executor: .other(executor))) { bot in
            // given
            let id = try await bot.begin()
            await until("the first try") { executor.refusals.value == 1 }
            try await bot.stop()
            try await CancellationRequests(state: bot.state).store(.init(reason: "ada wants it"), for: id, run: 1)

            // when
            try await bot.start()
            let integration = try await bot.completion(of: id)

            // then
            expectVerdict(of: integration, .canceled, because: "ada wants it")
            let attempt = try #require(integration.attempts.first)
            #expect(access(bot.directory(of: attempt).paths.cancel, F_OK) == 0)
        }
    }

    /// The end of a running job is not stored, and its workspace is not reused, however long it cannot be stopped.
    @Test(
        .proves(
            .jobs,
            "A job that cannot be followed is stopped before its attempt is given up, however long that takes, also if its status cannot be read"
        ))
    func testThatAJobThatCannotBeFollowedIsStoppedBeforeItIsGivenUp() async throws {
        let executor = DeafExecutor()
        try await withBot(BotPlan(executor: .other(executor))) { bot in
            // given
            bot.log.expectErrors(containing: "a job failed by a fault of Martlet or its machine")
            let id = try await bot.begin()
            await until("the attempt") { executor.inner.starts.count == 1 }
            let attempt = try started(0, of: executor.inner.starts)
            let directory = try Directory(opening: attempt.path)
            await until("its status") { access(attempt.paths.status, F_OK) == 0 }
            let status = try directory.read("status.jsonl", limit: 1 << 20)

            // when
            executor.isDeaf.withLock { $0 = true }
            try directory.write("status.jsonl", bytes: status + Array("no event\n".utf8))
            await until("many tries to stop it") {
                bot.timer.advance(by: .seconds(30))
                return executor.refusals.value > 15
            }

            // then
            #expect(try await bot.store.attempts(of: id).map(\.state.verdict) == [nil])

            // and when
            try directory.write("status.jsonl", bytes: status)
            executor.isDeaf.withLock { $0 = false }
            try await until("it is stopped") {
                bot.timer.advance(by: .seconds(30))
                return try await executor.liveness(of: attempt) == .finished
            }

            // then
            let integration = try await bot.completion(of: id)
            expectVerdict(of: integration, .internalError)
            #expect(integration.attempts.count == 1)
        }
    }

    /// The sentence of an earlier version about a loss, or about the machine's stop, is not ours.
    @Test(
        .proves(
            .jobs,
            "Attempts: a lost one is internal-error, the workspace is made anew, one more is made by itself, also after an upgrade"
        ), arguments: [nil, StatusEvent.Outcome.interrupted])
    func testThatALostAttemptIsFollowedByOneMoreWhateverIsStoredAsItsReason(
        outcome: StatusEvent.Outcome?
    ) async throws {
        try await withRunningJob { bot, executor, id in
            // given
            try await bot.stop()
            let first = try started(0, of: executor.starts)
            if let outcome {
                try executor.write(.finished(at: 0, result: outcome, reason: nil, limit: nil, step: 0), of: first)
            } else {
                executor.lose(first)
            }
            let store = try Store.open(path: bot.state.database)
            let attempt = try #require(try await store.attempts(of: id).first)
            try await store.storeResults(
                AttemptResults(analysis: "not run", tested: "not run", verdict: .internalError, reason: "other words"),
                of: attempt.id, at: Timestamp(millisecondsSinceEpoch: 1))
            try store.close()

            // when
            try await bot.start()
            await until("the second attempt") { executor.starts.count == 2 }

            // then
            try await executor.cancel(try started(1, of: executor.starts), reason: "enough", grace: .zero)
            #expect(try await bot.completion(of: id).attempts.map(\.id.attempt) == [1, 2])
        }
    }

    @Test(.proves(.jobs, "A cancellation request that a daemon left ends the job that still runs"))
    func testThatACancellationRequestThatADaemonLeftEndsTheJobThatStillRuns() async throws {
        try await withRunningJob { bot, executor, id in
            // given
            try await bot.stop()
            try await CancellationRequests(state: bot.state).store(.init(reason: "ada wants it"), for: id, run: 1)

            // when
            try await bot.start()

            // then
            let integration = try await bot.completion(of: id)
            expectVerdict(of: integration, .canceled, because: "ada wants it")
            #expect(integration.attempts.map(\.state.verdict) == [.canceled])
            #expect(try await executor.liveness(of: try started(0, of: executor.starts)) == .finished)
        }
    }

    @Test(
        .proves(
            .triggers,
            "A script or a version's command that is lost, or interrupted by the machine's stop, runs once more, and each try has its end"
        ),
        .proves(
            .triggers,
            "What a trigger's job worked in goes with its end, however it ends; what a killed daemon left goes at the next start"
        ))
    func testThatAScriptThatIsLostRunsOnceMoreAndEachTryHasItsEnd() async throws {
        let executor = ScriptedExecutor.holding("tell")
        try await withBot(.telling(.scripted(executor))) { bot in
            // given
            let id = try await bot.begin()
            for number in 2...3 {
                try #require(await until("try \(number - 1)") { executor.starts.count == number })

                // when
                executor.lose(try started(number - 1, of: executor.starts))
            }

            // then
            let integration = try await bot.completion(of: id)
            expectResult(of: integration, "trigger-error")
            #expect(integration.triggers.map(\.attempt) == [1, 2])
            #expect(integration.triggers.map(\.state) == [.failed, .failed])
            let reasons = integration.triggers.map { $0.reason ?? "" }
            expectContains(
                reasons[0], "the script was interrupted: the machine was stopping, or its supervisor was lost")
            expectContains(reasons[1], "the script was interrupted twice")
            #expect(integration.triggers.allSatisfy { $0.endedAt != nil })
            #expect(try bot.triggerWork(of: id) == [])
        }
    }

    @Test func testThatACommitIsHeldWhenItsJobHasEnded() async throws {
        try await withBot(configurations: ["debug"]) { bot in
            // when
            let integration = try await bot.integrate()

            // then
            let mirrors = try Directory(opening: bot.state.repositories)
            let mirror = try #require(try mirrors.entries().first { $0.kind == .directory }).name
            #expect(try mirrors.status("\(mirror)/refs/martlet/kit/\(integration.id.number)") != nil)
        }
    }

    /// Its source is in the repository.
    @Test(.proves(.jobs, "A commit of which nothing is kept is not packed"))
    func testThatACommitOfWhichNothingIsKeptIsNotPacked() async throws {
        let recipe = "configurations:\n  debug: { build: sh play building, test: sh play testing }\nanalyze: []\n"
        try await withBot(BotPlan(recipe: recipe, file: BotPlan.publishing)) { bot in
            // when, then: a trigger needs it, and acts on no other branch
            let (kept, unused) = (try await bot.integrate(on: "release/1.0"), try await bot.integrate())
            #expect(try await bot.store.artifacts(of: kept.id).count == 1)
            #expect(try await bot.store.artifacts(of: unused.id).isEmpty)
        }
        try await withBot(BotPlan(recipe: recipe)) { bot in
            let integration = try await bot.integrate()
            expectVerdict(of: integration, .succeeded)
            #expect(try await bot.store.artifacts(of: integration.id).isEmpty)
        }
    }
}

/// A launcher that accepts no request, until a later question whether it did.
private final class LateExecutor: Executor {
    let inner = ScriptedExecutor()
    let refusals = Locked(0)
    /// The number of answers "not started" after which the job is started nevertheless, too late for the answer.
    let countdown = Locked(0)

    func start(_ attempt: AttemptDirectory, secrets: [String: String]) async throws(ExecutionError) {
        refusals.withLock { $0 += 1 }
        throw ExecutionError(.noLauncher, "start \(attempt.path)", "it stands still")
    }

    func liveness(of attempt: AttemptDirectory) async throws(ExecutionError) -> Liveness {
        let answer = try await inner.liveness(of: attempt)
        let isDue = countdown.withLock { count in
            count -= 1
            return count == 0
        }
        if answer == .notStarted, isDue { try await inner.start(attempt, secrets: [:]) }
        return answer
    }

    func cancel(_ attempt: AttemptDirectory, reason: String, grace: Duration) async throws(ExecutionError) {
        try await inner.cancel(attempt, reason: reason, grace: grace)
    }
}

/// Returns the directory of a started attempt by its index. If too few were started, the test ends.
private func started(_ index: Int, of starts: [String]) throws -> AttemptDirectory {
    AttemptDirectory(path: try #require(starts.dropFirst(index).first, "only \(starts.count) were started"))
}

/// An executor of jobs that cannot be asked to end.
private final class DeafExecutor: Executor {
    let inner = ScriptedExecutor()
    let isDeaf = Locked(false)
    let refusals = Locked(0)

    func start(_ attempt: AttemptDirectory, secrets: [String: String]) async throws(ExecutionError) {
        try await inner.start(attempt, secrets: secrets)
    }

    func liveness(of attempt: AttemptDirectory) async throws(ExecutionError) -> Liveness {
        try await inner.liveness(of: attempt)
    }

    func cancel(_ attempt: AttemptDirectory, reason: String, grace: Duration) async throws(ExecutionError) {
        guard !isDeaf.value else {
            refusals.withLock { $0 += 1 }
            throw ExecutionError(.directory, "cancel \(attempt.path)", "no space is left")
        }
        try await inner.cancel(attempt, reason: reason, grace: grace)
    }
}
