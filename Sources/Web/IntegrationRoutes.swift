import HTTPTypes
import Hummingbird
import Integrations
import Model
import Storage

/// `/api/v1/bots/{bot}/integrations/{number}…`: one integration; `latest` is a number too.
struct IntegrationRoutes: Sendable {
    let site: Site
    let logs: LogServer
    let artifacts: ArtifactServer

    private static let root = "/api/v1/bots/{bot}/integrations/{number}"

    var routes: [Route] {
        [
            Route(.get, Self.root, .read, "An integration with its configurations and their steps.") { call in
                let record = try await site.integration(of: call)
                return .json(JSONValue(record, attempts: try await site.latestAttempts(of: record)))
            },
            Route(.get, Self.root + "/issues", .read, "Its issues; ?status= ?category=.") { call in
                let record = try await site.integration(of: call)
                let (status, category) = (call.query("status"), call.query("category"))
                let issues = try await site.store.issues(of: record.id).filter { issue in
                    (status == nil || issue.status.rawValue == status)
                        && (category == nil || issue.finding.category.rawValue == category)
                }
                return .json(.list(issues.map { JSONValue($0, commit: record.commit) }))
            },
            Route(.get, Self.root + "/tests", .read, "Its tests; ?failing ?configuration=.") { call in
                let record = try await site.integration(of: call)
                var configuration: Name?
                if let text = call.query("configuration") {
                    guard let name = Name(text) else { throw Problem(400, "`configuration` is a name.") }
                    configuration = name
                }
                let tests = try await site.store.tests(
                    of: record.id, failingOnly: call.flag("failing"), configuration: configuration)
                return .json(.list(tests.map { JSONValue($0) }))
            },
            Route(.get, Self.root + "/triggers", .read, "What its triggers did.") { call in
                let record = try await site.integration(of: call)
                return .json(.list(try await site.store.triggers(of: record.id).map { JSONValue($0) }))
            },
            Route(.get, Self.root + "/artifacts", .read, "What it archived.") { call in
                let record = try await site.integration(of: call)
                return .json(
                    .list(
                        try await site.store.artifacts(of: record.id).map {
                            JSONValue($0.artifact, url: site.configuration.url + ArtifactServer.path(of: $0))
                        }))
            },
            Route(.get, Self.root + "/artifacts/{job}/{file...}", .read, "One archived file (Range).") {
                try await artifacts.send($0)
            },
            Route(.get, Self.root + "/log/{configuration}", .read, "A configuration's log (Range); ?attempt=.") {
                try await logs.send($0)
            },
            Route(.post, Self.root + "/cancel", .role(.operator), "Cancels it.") { call in
                let record = try await site.integration(of: call)
                try await site.operations.cancel(record.id, by: call.caller.name)
                return .json(JSONValue(try await site.integration(of: call), attempts: nil), status: .accepted)
            },
            Route(.post, Self.root + "/rerun", .role(.operator), "Queues the same commit of the same ref again.") {
                call in
                let old = try await site.integration(of: call)
                let record = try await site.operations.rerun(old.id, by: call.caller.name)
                return .json(JSONValue(record, attempts: nil), status: .created)
            },
        ]
    }
}
