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
                let page = try await site.store.outbox(try Self.state(call), limit: limit, before: before)
                return .json(.list(page.items.map { JSONValue($0) }, next: page.next))
            },
            Route(
                .post, "/api/v1/outbox/{number}/retry", .role(.operator), "Has a message tried again that was given up."
            ) { call in
                guard let id = Int64(call.text("number")), id > 0 else { throw Problem.notFound }
                return .json(JSONValue(try await site.operations.retryMessage(id, by: call.caller.name)))
            },
        ]
    }

    /// Returns `?state=`; `nil` if it is absent.
    /// - Throws: 400 for an unknown state.
    static func state(_ call: AuthorizedRequest) throws(Problem) -> OutboxMessage.State? {
        guard let text = call.query("state") else { return nil }
        guard let state = OutboxMessage.State(rawValue: text) else {
            throw Problem(
                400, "`state` is one of \(OutboxMessage.State.allCases.map(\.rawValue).joined(separator: ", ")).")
        }
        return state
    }
}

extension JSONValue {
    init(_ message: OutboxMessage) {
        self = [
            "id": .integer(message.id), "kind": .string(message.kind.rawValue),
            "destination": .string(message.destination), "bot": .string(message.bot.description),
            "integration": .init(describing: message.integration), "job": .init(describing: message.job),
            "about": .string(OutboxText.about(message)), "commit": .string(message.content.commit.description),
            "ref": .string(message.content.ref.description), "state": .string(message.state.rawValue),
            "tries": .integer(Int64(message.tries)), "next": .init(message.state == .waiting ? message.nextAt : nil),
            "note": .init(message.note), "created": .init(message.createdAt), "ended": .init(message.endedAt),
        ]
    }
}

/// A message of the outbox in words.
enum OutboxText {
    /// Returns the content of a message in a word, such as `queued`, `running` or `test-failures`.
    static func about(_ message: OutboxMessage) -> String {
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
