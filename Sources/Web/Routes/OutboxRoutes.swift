import API
import HTTPTypes
import Hummingbird
import Integrations
import Model
import Storage

/// Lists the messages to other systems: waiting, sent and given up.
struct OutboxRoutes: Sendable {
    let site: Site

    var routes: [Route] {
        [
            Route(
                .get, "/api/v1/outbox", .role(.viewer), "What is told outside, newest first; ?state= ?limit= ?before=."
            ) { call in
                let (limit, before) = try call.page()
                let page = try await site.store.outbox(
                    try Self.state(call), of: call.bots, limit: limit, before: before)
                return try .json(API.List(page.items.map { API.OutboxMessage($0) }, next: page.next))
            }.described(
                "listMessages", .outbox,
                query: [
                    .word("state", "Only messages in this state.", Storage.OutboxMessage.State.self), .limit(), .before,
                ],
                .json(API.List<API.OutboxMessage>.self)
            ).reaching(.listing),
            Route(
                .post, "/api/v1/outbox/{number}/retry", .role(.operator), "Has a message tried again that was given up."
            ) { call in
                try .json(API.OutboxMessage(try await site.retryMessage(call)))
            }.described("retryMessage", .outbox, .json(API.OutboxMessage.self)).reaching(.found),
        ]
    }

    /// Returns `?state=`; `nil` if it is absent.
    /// - Throws: 400 for an unknown state.
    static func state(_ call: AuthorizedRequest) throws(Problem) -> Storage.OutboxMessage.State? {
        guard let text = call.query("state") else { return nil }
        guard let state = Storage.OutboxMessage.State(rawValue: text) else {
            throw Problem(
                400,
                "`state` is one of \(Storage.OutboxMessage.State.allCases.map(\.rawValue).joined(separator: ", ")).")
        }
        return state
    }
}

extension Site {
    /// Has the message that a path names tried again.
    /// - Throws: 404 for a message that does not exist, and for one about a bot that the caller may not read.
    func retryMessage(_ call: AuthorizedRequest) async throws -> Storage.OutboxMessage {
        guard let id = Int64(call.text("number")), id > 0 else { throw Problem.notFound }
        if call.caller.role == nil {
            // Numbers are given in order, so the answer must not say which of them exist.
            guard let bot = try await store.bot(ofMessage: id), call.shows(bot) else { throw Problem.notFound }
        }
        if let bot = try await store.bot(ofMessage: id) { try call.require(.operator, on: bot) }
        let message = try await operations.retryMessage(id, by: call.caller.name)
        try await record(.retried, by: call, bot: message.bot, "message \(message.id)")
        return message
    }
}

/// A message of the outbox in words.
enum OutboxText {
    /// Returns the content of a message in a word, such as `queued`, `running` or `test-failures`.
    static func about(_ message: Storage.OutboxMessage) -> String {
        let content = message.content
        if let notice = content.notice {
            let version = content.version.map { " \($0)" } ?? ""
            return notice.transition.rawValue + version + (notice.recipient.map { ", to \($0)" } ?? "")
        }
        if let verdict = content.verdict {
            return IntegrationResult(verdict: verdict, triggerFailed: content.hasFailedTrigger).description
        }
        return switch content.moment {
        case .queued, .completed: "queued"
        case .started: "running"
        case .jobs: content.hasBegun ? "running" : "queued"
        case .skipped: "skipped"
        case .published: "published \(content.version ?? "")"
        }
    }
}
