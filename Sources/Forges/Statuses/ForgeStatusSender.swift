import Foundation
package import Model
package import Notifications
package import Storage
import Transfer

/// Reports commits' statuses to forges.
///
/// The bot's file determines the destination at the time of sending. The token is read each time and not stored.
package struct ForgeStatusSender: OutboxSender {
    private let access: ForgeAccess

    package var kind: OutboxDestination.Kind { .status }

    package init(_ access: ForgeAccess) { self.access = access }

    /// Sends the status of a message; see `OutboxSender`.
    package func send(_ message: OutboxMessage) async -> OutboxOutcome {
        guard let bot = await access.bots.bot(message.bot) else { return .absent }
        guard let target = bot.status else {
            return .unneeded("the file of the bot \(message.bot) names no `status` any more")
        }
        guard target.api == message.destination else {
            return .unneeded("the bot \(message.bot) reports to \(target.api) now")
        }
        return await access.outcome {
            let secret = try await access.secret(of: target)
            let report = StatusReport(
                message, url: access.page(of: message), description: try await sentence(of: message))
            let request = ForgeStatusRequest(target: target, report: report)
            if message.isUncertain, let found = try await look(request, secret) { return found }
            let posting = try target.request(.post, request.posting, secret: secret, json: request.fields)
            let answer = try await access.ask(target, posting, secret: secret)
            return Self.gitLabsTransition(answer, request) ?? answer.outcome
        }
    }

    private func sentence(of message: OutboxMessage) async throws -> String {
        guard message.content.verdict != nil, let id = message.integration else {
            return StatusText.sentence(message.content, summary: nil)
        }
        if let job = message.job {
            let attempts = try await access.store.attempts(of: id)
            let attempt = attempts.last { $0.id.job == job && $0.state.verdict != nil }
            return StatusText.sentence(message.content, summary: attempt?.summary)
        }
        let record = try await access.store.integration(id)
        return StatusText.sentence(
            message.content, summary: record?.summary, changes: try await access.store.issueChanges(of: id))
    }

    /// Returns the outcome if GitLab refuses a status because it has it already or has a later one; `nil` otherwise. A commit's status there only
    /// moves forward until it is final.
    private static func gitLabsTransition(_ answer: ForgeAnswer, _ request: ForgeStatusRequest) -> OutboxOutcome? {
        guard request.target.forge == .gitlab, answer.response.status == 400,
            String(decoding: answer.response.body.prefix(1024), as: UTF8.self).contains("Cannot transition status via")
        else { return nil }
        return .sent(note: "GitLab had it already, or a later one")
    }

    // MARK: - What the forge has

    /// Returns the outcome if the forge has the status of an earlier try, or cannot be asked now. `nil` if it does not have the status, or cannot
    /// tell.
    private func look(_ request: ForgeStatusRequest, _ secret: String) async throws(ForgeAccess.Stop) -> OutboxOutcome?
    {
        guard let reading = request.reading else { return nil }
        let answer = try await access.ask(
            request.target, try request.target.request(.get, reading, secret: secret), secret: secret)
        guard answer.response.isSuccess else {
            // The earlier try may have arrived, so the message waits. If the token may write but not read, the status is sent again: twice is better
            // than not at all.
            if !answer.isDenied, case .failed = answer.outcome { return answer.outcome }
            return nil
        }
        guard let newest = Self.newest(of: request, in: answer.response.body), newest == FoundStatus(request) else {
            return nil
        }
        return .sent(note: "found at the forge; the answer to it was lost")
    }

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

    /// Returns the newest status of this context in a forge's list; `nil` if there is none. Gitea calls the state `status`, and GitLab calls the
    /// context `name`.
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
