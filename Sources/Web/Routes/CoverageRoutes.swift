import API
import HTTPTypes
import Hummingbird
import Model
import Storage

/// `/api/v1/bots/{bot}/integrations/{number}/coverage`: the test coverage of an integration.
struct CoverageRoutes: Sendable {
    let site: Site

    private static let root = "/api/v1/bots/{bot}/integrations/{number}/coverage"

    var routes: [Route] {
        [
            Route(
                .get, Self.root, .read,
                "Its coverage by configuration, with the change against the branch's integration before; ?attempt=."
            ) { call in
                let record = try await site.integration(of: call)
                let all = try await site.store.coverage(of: record.id, attempt: call.attempt())
                return try .json(API.List(all.map { API.Coverage($0) }))
            }.described("listCoverage", .coverage, query: [.attempt], .json(API.List<API.Coverage>.self)),
            Route(
                .get, Self.root + "/{configuration}", .read,
                "A configuration's coverage by file, by path; ?changed ?attempt= ?limit= ?after=."
            ) { call in
                let record = try await site.integration(of: call)
                let (limit, after) = try TestRoutes.page(call)
                let all = try await site.store.coverage(
                    of: record.id, attempt: call.attempt(), configuration: try call.name("configuration"))
                guard let stored = all.first else { throw Problem.notFound }
                let before = stored.before.map { before in
                    Dictionary(before.coverage.files.map { ($0.path, $0.lines) }) { first, _ in first }
                }
                let isChangedOnly = try call.flag("changed")
                let files = stored.coverage.files.filter { file in
                    !isChangedOnly || before.map { $0[file.path] != file.lines } ?? false
                }
                let shown = files.dropFirst(after).prefix(limit)
                return try .json(
                    API.List(
                        shown.map { API.FileCoverage($0, before: before?[$0.path]) },
                        next: after + shown.count < files.count ? Int64(after + shown.count) : nil))
            }.described(
                "listCoverageOfFiles", .coverage,
                query: [.flag("changed", "Only files whose coverage has changed."), .attempt] + TestRoutes.paging,
                .json(API.List<API.FileCoverage>.self)),
        ]
    }
}
