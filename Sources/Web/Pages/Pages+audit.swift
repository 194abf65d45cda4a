import Encodings
import Hummingbird
import Model
import Storage

extension Pages {
    /// Returns the page `/audit`: who did what, newest first, for admins.
    func audit(_ call: AuthorizedRequest) async throws -> Response {
        let (limit, before) = try call.page()
        let filter = try AuditRoutes.filter(call)
        let page = try await site.store.audit(filter, limit: limit, before: before)
        let now = site.clock()
        let query = ["bot": filter.bot?.description, "action": filter.action?.rawValue, "actor": filter.actor]
            .compactMap { key, value in value.map { "&\(key)=\(PercentEncoding.encode($0))" } }.sorted().joined()
        return try await self.page(
            "audit", title: "Audit", section: "",
            [
                "rows": .list(
                    page.items.map { record in
                        [
                            "at": .text(record.at), "when": .text(PageText.age(record.at, now: now)),
                            "time": .text(PageText.time(record.at)), "actor": .text(record.entry.actor),
                            "address": .text(record.entry.address), "action": .text(record.entry.action.rawValue),
                            "subject": .text(record.entry.subject),
                            "detail": .text(record.entry.detail),
                        ]
                    }), "hasRows": .flag(!page.items.isEmpty), "isFiltered": .flag(!query.isEmpty),
                "days": .text(Int(site.configuration.auditAge.components.seconds / 86_400)),
                "older": .text(page.next.map { "/audit?before=\($0)\(query)" }),
            ])
    }
}
