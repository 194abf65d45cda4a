import Basics
import Integrations
import Logging
import Model
import Storage

/// What the handlers share.
struct Site: Sendable {
    let configuration: WebConfiguration
    let store: Store
    let operations: Operations
    let files: FileSender
    let templates: Templates
    let clock: @Sendable () -> Timestamp
    let logger: Logger

    /// - Throws: 404.
    func integration(of call: Call) async throws -> IntegrationRecord {
        let bot = try call.name("bot")
        let text = call.text("number")
        if text == "latest" {
            guard let record = try await store.latestIntegration(of: bot) else { throw Problem.notFound }
            return record
        }
        // One spelling: no sign, no leading zero.
        guard let number = Int(text), String(number) == text, number > 0,
            let record = try await store.integration(IntegrationID(bot: bot, number: number))
        else { throw Problem.notFound }
        return record
    }

    /// The latest attempt of each job, in the recipe's order, then by name.
    func latestAttempts(of integration: IntegrationRecord) async throws -> [AttemptRecord] {
        var latest: [Name: AttemptRecord] = [:]
        for attempt in try await store.attempts(of: integration.id)
        where attempt.id.attempt >= latest[attempt.id.job]?.id.attempt ?? 0 {
            latest[attempt.id.job] = attempt
        }
        let order = (integration.recipe?.configurations ?? []).map(\.name)
        func rank(_ attempt: AttemptRecord) -> (Int, Name) {
            (order.firstIndex(of: attempt.id.job) ?? order.count, attempt.id.job)
        }
        return latest.values.sorted { rank($0) < rank($1) }
    }

    /// Which configuration of the service a token belongs to, by its hash.
    func caller(with token: BearerToken) async throws -> Caller? {
        guard let record = try await store.token(hash: token.hash), record.revokedAt == nil else { return nil }
        return Caller(name: record.name, role: record.role)
    }
}
