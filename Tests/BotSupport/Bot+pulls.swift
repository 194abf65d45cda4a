import Archives
import Basics
import Encodings
import Forges
package import Integrations
package import Model
package import Storage
import TestSupport
import Testing

extension Bot {
    /// Commits the change of a pull request, and puts the commit at the ref where GitHub has its head.
    /// - Parameters:
    ///   - start: The revision to begin with: `main`, or the head before.
    ///   - branch: A branch of the bot's own repository for the same commit; `nil` for a fork's pull request.
    package func pull(
        _ number: Int, _ files: [String: String], from start: String = "main", branch: String? = nil,
        message: String = "Pull"
    ) async throws -> CommitID {
        let before = try await work.git("rev-parse", "--abbrev-ref", "HEAD")
        try await work.git("checkout", "-q", "--detach", start)
        let head = try await work.commit(files: files, message: message)
        try await point(pull: number, at: head)
        if let branch {
            try await work.git("branch", "-f", branch, "\(head)")
            try await work.push(to: remote, ["+\(head):refs/heads/\(branch)"])
        }
        try await work.checkout(before)
        return head
    }

    /// Moves a pull request's head, as its author does by a push.
    package func point(pull number: Int, at head: CommitID) async throws {
        try await work.push(to: remote, ["+\(head):refs/pull/\(number)/head"])
    }

    /// Announces a pull request as GitHub does, signed with the bot's secret, and waits until a scan has decided.
    /// - Parameters:
    ///   - action: GitHub's word: `opened`, `synchronize`, `edited`, `reopened`, `closed`.
    ///   - more: Further members of `pull_request`.
    ///   - isUnlisted: Whether the repository shows another head than this one. Then all pauses before further looks pass.
    @discardableResult
    package func tell(
        _ action: String, pull number: Int, head: CommitID, base: String = "main", more: String = "",
        isUnlisted: Bool = false
    ) async throws -> DeliveryRecord {
        let id = identifiers.next()
        try await send(action, pull: number, head: head, base: base, more: more, delivery: id)
        if isUnlisted {
            let store = try store
            // Only the clock causes the scans in between.
            try await until("the last look for \(head.abbreviated)", limit: Bot.waitLimit) {
                timer.advance(by: .seconds(32))
                return try await store.deliveries().items.first { $0.id == id }?.outcome != .pending
            }
        }
        return try await wait("the outcome of \(action) of pull request \(number)") { store in
            try await store.deliveries().items.first { $0.id == id && $0.outcome != .pending }
        }
    }

    /// Announces a pull request in the same way, without waiting.
    @discardableResult
    package func send(
        _ action: String, pull number: Int, head: CommitID, base: String = "main", more: String = "", delivery: String
    ) async throws -> PushAcceptance {
        let state = action == "closed" ? "closed" : "open"
        let body =
            #"{"action":"\#(action)","number":\#(number),"pull_request":{"number":\#(number),"state":"\#(state)","#
            + #""updated_at":"\#(time.now)",\#(more)"head":{"sha":"\#(head)","ref":"topic"},"#
            + #""base":{"ref":"\#(base)"}},"repository":{"full_name":"acme/kit"}}"#
        let bytes = Array(body.utf8)
        let key = Array("It's a Secret to Everybody".utf8)
        return try await operations.receive(
            ForgeDelivery(
                forge: .github, bot: name,
                headers: [
                    "content-type": "application/json", "x-github-event": "pull_request", "x-github-delivery": delivery,
                    "x-hub-signature-256": "sha256="
                        + Hexadecimal.encode(Digest.hmacSHA256(key: key, message: bytes)),
                ], body: bytes))
    }

    /// Returns the integrations of a pull request, oldest first.
    package func integrations(ofPull number: Int) async throws -> [IntegrationOutline] {
        try await store.integrations(IntegrationFilter(ref: RefName(pullRequest: number))).items.reversed()
    }

    /// Waits until the newest integration of a pull request's head is completed.
    package func completion(
        ofPull number: Int, at head: CommitID, limit: Duration = Bot.waitLimit
    ) async throws -> Integrated {
        let filter = IntegrationFilter(ref: RefName(pullRequest: number))
        let record = try await wait("an integration of pull request \(number) at \(head.abbreviated)") { store in
            try await store.integrations(filter).items.first { $0.headCommit == head }
        }
        return try await completion(of: record.id, limit: limit)
    }
}
