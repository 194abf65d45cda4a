import Foundation
import Synchronization
package import Transfer

/// A forge in memory with the part of its API that concerns commit statuses. It stores them by commit and context. It refuses what the real forge
/// refuses, with the same messages. It is written from each forge's documentation and, where that is silent, its published source.
package final class FakeForge: Sendable {
    /// The forge that it imitates.
    package enum Kind: String, Sendable, CaseIterable {
        case github, gitlab, gitea, forgejo, bitbucket
        case bitbucketServer = "bitbucket-server"
    }

    /// A stored status.
    package struct Status: Sendable, Hashable, CustomStringConvertible {
        package var id: Int
        package var commit: String
        /// The context; Bitbucket calls it key.
        package var context: String
        package var state: String
        package var text: String
        package var url: String
        /// The ref as it was sent; empty if it was not.
        package var ref: String

        package var description: String { "\(context) \(state): \(text)" }
    }

    struct State {
        var commits: Set<String> = []
        var statuses: [Status] = []
        var comments: [Comment] = []
        var lastID = 0
        var requests = 0
        /// Answers to give in place of the next ones to URLs with these suffixes.
        var planned: [(suffix: String, response: TransferResponse, isDone: Bool)] = []
    }

    package let kind: Kind
    /// The URL of the API, without a slash at its end.
    package let api: String
    package let project: String
    package let token: String
    let state = Mutex(State())

    package init(
        _ kind: Kind, api: String = "https://forge.example/api", project: String = "acme/kit",
        token: String = "t0ken-Canary"
    ) {
        self.kind = kind
        self.api = api
        self.project = project
        self.token = token
    }

    // MARK: Before

    /// Adds a pushed commit.
    package func add(commit: String) { state.withLock { _ = $0.commits.insert(commit) } }

    /// Answers the next request to a URL with a suffix with this response. The request is not executed, unless `isDone` is true.
    package func answerNext(
        _ status: Int, headers: TransferHeaders = [:], body: String = "", at suffix: String = "", isDone: Bool = false
    ) {
        let response = TransferResponse(status: status, headers: headers, body: Array(body.utf8))
        state.withLock { $0.planned.append((suffix, response, isDone)) }
    }

    // MARK: After

    /// All statuses that were ever stored, oldest first.
    package var history: [Status] { state.withLock { $0.statuses } }

    /// Returns the statuses that the forge shows for a commit, by context.
    package func current(_ commit: String) -> [String: Status] {
        var shown: [String: Status] = [:]
        for status in history where status.commit == commit { shown[status.context] = status }
        return shown
    }

    package var requests: Int { state.withLock { $0.requests } }

    // MARK: The interface

    /// Answers a request.
    package func answer(
        _ method: String, _ url: String, headers: TransferHeaders, authorization: String?, body: [UInt8]
    ) -> TransferResponse {
        let planned = state.withLock { state in
            state.requests += 1
            return state.planned.firstIndex { url.hasSuffix($0.suffix) }.map { state.planned.remove(at: $0) }
        }
        if let planned {
            if planned.isDone { _ = act(method, url, headers: headers, authorization: authorization, body: body) }
            return planned.response
        }
        return act(method, url, headers: headers, authorization: authorization, body: body)
    }

    private func act(
        _ method: String, _ url: String, headers: TransferHeaders, authorization: String?, body: [UInt8]
    ) -> TransferResponse {
        if let call = FakeForgeCommentCall(method, url, api: api, kind) {
            guard isAuthorized(headers, authorization) else { return refusal(401, unauthorized) }
            guard call.project == project else { return refusal(404, "Not Found") }
            return comment(call, method, body)
        }
        guard let call = FakeForgeCall(method, url, api: api, kind) else { return refusal(404, "Not Found") }
        guard isAuthorized(headers, authorization) else { return refusal(401, unauthorized) }
        guard call.project == project else {
            return refusal(404, kind == .gitlab ? "404 Project Not Found" : "Not Found")
        }
        if call.isReading { return list(call) }
        guard let fields = try? JSONDecoder().decode([String: String].self, from: Data(body)) else {
            return refusal(400, "Problems parsing JSON")
        }
        return state.withLock { rules(call, fields, &$0) }
    }

    private func isAuthorized(_ headers: TransferHeaders, _ authorization: String?) -> Bool {
        switch kind {
        case .gitlab: headers["PRIVATE-TOKEN"] == token || authorization == "Bearer \(token)"
        case .gitea, .forgejo:
            ["token \(token)", "Bearer \(token)"].contains(authorization ?? headers["Authorization"])
        case .github, .bitbucket, .bitbucketServer: authorization == "Bearer \(token)"
        }
    }

    private var unauthorized: String {
        switch kind {
        case .github: "Bad credentials"
        case .gitlab: "401 Unauthorized"
        case .gitea, .forgejo: "token is required"
        case .bitbucket, .bitbucketServer: "Access token expired or invalid."
        }
    }

    /// Returns an error in the forge's format.
    func refusal(_ status: Int, _ message: String) -> TransferResponse {
        let value: Any =
            switch kind {
            case .github, .gitlab, .gitea, .forgejo: ["message": message]
            case .bitbucket: ["type": "error", "error": ["message": message]] as [String: Any]
            case .bitbucketServer: ["errors": [["message": message]]]
            }
        return json(status, value)
    }

    func json(_ status: Int, _ value: Any) -> TransferResponse {
        let data = (try? JSONSerialization.data(withJSONObject: value, options: [.sortedKeys])) ?? Data()
        return TransferResponse(status: status, headers: ["Content-Type": "application/json"], body: Array(data))
    }

    private func list(_ call: FakeForgeCall) -> TransferResponse {
        guard state.withLock({ $0.commits.contains(call.commit) }) else { return refusal(404, "Not Found") }
        var listed = history.filter { $0.commit == call.commit }.reversed().map { $0 }
        if let name = call.name { listed = listed.filter { $0.context == name } }
        if kind == .gitlab, let ref = call.ref { listed = listed.filter { $0.ref == ref } }
        let values = listed.map { status -> [String: Any] in
            var value: [String: Any] = ["id": status.id, "description": status.text, "target_url": status.url]
            switch kind {
            case .gitlab: (value["name"], value["status"]) = (status.context, status.state)
            case .gitea, .forgejo: (value["context"], value["status"]) = (status.context, status.state)
            default: (value["context"], value["state"]) = (status.context, status.state)
            }
            return value
        }
        return json(200, values)
    }
}
