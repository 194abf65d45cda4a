import Foundation
import Synchronization
import Transfer

/// The parts of a request to a forge about comments of a pull request.
struct FakeForgeCommentCall {
    var project: String
    /// The pull request; `nil` if the request names only the comment.
    var number: Int?
    var comment: Int?

    /// Returns `nil` for another path or method.
    init?(_ method: String, _ url: String, api: String, _ kind: FakeForge.Kind) {
        let path = url.dropFirst(api.count + 1).split(separator: "?", maxSplits: 1)[0]
        let parts = path.split(separator: "/").map { String($0).removingPercentEncoding ?? String($0) }
        switch (kind, method, parts.count) {
        case (.github, "POST", 6), (.gitea, "POST", 6), (.forgejo, "POST", 6), (.github, "GET", 6), (.gitea, "GET", 6),
            (.forgejo, "GET", 6):
            guard parts[0] == "repos", parts[3] == "issues", parts[5] == "comments" else { return nil }
            (project, number) = ("\(parts[1])/\(parts[2])", Int(parts[4]))
        case (.github, "PATCH", 6), (.gitea, "PATCH", 6), (.forgejo, "PATCH", 6):
            guard parts[0] == "repos", Array(parts[3...4]) == ["issues", "comments"] else { return nil }
            (project, comment) = ("\(parts[1])/\(parts[2])", Int(parts[5]))
        case (.gitlab, "POST", 5), (.gitlab, "GET", 5), (.gitlab, "PUT", 6):
            guard parts[0] == "projects", parts[2] == "merge_requests", parts[4] == "notes" else { return nil }
            (project, number) = (parts[1], Int(parts[3]))
            if parts.count == 6 { comment = Int(parts[5]) }
        default: return nil
        }
    }
}

extension FakeForge {
    /// A comment on a pull request.
    package struct Comment: Sendable, Hashable {
        package var id: Int
        package var number: Int
        package var text: String
    }

    /// All comments, oldest first.
    package var comments: [Comment] { state.withLock { $0.comments } }

    /// Deletes all comments, as a user could.
    package func deleteComments() { state.withLock { $0.comments = [] } }

    /// Answers a request about comments. GitHub: docs.github.com/rest/issues/comments; at most 65,536 characters, 422 for more. GitLab:
    /// docs.gitlab.com/api/notes. Gitea: `issueCreateComment`, `issueEditComment`.
    func comment(_ call: FakeForgeCommentCall, _ method: String, _ body: [UInt8]) -> TransferResponse {
        func value(_ comment: Comment) -> [String: Any] { ["id": comment.id, "body": comment.text] }
        if method == "GET" {
            return json(200, comments.filter { $0.number == call.number }.map(value))
        }
        guard let text = (try? JSONDecoder().decode([String: String].self, from: Data(body)))?["body"], !text.isEmpty,
            text.count <= 65_536
        else { return refusal(kind == .gitlab ? 400 : 422, "body is missing or too long") }
        return state.withLock { state in
            if let wanted = call.comment {
                guard let index = state.comments.firstIndex(where: { $0.id == wanted }) else {
                    return refusal(404, "Not Found")
                }
                state.comments[index].text = text
                return json(200, value(state.comments[index]))
            }
            state.lastID += 1
            let made = Comment(id: state.lastID, number: call.number ?? 0, text: text)
            state.comments.append(made)
            return json(201, value(made))
        }
    }
}
