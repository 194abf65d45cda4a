import API
import Basics
import Forges
import HTTPTypes
import Hummingbird
import Integrations
import Model
import Storage

/// `/api/v1/bots/{bot}/integrations/{number}…`: one integration. `latest` is accepted as the number: it means the default branch's, or that of
/// `?branch=`.
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
                return try .json(await detail(record, attempt: call.attempt()))
            }.described(
                "getIntegration", .integrations, query: [.attempt], .json(API.IntegrationDetail.self)),
            Route(.get, Self.root + "/triggers", .read, "What its triggers did.") { call in
                let record = try await site.integration(of: call)
                let triggers = try await site.store.triggers(of: record.id)
                let isClosed = try await site.isClosed(record.id)
                // Read after the rows, since a trigger whose row has ended has no progress. Uploads name files, which are not public for every
                // integration.
                let uploads = isClosed && call.isAnonymous ? [:] : site.operations.uploads(of: record.id)
                var response = try Response.json(
                    API.List(
                        triggers.map {
                            API.TriggerRun($0, upload: $0.endedAt == nil ? uploads[$0.trigger] : nil)
                        }))
                if isClosed { response.forbidKeeping() }
                return response
            }.described("listTriggers", .triggers, .json(API.List<API.TriggerRun>.self)),
            Route(.get, Self.root + "/artifacts", .read, "What it archived; ?attempt=.") {
                try await artifacts.list($0)
            }.described("listArtifacts", .artifacts, query: [.attempt], .json(API.ArtifactList.self)),
            Route(.get, Self.root + "/artifacts/{job}/{file...}", .read, "One archived file (Range); ?attempt=.") {
                try await artifacts.send($0)
            }.described("getArtifact", .artifacts, query: [.attempt], .media("application/octet-stream")).costing(
                .download),
            Route(
                .get, Self.root + "/log/{configuration}", .read,
                "A configuration's log, or of _trigger-NAME a trigger's (Range); ?attempt=."
            ) { try await logs.send($0) }.described("getLog", .logs, query: [.attempt], .media("text/plain")).costing(
                .download),
            Route(
                .get, Self.root + "/log/{configuration}/events", .read,
                "Server-sent events: the log's bytes as they come; ?attempt= ?from=."
            ) { try await logEvents.send($0) }.described(
                "followLog", .logs,
                query: [.attempt, .number("from", "The offset to begin at, in bytes; 0 by default.")],
                .media("text/event-stream")
            ).costing(.stream),
            Route(
                .get, Self.root + "/log/{configuration}/search", .read,
                "The lines of a log that contain a text; ?q= ?attempt= ?after=."
            ) { try await search($0) }.described(
                "searchLog", .logs,
                query: [
                    .text("q", "The text, 1 to 200 bytes. Letters of ASCII match in both cases.", isRequired: true),
                    .attempt, .number("after", "The `next` of the page before: the line to go on from.", minimum: 1),
                ], .json(API.List<API.LogHit>.self)),
            Route(.post, Self.root + "/cancel", .role(.operator), "Cancels it: {grace}, in seconds.") { call in
                let record = try await site.integration(of: call)
                let cancelRequest = try await call.json(API.CancelRequest.self)
                let grace = cancelRequest.grace.map {
                    Duration.milliseconds(Int64(clamping: min(max($0, -1), 1e9) * 1000))
                }
                try await site.operations.cancel(
                    record.id, grace: grace ?? Cancellation.Request.usualGrace, by: call.caller.name)
                try await site.record(.canceled, by: call, bot: record.id.bot, record.id)
                return try .json(
                    API.Integration(await site.integration(of: call).outline, root: site.configuration.url),
                    status: .accepted)
            }.described(
                "cancelIntegration", .integrations, body: API.CancelRequest.self, example: ["grace": 10],
                .json(API.Integration.self),
                status: 202),
            Route(.post, Self.root + "/rerun", .role(.operator), "Runs it again: {failed, tests, triggers}.") { call in
                let old = try await site.integration(of: call)
                let cancelRequest = try await call.json(API.RerunRequest.self)
                let accepted = try await site.operations.rerun(
                    old.id,
                    Rerun(
                        isFailedOnly: cancelRequest.failed ?? false, testFilter: cancelRequest.tests,
                        tests: cancelRequest.names ?? [],
                        isTriggersOnly: cancelRequest.triggers ?? false), by: call.caller.name)
                try await site.record(.rerun, by: call, bot: old.id.bot, old.id)
                let detail = try await detail(accepted.integration, attempt: nil)
                return try .json(API.QueuedRerun(detail: detail, notes: accepted.notes), status: .created)
            }.described(
                "rerunIntegration", .integrations, body: API.RerunRequest.self, example: ["failed": true],
                .json(API.QueuedRerun.self), status: 201),
        ]
    }

    /// Returns an integration with its attempts.
    /// - Parameter attempt: The number of the attempt to show of each job; `nil`: the latest.
    private func detail(
        _ record: IntegrationRecord, attempt: Int?
    ) async throws -> API.IntegrationDetail {
        let all = try await site.attempts(of: record)
        let links = await site.links(of: record.repository, bot: record.id.bot)
        let pages = IntegrationLinks(
            links, of: record, previous: links == nil ? nil : try await site.store.historyBefore(record.id).previous)
        return API.IntegrationDetail(
            record, attempts: Site.shown(all, attempt: attempt), all: all,
            reruns: record.run > 1 ? try await site.store.reruns(of: record.id) : [],
            forge: links.map {
                API.ForgePages(
                    repository: $0.repository, commit: $0.commit(record.headCommit), ref: pages.ref,
                    comparison: pages.comparison)
            },
            root: site.configuration.url)
    }

    /// Returns the lines of a log that contain a text, at most `LogSearch.maximumHits` at a time.
    /// - Throws: 400 without a text, or for one that is too long; 404 without a log.
    private func search(_ call: AuthorizedRequest) async throws -> Response {
        guard let text = try Pages.searchedText(call) else { throw Problem(400, "`q` is the text to search for.") }
        let from = call.query("after") ?? "1"
        guard let line = Int(from), line > 0 else { throw Problem(400, "`after` is the `next` of an earlier answer.") }
        let log = try await logs.open(call)
        let state = site.configuration.state
        let answer = try await site.files.run {
            try LogSearch(text, in: LogSearch.reader(of: log, in: state)).find(from: line)
        }
        return try .json(
            API.List(
                items: answer.hits.map { API.LogHit(line: $0.line, text: $0.text) },
                next: answer.next.map(String.init)))
    }
}
