import HTTPTypes
import Hummingbird
import Integrations
import Model
import Storage

/// `/api/v1/bots/{bot}/integrations/{number}…`: one integration; `latest` is accepted as the number.
struct IntegrationRoutes: Sendable {
    let site: Site
    let logs: LogServer
    let logEvents: LogEvents
    let artifacts: ArtifactServer

    private static let root = "/api/v1/bots/{bot}/integrations/{number}"

    var routes: [Route] {
        [
            Route(.get, Self.root, .read, "An integration with its configurations and their steps; ?attempt=.") {
                call in
                let record = try await site.integration(of: call)
                return .json(try await json(record, attempt: call.attempt()))
            },
            Route(.get, Self.root + "/triggers", .read, "What its triggers did.") { call in
                let record = try await site.integration(of: call)
                let triggers = try await site.store.triggers(of: record.id)
                let isClosed = try await site.isClosed(record.id)
                // Read after the rows, since a trigger whose row has ended has no progress. Uploads name files, which are not public for every
                // integration.
                let uploads = isClosed && call.isAnonymous ? [:] : site.operations.uploads(of: record.id)
                var response = Response.json(
                    .list(triggers.map { JSONValue($0, upload: $0.endedAt == nil ? uploads[$0.trigger] : nil) }))
                if isClosed { response.forbidKeeping() }
                return response
            },
            Route(.get, Self.root + "/artifacts", .read, "What it archived; ?attempt=.") {
                try await artifacts.list($0)
            },
            Route(.get, Self.root + "/artifacts/{job}/{file...}", .read, "One archived file (Range); ?attempt=.") {
                try await artifacts.send($0)
            }.costing(.download),
            Route(
                .get, Self.root + "/log/{configuration}", .read,
                "A configuration's log, or of _trigger-NAME a trigger's (Range); ?attempt=."
            ) { try await logs.send($0) }.costing(.download),
            Route(
                .get, Self.root + "/log/{configuration}/events", .read,
                "Server-sent events: the log's bytes as they come; ?attempt= ?from=."
            ) { try await logEvents.send($0) }.costing(.stream),
            Route(.post, Self.root + "/cancel", .role(.operator), "Cancels it: {grace}, in seconds.") { call in
                let record = try await site.integration(of: call)
                let body = try await call.json(CancelBody.self)
                let grace = body.grace.map { Duration.milliseconds(Int64(clamping: min(max($0, -1), 1e9) * 1000)) }
                try await site.operations.cancel(
                    record.id, grace: grace ?? Cancellation.Request.usualGrace, by: call.caller.name)
                return .json(JSONValue(try await site.integration(of: call), attempts: nil), status: .accepted)
            },
            Route(.post, Self.root + "/rerun", .role(.operator), "Runs it again: {failed, tests, triggers}.") { call in
                let old = try await site.integration(of: call)
                let body = try await call.json(RerunBody.self)
                let accepted = try await site.operations.rerun(
                    old.id,
                    Rerun(
                        isFailedOnly: body.failed ?? false, testFilter: body.tests,
                        isTriggersOnly: body.triggers ?? false), by: call.caller.name)
                var members: [JSONValue.Member] = []
                if case .object(let all) = try await json(accepted.integration, attempt: nil) { members = all }
                members.append(.init(key: "notes", value: .array(accepted.notes.map { .string($0) })))
                return .json(.object(members), status: .created)
            },
        ]
    }

    private struct CancelBody: RequestBody {
        enum CodingKeys: CodingKey, CaseIterable { case grace }

        var grace: Double?
    }

    private struct RerunBody: RequestBody {
        enum CodingKeys: CodingKey, CaseIterable { case failed, tests, triggers }

        var failed: Bool?
        var tests: String?
        var triggers: Bool?
    }

    /// Returns an integration with its attempts.
    /// - Parameter attempt: The number of the attempt to show of each job; `nil`: the latest.
    private func json(_ record: IntegrationRecord, attempt: Int?) async throws -> JSONValue {
        let all = try await site.attempts(of: record)
        return JSONValue(
            record, attempts: Site.shown(all, attempt: attempt), all: all,
            reruns: record.run > 1 ? try await site.store.reruns(of: record.id) : [])
    }
}
