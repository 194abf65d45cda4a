import API
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
                return try .json(API.List(states.map { API.PullRequest($0) }))
            }.described("listPullRequests", .pullRequests, .json(API.List<API.PullRequest>.self)),
            Route(
                .post, Self.root + "/{number}/approve", .role(.operator),
                "Lets one head of a fork's pull request run: {commit}, its whole id."
            ) { call in
                let bot = try await site.bot(of: call).name
                guard let number = Int(call.text("number")), number > 0 else { throw Problem.notFound }
                let wish = try await call.json(API.ApprovalRequest.self)
                let record = try await site.operations.approve(
                    pullRequest: number, of: bot, commit: wish.commit, by: call.caller.name)
                try await site.record(.approved, by: call, bot: bot, "\(bot)!\(number)", wish.commit)
                return try .json(API.Integration(record.outline, root: site.configuration.url), status: .created)
            }.described(
                "approvePullRequest", .pullRequests, body: API.ApprovalRequest.self,
                example: ["commit": "2f0e9b1c7d3a5e4f60718293a4b5c6d7e8f90a1b"], .json(API.Integration.self),
                status: 201),
        ]
    }
}
