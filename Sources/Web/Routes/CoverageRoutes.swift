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
                return .json(.list(all.map { JSONValue($0) }))
            },
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
                let files = stored.coverage.files.filter { file in
                    !call.flag("changed") || before.map { $0[file.path] != file.lines } ?? false
                }
                let shown = files.dropFirst(after).prefix(limit)
                return .json(
                    .list(
                        shown.map { JSONValue($0, before: before?[$0.path]) },
                        next: after + shown.count < files.count ? Int64(after + shown.count) : nil))
            },
        ]
    }
}

extension JSONValue {
    init(_ share: Coverage.Share?) {
        self =
            share.map { share in
                [
                    "covered": .integer(Int64(share.covered)), "total": .integer(Int64(share.total)),
                    "percent": share.percent.map { .number($0) } ?? .null,
                ]
            } ?? .null
    }

    init(_ stored: StoredCoverage) {
        let delta = stored.delta
        self = [
            "configuration": .string(stored.attempt.job.description),
            "attempt": .integer(Int64(stored.attempt.attempt)), "lines": .init(stored.coverage.lines),
            "functions": .init(stored.coverage.functions), "branches": .init(stored.coverage.branches),
            "files": .integer(Int64(stored.coverage.files.count)),
            "before": .init(describing: stored.before?.integration), "linesBefore": .init(delta?.before),
            "change": delta?.points.map { .number($0) } ?? .null,
            "changedFiles": delta.map { .integer(Int64($0.files.count)) } ?? .null,
        ]
    }

    /// Writes the coverage of a file and its change.
    /// - Parameter before: The file's line coverage in the integration that this one is compared with.
    init(_ file: Coverage.File, before: Coverage.Share?) {
        self = [
            "path": .string(file.path), "lines": .init(file.lines), "functions": .init(file.functions),
            "branches": .init(file.branches), "linesBefore": .init(before),
            "change": CoverageDelta.File(path: file.path, before: before, after: file.lines).points
                .map { .number($0) } ?? .null,
        ]
    }
}
