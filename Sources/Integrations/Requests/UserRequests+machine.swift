package import Model
import Storage

/// What failed by the machine's fault, and what became of the request to run it again.
package struct MachineReruns: Sendable {
    /// An integration whose verdict says nothing of the code.
    package struct Item: Sendable {
        package var id: IntegrationID
        package var verdict: Verdict
        package var isQueued: Bool
        /// Why it is not queued; `nil` if it is, and in a dry run.
        package var refusal: String?
    }

    /// The most integrations of one request.
    package static let maximumItems = 500

    /// The oldest first.
    package var items: [Item]
    /// The number of integrations beyond the limit.
    package var omitted: Int
}

extension UserRequests {
    /// Queues every integration again that ended since a time as internal-error or checkout-error: the configurations that failed, or all if none was
    /// run. Superseded and canceled ones are left out, and those of bots without a file.
    /// - Parameter isDry: Whether it only reports.
    /// - Throws: `.unavailable` if the database cannot be read.
    package func rerunMachineFailures(
        since time: Timestamp, bot: Name?, isDry: Bool, by actor: String
    ) async throws(OperationError) -> MachineReruns {
        var found: [(id: IntegrationID, verdict: Verdict)]
        do throws(StoreError) {
            found = try await store.machineFailures(since: time, bot: bot)
        } catch {
            throw OperationError(
                .unavailable, "the integrations cannot be read; try again, and see the daemon's log", underlying: error)
        }
        let omitted = max(0, found.count - MachineReruns.maximumItems)
        found = Array(found.prefix(MachineReruns.maximumItems))
        var reruns = MachineReruns(items: [], omitted: omitted)
        for (id, verdict) in found {
            var item = MachineReruns.Item(id: id, verdict: verdict, isQueued: false)
            if !isDry {
                do throws(OperationError) {
                    _ = try await rerunFailed(id, by: actor)
                    item.isQueued = true
                } catch {
                    item.refusal = error.message
                }
            }
            reruns.items.append(item)
        }
        return reruns
    }

    /// Runs what failed again. An integration that failed before its jobs runs again as a whole.
    private func rerunFailed(_ id: IntegrationID, by actor: String) async throws(OperationError) -> Rerun.Acceptance {
        do throws(OperationError) {
            return try await rerun(id, Rerun(isFailedOnly: true), by: actor)
        } catch  where error.code == .conflict {
            return try await rerun(id, Rerun(), by: actor)
        }
    }
}
