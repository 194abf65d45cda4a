import API
import HTTPTypes
import Hummingbird
import Model
import Storage

/// Who did what: lists the audit.
struct AuditRoutes: Sendable {
    let site: Site

    var routes: [Route] {
        [
            Route(
                .get, "/api/v1/audit", .role(.admin),
                "Who did what, newest first; ?bot= ?action= ?actor= ?limit= ?before=."
            ) { call in
                let (limit, before) = try call.page()
                let page = try await site.store.audit(try Self.filter(call), limit: limit, before: before)
                return try .json(API.List(page.items.map { API.AuditRow($0) }, next: page.next))
            }.described(
                "listAudit", .system,
                query: [
                    .text("bot", "Only what is about this bot.", example: "kit"),
                    .word("action", "Only this action.", AuditAction.self),
                    .text("actor", "Only what this person did.", example: "ann"), .limit(), .before,
                ], .json(API.List<API.AuditRow>.self))
        ]
    }

    /// - Throws: 400 for an unknown action, 404 for what cannot be a bot's name.
    static func filter(_ call: AuthorizedRequest) throws(Problem) -> AuditFilter {
        var filter = AuditFilter(actor: call.query("actor"))
        if let text = call.query("bot") {
            guard let bot = Name(text) else { throw Problem(404, "There is no such bot.") }
            filter.bot = bot
        }
        if let text = call.query("action") {
            guard let action = AuditAction(rawValue: text) else {
                throw Problem(
                    400, "`action` is one of \(AuditAction.allCases.map(\.rawValue).joined(separator: ", ")).")
            }
            filter.action = action
        }
        return filter
    }
}

extension API.AuditRow {
    init(_ record: AuditRecord) {
        self.init(
            id: record.id, at: API.Time(record.at), action: record.entry.action.rawValue, actor: record.entry.actor,
            address: record.entry.address, bot: record.entry.bot?.description, subject: record.entry.subject,
            detail: record.entry.detail)
    }
}
