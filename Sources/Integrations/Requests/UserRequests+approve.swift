import Basics
package import Model
package import Storage

extension UserRequests {
    /// Approves the head of a pull request; see `Operations.approve`.
    package func approve(
        _ number: Int, of name: Name, commit text: String, by actor: String
    ) async throws(OperationError) -> IntegrationRecord {
        guard let bot = await registry.bot(name) else {
            throw OperationError(.notFound, "there is no bot \(name); `martlet bots` lists them")
        }
        // An abbreviated id could mean another commit once someone has made one with the same digits.
        guard let commit = CommitID(text) else {
            throw OperationError(
                .invalid, "`commit` is the whole id of the head that you looked at, 40 hexadecimal digits")
        }
        guard registry.isolation == .sandbox else {
            throw OperationError(.conflict, RepositoryScans.noSandboxReason)
        }
        let now = clock.now()
        let approval: PullRequestApproval
        do {
            approval = try await store.approve(
                number, of: name, head: commit, by: actor,
                supersede: bot.supersede(on: RefName(pullRequest: number)), at: now,
                answer: { bot.answer(to: $0, defaultBranch: $1) },
                recording: { .caused($0, by: .person, named: actor, event: "approve", at: now) })
        } catch {
            throw stored(error)
        }
        switch approval {
        case .queued(let record):
            queue.notify()
            return record
        case .noted(let record): return record
        case .unknown:
            throw OperationError(
                .notFound,
                "no scan has found a pull request \(number); its repository's host must tell of it by a webhook")
        case .closed: throw OperationError(.conflict, "pull request \(number) is closed")
        case .moved(let head):
            throw OperationError(
                .conflict, "the head of pull request \(number) is \(head) by now; look at that and approve it instead")
        case .refused(let reason):
            throw OperationError(.conflict, "pull request \(number) is not integrated: \(reason)")
        }
    }
}
