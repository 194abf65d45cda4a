import Foundation
import Transfer

extension FakeForge {
    /// Answers a request to set a status by the forge's rules. GitHub: docs.github.com/rest/commits/statuses, and the messages of its validation.
    /// GitLab: lib/api/commit_statuses.rb, app/models/commit_status.rb. Gitea: routers/api/v1/repo/status.go. Bitbucket Cloud:
    /// api-group-commit-statuses.
    func rules(_ call: FakeForgeCall, _ fields: [String: String], _ state: inout State) -> TransferResponse {
        let text = fields["description"] ?? ""
        let word = fields["state"] ?? ""
        guard words.contains(word) else { return wrongState(word) }
        guard state.commits.contains(call.commit) else { return unknown(call.commit) }
        guard text.count <= limit else { return tooLong }
        let context = fields[contextField] ?? "default"
        guard context.count <= (kind == .bitbucket ? 40 : 255) else {
            return refusal(400, "key: Ensure this value has at most 40 characters (it has \(context.count)).")
        }
        let url = fields[kind == .bitbucket || kind == .bitbucketServer ? "url" : "target_url"] ?? ""
        guard url.hasPrefix("http://") || url.hasPrefix("https://") else {
            return kind == .github
                ? refusal(422, "Validation Failed") : refusal(400, "url: Enter a valid URL.")
        }
        let status = Status(
            id: state.lastID + 1, commit: call.commit, context: context, state: word, text: text, url: url,
            ref: fields["ref"] ?? fields["refname"] ?? "")
        switch kind {
        case .github:
            // GitHub ignores the case of contexts.
            let same = state.statuses.count {
                $0.commit == call.commit && $0.context.lowercased() == context.lowercased()
            }
            if same >= 1000 { return refusal(422, "This SHA and context has reached the maximum number of statuses.") }
            return add(status, &state)
        case .gitea, .forgejo: return add(status, &state)
        case .gitlab: return transition(to: status, &state)
        case .bitbucket, .bitbucketServer:
            let old = state.statuses.firstIndex { $0.commit == call.commit && $0.context == context }
            if let old { state.statuses.remove(at: old) }
            _ = add(status, &state)
            return kind == .bitbucketServer
                ? TransferResponse(status: 204) : json(old == nil ? 201 : 200, [:] as [String: Any])
        }
    }

    private func add(_ status: Status, _ state: inout State) -> TransferResponse {
        state.lastID += 1
        state.statuses.append(status)
        return json(201, ["id": status.id, "state": status.state])
    }

    /// Changes a pending or running status, as GitLab does. Beside a final status it begins another one.
    private func transition(to status: Status, _ state: inout State) -> TransferResponse {
        let open = state.statuses.last {
            $0.commit == status.commit && $0.context == status.context && $0.ref == status.ref
        }.flatMap { ["pending", "running"].contains($0.state) ? $0 : nil }
        let event = ["pending": "enqueue", "running": "run"][status.state]
        if let open, let event, !(open.state == "pending" && status.state == "running") {
            return refusal(
                400,
                "Cannot transition status via :\(event) from :\(open.state) (Reason(s): Status cannot transition via \"\(event)\")"
            )
        }
        return add(status, &state)
    }

    private var contextField: String {
        switch kind {
        case .github, .gitea, .forgejo: "context"
        case .gitlab: "name"
        case .bitbucket, .bitbucketServer: "key"
        }
    }

    private var words: Set<String> {
        switch kind {
        case .github: ["error", "failure", "pending", "success"]
        case .gitlab: ["pending", "running", "success", "failed", "canceled"]
        case .gitea, .forgejo: ["pending", "success", "error", "failure", "warning"]
        case .bitbucket: ["INPROGRESS", "SUCCESSFUL", "FAILED", "STOPPED"]
        case .bitbucketServer: ["INPROGRESS", "SUCCESSFUL", "FAILED", "CANCELLED", "UNKNOWN"]
        }
    }

    private var limit: Int { kind == .github ? 140 : 255 }

    private var tooLong: TransferResponse {
        switch kind {
        case .github:
            json(
                422,
                [
                    "message": "Validation Failed",
                    "errors": [
                        [
                            "resource": "Status", "code": "custom", "field": "description",
                            "message": "description is too long (maximum is 140 characters)",
                        ]
                    ],
                ] as [String: Any])
        case .gitlab: json(400, ["message": ["description": ["is too long (maximum is 255 characters)"]]])
        default: refusal(400, "description: Ensure this value has at most 255 characters.")
        }
    }

    private func unknown(_ commit: String) -> TransferResponse {
        switch kind {
        case .github: refusal(422, "No commit found for SHA: \(commit)")
        case .gitlab: refusal(404, "404 Commit Not Found")
        // Gitea reports this as its own error.
        case .gitea, .forgejo: refusal(500, "GetCommit[\(commit)]: object does not exist")
        case .bitbucket, .bitbucketServer: refusal(404, "Commit not found")
        }
    }

    private func wrongState(_ word: String) -> TransferResponse {
        switch kind {
        case .github: refusal(422, "Validation Failed: \(word) is not a valid state")
        case .gitlab: json(400, ["error": "state does not have a valid value"])
        default: refusal(400, "state: \"\(word)\" is not a valid choice.")
        }
    }
}
