import Basics
import Foundation
package import Model
package import Settings
package import Storage
package import Transfer

/// Reports commits' statuses to forges.
///
/// Where to is what the bot's file says when it is sent; the token is read each time and kept nowhere.
package struct ForgeStatusSender: OutboxSender {
    private let store: Store
    private let registry: BotRegistry
    private let secrets: SecretStore
    private let transport: any Transport
    private let clock: WallClock
    private let url: String
    private let lane = BlockingLane(label: "status-secrets")

    package var kind: OutboxDestination.Kind { .status }

    /// - Parameter url: Of the service, for links.
    package init(
        store: Store, registry: BotRegistry, secrets: SecretStore, transport: any Transport, clock: WallClock,
        url: String
    ) {
        self.store = store
        self.registry = registry
        self.secrets = secrets
        self.transport = transport
        self.clock = clock
        var url = url[...]
        while url.hasSuffix("/") { url = url.dropLast() }
        self.url = String(url)
    }

    /// See `OutboxSender`.
    package func send(_ message: OutboxMessage) async -> OutboxOutcome {
        guard let target = await registry.bot(message.bot)?.status else {
            return .unneeded("the file of the bot \(message.bot) names no `status` any more")
        }
        guard target.api == message.destination else {
            return .unneeded("the bot \(message.bot) reports to \(target.api) now")
        }
        do {
            guard let secret = try await secret(target.credentials) else {
                // Set in a while, it is sent by itself.
                return .failed(
                    OutboxFailure(
                        "the secret \(target.credentials) is not set; set it with `martlet secret set \(target.credentials)`",
                        isOfDestination: false))
            }
            let report = StatusReport(message, url: url, description: try await sentence(of: message))
            let request = ForgeStatusRequest(target: target, report: report)
            if message.isUncertain, let found = try await look(request, secret) { return found }
            return await post(request, secret)
        } catch let error as StatusError {
            return .refused("\(error)")
        } catch {
            return .failed(OutboxFailure("\(error)", isOfDestination: false))
        }
    }

    private func secret(_ name: String) async throws -> String? {
        let secrets = secrets
        return try await lane.run { () throws(SettingsError) in try secrets.value(name) }
    }

    private func sentence(of message: OutboxMessage) async throws -> String {
        guard message.content.verdict != nil, let id = message.integration else {
            return StatusText.sentence(message.content, counts: nil)
        }
        if let job = message.job {
            let attempts = try await store.attempts(of: id)
            let attempt = attempts.last { $0.id.job == job && $0.state.verdict != nil }
            return StatusText.sentence(message.content, counts: attempt?.summary?.counts)
        }
        let record = try await store.integration(id)
        return StatusText.sentence(
            message.content, counts: record?.summary?.counts, changes: try await store.issueChanges(of: id))
    }

    // MARK: - Asking the forge

    private func post(_ request: ForgeStatusRequest, _ secret: String) async -> OutboxOutcome {
        let operation = "POST \(request.url)"
        let posting: TransferRequest
        do throws(StatusError) {
            posting = try request.posting(secret: secret)
        } catch {
            return .refused("\(error)")
        }
        do throws(TransferError) {
            let response = try await transport.perform(posting)
            if let known = gitLabsTransition(response, request) { return known }
            return answer(operation, response, request, secret).outcome
        } catch {
            return Self.outcome(of: error, operation)
        }
    }

    /// GitLab refuses what it holds already, or has passed: a commit's status there only goes forward until it is final.
    private func gitLabsTransition(_ response: TransferResponse, _ request: ForgeStatusRequest) -> OutboxOutcome? {
        guard request.target.forge == .gitlab, response.status == 400 else { return nil }
        let text = String(decoding: response.body.prefix(1024), as: UTF8.self)
        guard text.contains("Cannot transition status via") else { return nil }
        return .sent(note: "GitLab had it already, or a later one")
    }

    /// Whether the forge has the status of an earlier try; nothing: it has not, or cannot tell.
    private func look(_ request: ForgeStatusRequest, _ secret: String) async throws(StatusError) -> OutboxOutcome? {
        guard let url = request.readingURL else { return nil }
        let operation = "GET \(url.split(separator: "?")[0])"
        let reading = try request.request(.get, url, secret: secret)
        do throws(TransferError) {
            let response = try await transport.perform(reading)
            guard response.isSuccess else {
                let answer = answer(operation, response, request, secret)
                if case .failed(var failure) = answer.outcome {
                    // What an earlier try may have done it still may have.
                    failure.mayHaveArrived = true
                    return .failed(failure)
                }
                // A token that may write and not read: sent twice is better than not at all.
                return nil
            }
            guard let newest = Self.newest(of: request, in: response.body) else { return nil }
            return newest == FoundStatus(request) ? .sent(note: "found at the forge; the answer to it was lost") : nil
        } catch {
            // An answer that is too large tells nothing.
            return error.code == .tooLarge ? nil : Self.outcome(of: error, operation)
        }
    }

    private func answer(
        _ operation: String, _ response: TransferResponse, _ request: ForgeStatusRequest, _ secret: String
    ) -> ForgeAnswer {
        ForgeAnswer(
            operation: operation, response: response, secret: secret, credentials: request.target.credentials,
            now: clock.now())
    }

    private static func outcome(of error: TransferError, _ operation: String) -> OutboxOutcome {
        switch error.code {
        case .canceled: return .interrupted
        case .invalid, .schemeRefused, .credentials: return .refused("\(error)")
        case .unreachable, .certificate: return .failed(OutboxFailure("\(error)"))
        default: return .failed(OutboxFailure("\(error)", mayHaveArrived: true))
        }
    }

    // MARK: - What the forge has

    private struct FoundStatus: Hashable {
        var state: String
        var description: String
        var url: String?

        init(state: String, description: String, url: String?) {
            self.state = state
            self.description = description
            self.url = url
        }

        init(_ request: ForgeStatusRequest) {
            self.init(state: request.word, description: request.description, url: request.report.url)
        }
    }

    /// The newest status of our context in a forge's list. Gitea calls the state `status`, GitLab also the context `name`.
    private static func newest(of request: ForgeStatusRequest, in body: [UInt8]) -> FoundStatus? {
        struct Listed: Decodable {
            var id: Int?
            var state: String?
            var status: String?
            var context: String?
            var name: String?
            var description: String?
            var targetURL: String?

            enum CodingKeys: String, CodingKey {
                case id, state, status, context, name, description
                case targetURL = "target_url"
            }
        }
        guard let list = try? JSONDecoder().decode([Listed].self, from: Data(body)) else { return nil }
        let ours = list.filter { ($0.context ?? $0.name)?.lowercased() == request.report.context.lowercased() }
        guard let newest = ours.max(by: { ($0.id ?? 0) < ($1.id ?? 0) }) else { return nil }
        return FoundStatus(
            state: newest.state ?? newest.status ?? "", description: newest.description ?? "", url: newest.targetURL)
    }
}
