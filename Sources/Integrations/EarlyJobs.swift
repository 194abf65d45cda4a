import Model
import SourceControl
import Storage
import Synchronization

/// The first jobs of an integration whose recipe is about to be stored, as far as slots are free: each has its slot, and is made ready
/// meanwhile, since what it needs relies on nothing that is stored then. Nothing of it is started before.
///
/// Where nothing is stored after all, as of an integration that was canceled a moment before, there is a workspace with another commit,
/// and a directory of an attempt in which nothing was launched, which the next one takes as it is.
final class EarlyJobs: Sendable {
    private struct State {
        var slots: HeldSlots?
        var ready: [Name: Task<ReadyJob, Never>] = [:]
    }

    private let runner: JobRunner
    private let state = Mutex(State())

    init(_ runner: JobRunner) { self.runner = runner }

    /// Those that are still here.
    var jobs: Set<Name> { state.withLock { Set($0.ready.keys) } }

    /// Begins to make jobs ready, of those for which a slot is free. Not while there are some.
    /// - Parameters:
    ///   - record: As it is before.
    ///   - preparation: What is going to be stored; is told which jobs begin with it.
    ///   - isWithoutSubmodules: Whether that is known already.
    func begin(
        _ record: IntegrationRecord, _ preparation: inout Store.Preparation, bot: BotSpecification, mirror: Mirror,
        remotes: Remotes, isWithoutSubmodules: Bool, cancellation: Cancellation
    ) {
        // Jobs are told of their commit what the record says.
        let record = preparation.applied(to: record)
        let slots = HeldSlots(of: runner.slots, for: preparation.jobs, of: record.id.bot)
        var ready: [Name: Task<ReadyJob, Never>] = [:]
        for configuration in preparation.recipe.configurations where slots.held.contains(configuration.name) {
            var request = JobRunner.Request(
                integration: record, bot: bot, recipe: preparation.recipe, configuration: configuration,
                mirror: mirror, remotes: remotes)
            request.isWithoutSubmodules = isWithoutSubmodules
            let id = AttemptID(integration: record.id, job: configuration.name, attempt: 1)
            ready[configuration.name] = Task { [runner, request] in
                await runner.makeReady(id, request, isEntered: true, cancellation)
            }
        }
        state.withLock { $0 = State(slots: slots, ready: ready) }
        preparation.begun = Set(ready.keys)
        preparation.isolation = runner.isolation.isolation
    }

    /// Hands a job over with its slot, once: whoever takes it gives back slot and workspace.
    /// - Returns: Nothing where it is none of these.
    func take(_ job: Name) -> Task<ReadyJob, Never>? {
        state.withLock { state in
            guard state.slots?.take(job) ?? false else { return nil }
            return state.ready.removeValue(forKey: job)
        }
    }

    /// Ends and gives back what nobody took.
    func giveBack() async {
        let left = state.withLock { state in
            defer { state = State() }
            return state
        }
        for task in left.ready.values { task.cancel() }
        for task in left.ready.values { await runner.giveBack(await task.value.workspace) }
        left.slots?.giveBack()
    }
}
