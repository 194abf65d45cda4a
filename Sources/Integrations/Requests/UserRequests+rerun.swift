import Basics
import Jobs
package import Model
import Storage

extension UserRequests {
    /// Queues a rerun; see `Operations.rerun`.
    package func rerun(
        _ id: IntegrationID, _ rerun: Rerun, by actor: String
    ) async throws(OperationError) -> Rerun.Acceptance {
        try rerun.validate()
        do {
            guard let old = try await store.integration(id) else {
                throw OperationError(.notFound, "there is no integration \(id)")
            }
            guard old.state.verdict != nil else {
                throw OperationError(.conflict, "\(id) is not completed yet; cancel it first, or wait")
            }
            guard let bot = await registry.bot(id.bot) else {
                throw OperationError(.notFound, "the bot \(id.bot) was removed")
            }
            var selection = RerunSelection()
            if rerun.isTriggersOnly {
                try await requireTriggers(of: old, bot)
            } else if let recipe = old.recipe {
                let crashed = try await store.tests(of: id, failingOnly: true).filter { $0.result.outcome == .crashed }
                let attempts = try await store.attempts(of: id)
                var triggerFailed = false
                if case .completed(_, triggerFailed: true) = old.state { triggerFailed = true }
                selection = try RerunSelection(
                    rerun, of: id, triggerFailed: triggerFailed, recipe: recipe, attempts: attempts,
                    crashed: Set(crashed.map(\.configuration)),
                    unreported: rerun.choosesTests ? try await unreported(attempts) : [],
                    chosen: rerun.tests.isEmpty ? nil : try await chosen(rerun.tests, in: id))
            } else if rerun.choosesTests {
                throw OperationError(
                    .conflict, "\(id) never had a recipe, so it has no tests; rerun it without `tests`")
            }
            let new = NewRerun(
                requestedBy: actor, isFailedOnly: rerun.isFailedOnly, testFilter: rerun.choice,
                isTriggersOnly: rerun.isTriggersOnly, jobs: selection.jobs, filters: selection.filters)
            let now = clock.now()
            let record = try await store.reopen(id, for: new, at: now) {
                .caused($0, by: .person, named: actor, event: "rerun", at: now)
            }
            queue.notify()
            return Rerun.Acceptance(integration: record, jobs: selection.jobs, notes: selection.notes)
        } catch let error as OperationError {
            throw error
        } catch let error as StoreError where error.code == .illegalTransition {
            throw OperationError(.conflict, "\(id) is being run again already", underlying: error)
        } catch let error as StoreError {
            throw stored(error)
        } catch {
            throw OperationError(.internal, "\(id) could not be queued again", underlying: error)
        }
    }

    /// Finds the tests that a user names.
    private func chosen(_ names: [String], in id: IntegrationID) async throws -> RerunSelection.Chosen {
        var chosen = RerunSelection.Chosen()
        let ran = try await store.testsRun(of: id, named: Set(names))
        let keys = try await store.testKeys(of: names, bot: id.bot)
        for name in names {
            let jobs = ran.filter { $0.value.named.contains(name) }.map(\.key)
            guard let key = keys[name], !jobs.isEmpty else {
                chosen.unknown.append(name)
                continue
            }
            for job in jobs { chosen.tests[job, default: []].append(key) }
        }
        return chosen
    }

    /// Returns the configurations whose tests were red without a failing test when all of them last ran.
    private func unreported(_ attempts: [AttemptRecord]) async throws -> Set<Name> {
        var whole: [Name: AttemptID] = [:]
        for attempt in attempts where attempt.hasWholeTests { whole[attempt.id.job] = attempt.id }
        var unreported: Set<Name> = []
        for (job, id) in whole {
            let isUnreported = try await store.findings(of: id).contains { $0.finding.isFailureOutsideOfTests }
            if isUnreported { unreported.insert(job) }
        }
        return unreported
    }

    /// Checks that there are triggers, and results of the jobs for them to act on. An earlier cancellation of the triggers does not prevent them from
    /// running again.
    private func requireTriggers(of record: IntegrationRecord, _ bot: BotSpecification) async throws {
        guard bot.triggers.contains(where: { $0.phase == .after && $0.matches(record.ref) }) else {
            throw OperationError(.conflict, "\(bot.name) has no trigger after \(record.ref.shortName)")
        }
        let configurations = record.recipe?.configurations.map(\.name) ?? []
        var newest: [Name: AttemptRecord] = [:]
        for attempt in try await store.attempts(of: record.id) { newest[attempt.id.job] = attempt }
        let areDone = configurations.allSatisfy { ![nil, .canceled].contains(newest[$0]?.state.verdict) }
        guard !configurations.isEmpty, areDone else {
            throw OperationError(
                .conflict, "\(record.id) has no result that triggers could act on; rerun it without `triggers`")
        }
    }
}
