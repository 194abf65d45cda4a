import Basics
import BotSupport
import Execution
import Model
import Storage
import TestSupport
import Testing

@testable import Integrations
@testable import Jobs

/// `martlet bot NAME --clean` of a bot whose builds ran on nodes of a cluster.
@Suite struct NodeCleaningTests {
    private static let job = Name(nearest: "other")

    /// Returns the mark with which a node checks out a new attempt of `kit#1`.
    private func mark(of record: IntegrationRecord, _ bot: Bot) async throws -> String {
        let jobs = try bot.otherJobs(JobSlots(count: 1))
        let work = bot.directory.path("node")
        let candidate = ExecutorChoice.Candidate(
            name: Name(nearest: "cluster"), work: work, slots: JobSlots(count: 1)
        ) { nil }
        let attempt = try await bot.store.addAttempt(to: record.id, job: Self.job, at: bot.time.now)
        var request = try await bot.otherJob(of: record)
        request.configuration.build = "true"
        let workspace = Workspace(path: "\(work)/kit/other/trusted/0")
        _ = try await jobs.prepareForNode(attempt.id, request, in: workspace, on: candidate, nil)
        return try CheckoutOrder.read(of: jobs.directory(of: attempt.id)).mark
    }

    @Test(
        .proves(
            .programs,
            "After `martlet bot NAME --clean` the nodes of a cluster empty the bot's workspaces before the next job there"
        ))
    func testThatANodeEmptiesTheWorkspacesOfACleanedBot() async throws {
        try await withBot { bot in
            // given: a node has built there
            let record = try await bot.integrate().record
            let workspace = Workspace(path: bot.directory.path("node/kit/other/trusted/0"))
            try Directory(creating: workspace.tree).makeDirectories("objects")
            try NodeRecord(
                directory: bot.state.nodes, executor: Name(nearest: "cluster"), workspace: workspace.path
            ).write("node1")
            let before = try await mark(of: record, bot)
            try workspace.recordCheckout(isFresh: true, mark: before, at: bot.time.now)
            #expect(try await !workspace.isMoved(mark: mark(of: record, bot)))
            // when
            _ = try await bot.operations.care.clean(bot.name, by: "ann")
            // then: NodeCheckout empties a workspace that has another mark
            #expect(try await workspace.isMoved(mark: mark(of: record, bot)))
        }
    }

    @Test func testThatABotWithoutNodesLeavesNoRecord() async throws {
        try await withBot { bot in
            // given
            try await bot.integrate()
            // when
            _ = try await bot.operations.care.clean(bot.name, by: "ann")
            // then
            let left = try? Directory(opening: bot.state.nodes).entries().map(\.name)
            #expect((left ?? []) == [])
        }
    }
}
