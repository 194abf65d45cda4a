import Model
import Settings
import SourceControl
import Storage
import Synchronization

/// The first jobs of an integration that is about to be stored as begun, as far as slots are free: each has its slot, and is made ready
/// meanwhile, since what it needs relies on nothing that is stored then. Nothing of it is started before.
///
/// Where the integration does not begin after all, as one that was canceled a moment before, there is a workspace with another commit,
/// and a directory of an attempt in which nothing was launched, which the next one takes as it is.
final class EarlyJobs: Sendable {
    private let slots: HeldSlots
    private let ready: Mutex<[Name: Task<ReadyJob, Never>]>
    private let release: @Sendable (Workspace) async -> Void

    /// - Parameters:
    ///   - ready: By job, one for each that `slots` holds.
    ///   - release: Gives a workspace back.
    init(
        slots: HeldSlots, ready: [Name: Task<ReadyJob, Never>], release: @escaping @Sendable (Workspace) async -> Void
    ) {
        self.slots = slots
        self.ready = Mutex(ready)
        self.release = release
    }

    /// Those that are still here.
    var jobs: Set<Name> { ready.withLock { Set($0.keys) } }

    /// Hands a job over with its slot, once: whoever takes it gives back slot and workspace.
    /// - Returns: Nothing where it is none of these.
    func take(_ job: Name) -> Task<ReadyJob, Never>? {
        guard slots.take(job) else { return nil }
        return ready.withLock { $0.removeValue(forKey: job) }
    }

    /// Ends and gives back what nobody took.
    func giveBack() async {
        let left = ready.withLock { ready in
            defer { ready = [:] }
            return Array(ready.values)
        }
        for task in left { task.cancel() }
        for task in left { await release(await task.value.workspace) }
        slots.giveBack()
    }
}

extension JobRunner {
    /// Begins to make the first jobs of an integration ready, of those for which a slot is free.
    /// - Parameters:
    ///   - record: As it waits.
    ///   - preparation: What is going to be stored with its beginning.
    func beginEarly(
        _ record: IntegrationRecord, _ preparation: Store.Preparation, bot: BotSpecification, mirror: Mirror,
        remotes: Remotes, cancellation: Cancellation
    ) -> EarlyJobs {
        let slots = HeldSlots(of: slots, for: preparation.jobs, of: record.id.bot)
        var ready: [Name: Task<ReadyJob, Never>] = [:]
        for configuration in preparation.recipe.configurations where slots.held.contains(configuration.name) {
            var request = Request(
                integration: record, bot: bot, recipe: preparation.recipe, configuration: configuration,
                mirror: mirror, remotes: remotes)
            request.isWithoutSubmodules = true
            let id = AttemptID(integration: record.id, job: configuration.name, attempt: 1)
            ready[configuration.name] = Task { [request] in
                await makeReady(id, request, isEntered: true, cancellation)
            }
        }
        return EarlyJobs(slots: slots, ready: ready) { [self] in await giveBack($0) }
    }
}
