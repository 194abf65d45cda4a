import Crypto
import Foundation

/// A fork's pull request, which nothing of runs before a user approves it: docs/guide/pull-requests.md. Within the sandbox alone.
extension KillSweep {
    func beginPull() throws -> Course {
        let (bot, number) = (KillScenario.pull.rawValue, runs)
        let bare = "\(service.root)/repositories/\(bot).git"
        let base = try service.git(bot, "rev-parse", "HEAD")
        // The commit is another author's, and no branch of the repository has it.
        try service.write("clones/\(bot)/file", "\(runs)\n")
        try service.git(bot, "commit", "-q", "-a", "-m", "A fork's change")
        let head = try service.git(bot, "rev-parse", "HEAD")
        try service.git(bot, "push", "-q", bare, "HEAD:refs/pull/\(number)/head")
        try service.git(bot, "reset", "-q", "--hard", base)
        guard try tell(bot, of: number, head: head) == 202 else { throw ServiceFailure("the event was refused") }
        let isWaiting = Moment.until(limit: 60, pause: 20) { (try? state(of: number, bot)) == "waiting" }
        guard isWaiting else {
            throw ServiceFailure("pull request \(number) does not wait: \(try state(of: number, bot) ?? "unknown")")
        }
        let path = "/api/v1/bots/\(bot)/pull-requests/\(number)/approve"
        return Course(
            bot: bot,
            act: { try $0.send("POST", path, body: "{\"commit\":\"\(head)\"}").status == 201 },
            results: [(head, "succeeded")], attempts: ["debug": 1]
        ) { _ in
            try self.pullViolations(number, bot, base: base, head: head)
        }
    }

    /// Sends what a forge sends when a pull request is opened, signed as by GitHub.
    private func tell(_ bot: String, of number: Int, head: String) throws -> Int {
        let body = """
            {"action":"opened","number":\(number),"repository":{},"pull_request":{"number":\(number),"state":"open",\
            "head":{"sha":"\(head)","ref":"change"},"base":{"ref":"main"}}}
            """
        let code = HMAC<SHA256>.authenticationCode(
            for: Data(body.utf8), using: SymmetricKey(data: Data("a secret".utf8)))
        let digits = code.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
        return try service.client.send(
            "POST", "/webhooks/github/\(bot)",
            headers: [
                "X-GitHub-Event": "pull_request", "X-GitHub-Delivery": "\(bot)-\(number)",
                "X-Hub-Signature-256": "sha256=" + digits,
            ], body: body
        ).status
    }

    private func state(of number: Int, _ bot: String) throws -> String? {
        let items = try service.client.get("bots/\(bot)/pull-requests")["items"] as? [[String: Any]] ?? []
        return items.first { $0["number"] as? Int == number }?["state"] as? String
    }

    /// It was approved once, and the merge of its head with the base ran.
    private func pullViolations(_ number: Int, _ bot: String, base: String, head: String) throws -> [String] {
        var found: [String] = []
        let integration = try end(of: head, bot: bot)
        let view = try service.client.get("bots/\(bot)/integrations/\(integration)")
        let pull = view["pullRequest"] as? [String: Any] ?? [:]
        if pull["approvedBy"] as? String == nil { found.append("\(bot)!\(number) ran without an approval") }
        if pull["number"] as? Int != number {
            found.append("\(bot)#\(integration) is of another pull request: \(pull)")
        }
        let log = try service.log(bot, integration)
        if !log.contains("parents \(base) \(head)\n") {
            found.append("\(bot)#\(integration) ran no merge of \(base) and \(head): \(log)")
        }
        if try state(of: number, bot) != "integrated" {
            found.append("\(bot)!\(number) is \(try state(of: number, bot) ?? "gone")")
        }
        return found
    }
}
