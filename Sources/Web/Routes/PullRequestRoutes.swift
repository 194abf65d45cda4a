import Hummingbird
import Integrations
import Model
import Storage

/// `/api/v1/bots/{bot}/pull-requests…`: lists open pull requests and accepts an operator's approval.
struct PullRequestRoutes: Sendable {
    let site: Site

    private static let root = "/api/v1/bots/{bot}/pull-requests"

    var routes: [Route] {
        [
            Route(.get, Self.root, .read, "Its open pull requests, newest first, and what became of each.") { call in
                let states = try await PullRequestState.all(of: try await site.bot(of: call), site: site)
                return .json(.list(states.map { JSONValue($0) }))
            },
            Route(
                .post, Self.root + "/{number}/approve", .role(.operator),
                "Lets one head of a fork's pull request run: {commit}, its whole id."
            ) { call in
                let bot = try await site.bot(of: call).name
                guard let number = Int(call.text("number")), number > 0 else { throw Problem.notFound }
                let body = try await call.json(Body.self)
                let record = try await site.operations.approve(
                    pullRequest: number, of: bot, commit: body.commit, by: call.caller.name)
                return .json(JSONValue(record, attempts: nil), status: .created)
            },
        ]
    }

    private struct Body: RequestBody {
        enum CodingKeys: CodingKey, CaseIterable { case commit }

        var commit: String
    }
}
