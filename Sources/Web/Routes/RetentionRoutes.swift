import HTTPTypes
import Hummingbird
import Integrations
import Model
import Storage

/// Removes what retention no longer keeps, and explains why the rest stays.
struct RetentionRoutes: Sendable {
    let site: Site

    /// The most items of one answer, about 150 bytes each. Items to remove are listed first. The totals count all items.
    static let maximumItems = 20_000

    var routes: [Route] {
        [
            Route(
                .post, "/api/v1/prune", .role(.operator),
                "Removes what retention lets go of, or says what it would: {dryRun, bot}."
            ) { call in
                let body = try await call.json(PruneBody.self)
                var bot: Name?
                if let text = body.bot {
                    guard let name = Name(text), try await site.store.bot(name) != nil else {
                        throw Problem(404, "There is no such bot.")
                    }
                    bot = name
                }
                let report = try await site.operations.prune(isDry: body.dryRun ?? false, bot: bot)
                return .json(JSONValue(report))
            }
        ]
    }

    private struct PruneBody: RequestBody {
        enum CodingKeys: CodingKey, CaseIterable { case dryRun, bot }

        var dryRun: Bool?
        var bot: String?
    }
}

extension JSONValue {
    init(_ report: RetentionReport) {
        let (going, staying) = (report.items.filter(\.goes), report.items.filter { !$0.goes })
        let shown = (going + staying).prefix(RetentionRoutes.maximumItems)
        self = [
            "done": .bool(report.isDone),
            // Ages are counted up to this time. It is earlier than the current time if the clock has jumped.
            "countedTo": .init(report.countedTo),
            "items": .array(shown.map { Self.item($0) }),
            "omitted": .integer(Int64(report.items.count - shown.count)),
            "removes": Self.total(going), "keeps": Self.total(staying),
            "versions": .array(
                report.versions.map {
                    [
                        "product": .string($0.product.description), "versions": .integer(Int64($0.count)),
                        "bytes": .integer($0.bytes),
                    ]
                }),
        ]
    }

    private static func item(_ item: RetentionPlan.Item) -> JSONValue {
        [
            "integration": .string(item.row.id.description), "goes": .bool(item.goes), "reason": .string(item.reason),
            "bytes": .integer(item.row.disk?.bytes ?? 0), "files": .integer(item.row.disk?.files ?? 0),
        ]
    }

    private static func total(_ items: [RetentionPlan.Item]) -> JSONValue {
        [
            "integrations": .integer(Int64(items.count)),
            "bytes": .integer(items.reduce(0) { Int64.clampedSum($0, $1.row.disk?.bytes ?? 0) }),
            "files": .integer(items.reduce(0) { Int64.clampedSum($0, $1.row.disk?.files ?? 0) }),
        ]
    }
}
