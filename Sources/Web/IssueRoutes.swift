import Basics
import Foundation
import HTTPTypes
import Hummingbird
import Integrations
import Model
import Storage

/// `/api/v1/bots/{bot}/integrations/{number}/issues…`: issues, also for other tools, and their silencing.
struct IssueRoutes: Sendable {
    let site: Site

    /// Where reports are written: those of a large integration take a second. One at a time, so that many who ask need no more memory.
    private static let lane = BlockingLane(label: "reports")

    private static let root = "/api/v1/bots/{bot}/integrations/{number}"

    var routes: [Route] {
        [
            Route(.get, Self.root + "/issues", .read, "Its issues; ?status= ?category= ?limit= ?after=.") { call in
                let record = try await site.integration(of: call)
                let page = try await site.store.issuePage(
                    of: record.id, status: try Self.word(call, "status"), category: try Self.word(call, "category"),
                    limit: try call.number("limit", 1...TestRoutes.maximumLimit) ?? TestRoutes.maximumLimit,
                    after: try call.number("after", 0...Int(Int32.max)) ?? -1)
                return .json(.list(page.items.map { JSONValue($0, at: site.clock()) }, next: page.next))
            },
            Route(.get, Self.root + "/issues.sarif", .read, "Its issues as SARIF 2.1.0, at most 25,000.") { call in
                let record = try await site.integration(of: call)
                let page = try await site.store.issuePage(of: record.id, limit: IntegrationReports.maximumResults)
                let version = site.configuration.version
                let bytes = await Self.lane.run {
                    IntegrationReports.sarif(page.items, isWhole: page.next == nil, of: record, version: version)
                }
                return .body(bytes, type: "application/sarif+json")
            },
            Route(.get, Self.root + "/tests.xml", .read, "Its tests as JUnit XML; ?attempt=.") { call in
                let record = try await site.integration(of: call)
                let tests = try await site.store.tests(of: record.id, attempt: call.attempt())
                let bytes = await Self.lane.run { IntegrationReports.junit(tests) }
                return .body(bytes, type: "application/xml; charset=utf-8")
            },
            Route(
                .post, Self.root + "/issues/{fingerprint}/silence", .role(.operator),
                "Silences an issue in all branches: {reason, until, for}; until in RFC 3339, for in seconds."
            ) { call in
                let record = try await site.integration(of: call)
                let wish = try await call.json(Wish.self)
                let issue = try await site.operations.silence(
                    call.text("fingerprint"), of: record.id, reason: wish.reason, expires: try expiry(wish),
                    by: try person(wish.person, call))
                return .json(JSONValue(issue, at: site.clock()))
            },
            Route(
                .post, Self.root + "/issues/{fingerprint}/unsilence", .role(.operator), "Takes a silence back."
            ) { call in
                let record = try await site.integration(of: call)
                let fingerprint = try await site.operations.unsilence(
                    call.text("fingerprint"), of: record.id, by: call.caller.name)
                return .json(["fingerprint": .string(fingerprint)])
            },
            Route(.get, "/api/v1/bots/{bot}/silences", .read, "What is silenced in a bot, newest first.") { call in
                let items = try await site.store.silencedIssues(of: try await site.bot(of: call).name).map {
                    JSONValue($0, at: site.clock())
                }
                return .json(.list(items))
            },
        ]
    }

    private static func word<Word: RawRepresentable & CaseIterable>(
        _ call: Call, _ name: String
    ) throws(Problem) -> Word? where Word.RawValue == String {
        guard let text = call.query(name) else { return nil }
        guard let word = Word(rawValue: text) else {
            throw Problem(400, "`\(name)` is one of \(Word.allCases.map(\.rawValue).joined(separator: ", ")).")
        }
        return word
    }

    private struct Wish: RequestBody {
        enum CodingKeys: CodingKey, CaseIterable { case reason, until, `for`, person }

        var reason: String
        var until: String?
        var `for`: Double?
        var person: String?
    }

    private func expiry(_ wish: Wish) throws(Problem) -> Timestamp? {
        if wish.until != nil, wish.for != nil { throw Problem(400, "Say `until` or `for`, not both.") }
        if let seconds = wish.for {
            // Not beyond what a time can be; how far is too far is said by the operation.
            guard seconds > 0, seconds < 1e10 else { throw Problem(400, "`for` is a number of seconds above 0.") }
            return site.clock() + .milliseconds(Int64(seconds * 1000))
        }
        guard let text = wish.until else { return nil }
        guard let date = try? Date(text, strategy: .iso8601) else {
            throw Problem(400, "`until` is a time such as 2026-12-31T00:00:00Z.")
        }
        return Timestamp(secondsSinceEpoch: Int64(date.timeIntervalSince1970))
    }

    /// A token is one person's. Whoever may use the socket has the daemon's own account or is root, and says who they are.
    private func person(_ said: String?, _ call: Call) throws(Problem) -> String {
        guard let said, call.caller.isLocal else { return call.caller.name }
        let isPlain = said.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F }
        guard isPlain, (1...Store.maximumTokenNameBytes).contains(said.utf8.count) else {
            throw Problem(400, "`person` is a name of 1 to \(Store.maximumTokenNameBytes) bytes.")
        }
        return said
    }
}
