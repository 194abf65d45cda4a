import API
import HTTPTypes
import Hummingbird
import Integrations
import Model
import Storage

/// `/api/v1/bots/{bot}/integrations/{number}/issues…`: lists, exports and mutes issues.
struct IssueRoutes: Sendable {
    let site: Site

    /// The most issues of an export that are in memory at a time.
    private static let exportedIssues = 500

    private static let junitType = "application/xml; charset=utf-8"

    private static let root = "/api/v1/bots/{bot}/integrations/{number}"

    var routes: [Route] {
        [
            Route(.get, Self.root + "/issues", .read, "Its issues; ?status= ?category= ?limit= ?after=.") { call in
                let record = try await site.integration(of: call)
                let page = try await site.store.issuePage(
                    of: record.id, status: try Self.word(call, "status"), category: try Self.word(call, "category"),
                    limit: try call.number("limit", 1...TestRoutes.maximumLimit) ?? TestRoutes.maximumLimit,
                    after: try call.number("after", 0...Int(Int32.max)) ?? -1)
                return try .json(
                    API.List(page.items.map { API.Issue($0, at: site.clock()) }, next: page.next))
            }.described(
                "listIssues", .issues,
                query: [
                    .word("status", "Only issues of this status.", Model.Issue.Status.self),
                    .word("category", "Only issues of this category.", Finding.Category.self),
                    .limit(TestRoutes.maximumLimit, usual: TestRoutes.maximumLimit), .after,
                ], .json(API.List<API.Issue>.self)),
            Route(
                .get, Self.root + "/issues.sarif", .read,
                "Its issues as SARIF 2.1.0, at most 25,000 (Range, conditional)."
            ) { call in
                let export = ExportAnswers(site: site, type: "application/sarif+json") {
                    .init(response: try await sarif($1))
                }
                return try await export.answer(call, "issues.sarif")
            }.described("exportIssues", .issues, .media("application/sarif+json")).costing(.kept),
            Route(
                .get, Self.root + "/tests.xml", .read, "Its tests as JUnit XML; ?attempt= (Range, conditional)."
            ) { call in
                let attempt = try call.attempt()
                let junit = ExportAnswers(site: site, type: Self.junitType) { _, record in
                    let tests = try await site.store.tests(of: record.id, attempt: attempt)
                    let response = Response.pieces(type: Self.junitType) { writer in
                        for piece in IntegrationReports.junit(tests) {
                            try await writer.write(ByteBuffer(bytes: piece))
                        }
                    }
                    return .init(response: response, isKept: attempt == nil || !tests.isEmpty)
                }
                return try await junit.answer(call, "tests.xml", "\(attempt ?? 0)")
            }.described("exportTests", .tests, query: [.attempt], .media("application/xml")).costing(.kept),
            Route(
                .post, Self.root + "/issues/{fingerprint}/silence", .role(.operator),
                "Mutes an issue in all branches: {reason, until, for}; until in RFC 3339, for in seconds."
            ) { call in
                let record = try await site.integration(of: call)
                let wish = try await call.json(API.SilenceRequest.self)
                let issue = try await site.operations.silence(
                    call.text("fingerprint"), of: record.id, reason: wish.reason, expires: try expiry(wish),
                    by: try person(wish.person, call))
                try await site.record(
                    .muted, by: call, bot: record.id.bot, "\(record.id) \(call.text("fingerprint").prefix(12))",
                    wish.reason)
                return try .json(API.Issue(issue, at: site.clock()))
            }.described(
                "silenceIssue", .issues, body: API.SilenceRequest.self,
                example: ["reason": "flaky until the parser is fixed", "for": 604_800], .json(API.Issue.self)),
            Route(
                .post, Self.root + "/issues/{fingerprint}/unsilence", .role(.operator), "Unmutes an issue."
            ) { call in
                let record = try await site.integration(of: call)
                let fingerprint = try await site.operations.unsilence(
                    call.text("fingerprint"), of: record.id, by: call.caller.name)
                try await site.record(.unmuted, by: call, bot: record.id.bot, "\(record.id) \(fingerprint.prefix(12))")
                return try .json(API.Unsilenced(fingerprint: fingerprint))
            }.described("unsilenceIssue", .issues, .json(API.Unsilenced.self)),
            Route(.get, "/api/v1/bots/{bot}/silences", .read, "What is muted in a bot, newest first.") { call in
                let items = try await site.store.silencedIssues(of: try await site.bot(of: call).name).map {
                    API.SilencedIssue($0, at: site.clock())
                }
                return try .json(API.List(items))
            }.described("listSilences", .issues, .json(API.List<API.SilencedIssue>.self)),
        ].costing(.export)
    }

    private func sarif(_ record: IntegrationRecord) async throws -> Response {
        let (store, version) = (site.store, site.configuration.version)
        // Offsets count from 0.
        let beyond = try await store.issuePage(of: record.id, limit: 1, after: IntegrationReports.maximumResults - 1)
        let isWhole = beyond.items.isEmpty
        return .pieces(type: "application/sarif+json") { writer in
            var sarif = IntegrationReports.sarif(isWhole: isWhole, of: record, version: version)
            try await writer.write(ByteBuffer(bytes: sarif.beginning))
            var (left, after): (Int, Int?) = (IntegrationReports.maximumResults, -1)
            while let from = after, left > 0 {
                let page = try await store.issuePage(
                    of: record.id, limit: min(left, Self.exportedIssues), after: from)
                try await writer.write(ByteBuffer(bytes: sarif.results(page.items)))
                left -= page.items.count
                after = page.next.map { Int($0) }
            }
            try await writer.write(ByteBuffer(bytes: sarif.end))
        }
    }

    private static func word<Word: RawRepresentable & CaseIterable>(
        _ call: AuthorizedRequest, _ name: String
    ) throws(Problem) -> Word? where Word.RawValue == String {
        guard let text = call.query(name) else { return nil }
        guard let word = Word(rawValue: text) else {
            throw Problem(400, "`\(name)` is one of \(Word.allCases.map(\.rawValue).joined(separator: ", ")).")
        }
        return word
    }

    private func expiry(_ wish: API.SilenceRequest) throws(Problem) -> Timestamp? {
        if wish.until != nil, wish.for != nil { throw Problem(400, "Say `until` or `for`, not both.") }
        if let seconds = wish.for {
            // Avoids an overflow; the operation itself reports times that are too far in the future.
            guard seconds > 0, seconds < 1e10 else { throw Problem(400, "`for` is a number of seconds above 0.") }
            return site.clock() + .milliseconds(Int64(clamping: seconds * 1000))
        }
        guard let text = wish.until else { return nil }
        guard let time = Timestamp(rfc3339: text) else {
            throw Problem(400, "`until` is a time such as 2026-12-31T00:00:00Z.")
        }
        return time
    }

    /// The user behind a request. A token belongs to one user. A client of the socket has the daemon's own account or is root, and states the
    /// user's name.
    private func person(_ said: String?, _ call: AuthorizedRequest) throws(Problem) -> String {
        guard let said, call.caller.isLocal else { return call.caller.name }
        let isPlain = said.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F }
        guard isPlain, (1...Store.maximumTokenNameBytes).contains(said.utf8.count) else {
            throw Problem(400, "`person` is a name of 1 to \(Store.maximumTokenNameBytes) bytes.")
        }
        return said
    }
}
