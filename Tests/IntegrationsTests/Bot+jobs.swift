import BotSupport
import Execution
import Model
import Storage
import Testing
import martlet

@testable import Integrations
@testable import Jobs

/// Jobs that a test runs beside the service's own, of a configuration that is not in the recipe.
extension Bot {
    /// Returns a request for the job `other` of an integration.
    func otherJob(of record: IntegrationRecord) async throws -> JobRunner.Request {
        let specification = try #require(try await store.specification(of: record.id))
        let remotes = Remotes(mirrors: mirrors, secrets: secrets)
        return JobRunner.Request(
            integration: record, bot: specification, recipe: try #require(record.recipe),
            configuration: try Samples.configuration("other"), mirror: try await remotes.mirror(for: specification),
            remotes: remotes)
    }

    /// Returns a runner for it, with slots of its own.
    func otherJobs(_ slots: JobSlots) throws -> JobRunner {
        let parts = try parts(try store)
        return JobRunner(
            store: parts.store, state: parts.state, workspaces: Workspaces(root: parts.state.workspaces),
            executor: parts.executor, planner: JobPlanner(tools: parts.tools), reader: parts.reader,
            slots: slots,
            archiver: ProductArchiver(state: parts.state), clock: parts.clock, timer: parts.timer,
            environment: JobEnvironment(daemon: [:], url: ""), isolation: parts.isolation, secrets: parts.secrets,
            logger: parts.logger)
    }
}
