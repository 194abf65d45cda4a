import Encodings
import Foundation
package import Model
package import Notifications
package import Storage
import Transfer

/// Lists the new issues of a pull request in one comment of the bot, which is edited when the next commit has other issues.
///
/// As long as there are no new issues, no comment is made. GitHub, Gitea and Forgejo: `/repos/{owner}/{repo}/issues/{number}/comments`, edited by
/// `PATCH …/issues/comments/{id}`. GitLab: `/projects/{id}/merge_requests/{iid}/notes`, edited by `PUT …/notes/{id}`.
package struct ForgeCommentSender: OutboxSender {
    private let access: ForgeAccess

    package var kind: OutboxDestination.Kind { .comment }

    package init(_ access: ForgeAccess) { self.access = access }

    /// Makes or edits the comment for a message; see `OutboxSender`.
    package func send(_ message: OutboxMessage) async -> OutboxOutcome {
        guard let bot = await access.bots.bot(message.bot) else { return .absent }
        guard let target = bot.status, target.hasComments, target.api == message.destination else {
            return .unneeded("the bot \(message.bot) makes no comments at \(message.destination) any more")
        }
        guard let id = message.integration, let number = message.content.ref.pullRequest else {
            return .unneeded("it is about no pull request")
        }
        guard let verdict = message.content.verdict, verdict != .canceled else {
            return .unneeded("\(id) was canceled")
        }
        let place = Store.CommentPlace(
            bot: message.bot, number: number, destination: target.api, project: target.project)
        return await access.outcome {
            let changes = try await access.store.issueChanges(of: id)
            let known = try await access.store.comment(at: place)
            guard changes.new > 0 || known != nil || message.isUncertain else {
                return .unneeded("there are no new issues")
            }
            let talk = Talk(target: target, number: number, secret: try await access.secret(of: target))
            let text = try await text(of: message, id, changes)
            // The earliest time at which the comment can have been made, even if this machine's clock is an hour fast.
            let since = message.content.at + .seconds(-3600)
            var denied: OutboxOutcome?
            if let known {
                let answer = try await edit(known, talk, text, place)
                guard answer.isDenied || answer.isGone else { return answer.outcome }
                // The comment belongs to another account, or this account lost the right for a while. Its number is kept until another comment is
                // made.
                if answer.isDenied { denied = answer.outcome }
            }
            if denied == nil, message.isUncertain, let found = try await find(talk, since: since, bot: message.bot) {
                try await access.store.setComment(found, at: place)
                let answer = try await edit(found, talk, text, place)
                guard answer.isGone else { return answer.outcome }
            }
            guard changes.new > 0 else { return denied ?? .unneeded("there are no new issues") }
            return try await make(talk, text, place, since: since)
        }
    }

    private func text(
        of message: OutboxMessage, _ id: IntegrationID, _ changes: Store.IssueChanges
    ) async throws -> String {
        let summary = try await access.store.integration(id)?.summary
        let issues = try await access.store.issuePage(of: id, status: .new, limit: CommentText.maximumIssues).items
        return CommentText.text(
            of: id, commit: message.content.commit,
            sentence: StatusText.sentence(message.content, summary: summary, changes: changes), issues: issues,
            count: changes.new, url: access.page(of: message))
    }

    // MARK: - At the forge

    /// A pull request at a forge, with the secret to access it.
    private struct Talk {
        var target: StatusTarget
        var number: Int
        var secret: String

        var list: String {
            target.forge == .gitlab
                ? "/projects/\(PercentEncoding.encode(target.project))/merge_requests/\(number)/notes"
                : "/repos/\(target.projectPath)/issues/\(number)/comments"
        }

        func one(_ comment: Int64) -> String {
            target.forge == .gitlab ? "\(list)/\(comment)" : "/repos/\(target.projectPath)/issues/comments/\(comment)"
        }

        func newest(since time: Timestamp) -> String {
            target.forge == .gitlab
                ? list + "?per_page=30&order_by=created_at&sort=desc"
                : list + "?per_page=30&limit=30&since=" + PercentEncoding.encode(time.description)
        }
    }

    private struct Comment: Decodable {
        var id: Int64
        var body: String?
    }

    private func ask(
        _ talk: Talk, _ method: TransferRequest.Method, _ path: String, _ text: String? = nil
    ) async throws(ForgeAccess.Stop) -> ForgeAnswer {
        let request = try talk.target.request(
            method, path, secret: talk.secret, json: text.map { ["body": $0] })
        return try await access.ask(talk.target, request, secret: talk.secret)
    }

    private func edit(
        _ comment: Int64, _ talk: Talk, _ text: String, _ place: Store.CommentPlace
    ) async throws -> ForgeAnswer {
        let answer = try await ask(talk, talk.target.forge == .gitlab ? .put : .patch, talk.one(comment), text)
        if answer.isGone { try await access.store.setComment(nil, at: place) }
        return answer
    }

    private func make(
        _ talk: Talk, _ text: String, _ place: Store.CommentPlace, since time: Timestamp
    ) async throws -> OutboxOutcome {
        let answer = try await ask(talk, .post, talk.list, text)
        guard answer.response.isSuccess else { return answer.outcome }
        do {
            var made = (try? JSONDecoder().decode(Comment.self, from: Data(answer.response.body)))?.id
            if made == nil { made = try await find(talk, since: time, bot: place.bot) }
            guard let made else {
                return .sent(note: "its number is not known, so the next commit's is another comment")
            }
            try await access.store.setComment(made, at: place)
            return answer.outcome
        } catch let stop as ForgeAccess.Stop where stop.outcome == .interrupted {
            throw stop
        } catch {
            // The comment exists, so the next try searches for it.
            return .failed(OutboxFailure("\(error)", isOfDestination: false, mayHaveArrived: true))
        }
    }

    /// Returns the comment that an earlier try made without receiving an answer; `nil` if there is none or it cannot be found.
    private func find(
        _ talk: Talk, since time: Timestamp, bot: Name
    ) async throws(ForgeAccess.Stop) -> Int64? {
        let answer = try await ask(talk, .get, talk.newest(since: time))
        guard answer.response.isSuccess else {
            if !answer.isDenied, case .failed = answer.outcome { throw .init(answer.outcome) }
            return nil
        }
        let comments = (try? JSONDecoder().decode([Comment].self, from: Data(answer.response.body))) ?? []
        return comments.filter { $0.body?.hasPrefix(CommentText.mark(bot)) == true }.map(\.id).max()
    }
}
