import Archives
import Basics
import Encodings
import Foundation
import Model
import TestSupport
import Testing

/// A forge's webhook from the HTTP request to the integration, with a real repository.
@Suite struct ForgeWebhookTests {
    private static let files = ["Makefile": "all:\n\t@echo compiling\ncheck:\n\t@true\n"]

    /// Sends GitHub's event of a push.
    /// - Returns: The answer's status and body.
    private func deliver(
        _ commit: CommitID, id: String, to path: String = "/webhooks/github/kit", secret: String = "a secret",
        daemon: Daemon
    ) async throws -> (status: Int, body: String) {
        let zero = String(repeating: "0", count: 40)
        let body =
            #"{"ref":"refs/heads/main","before":"\#(zero)","after":"\#(commit)","created":true,"commits":[],"#
            + #""repository":{"id":1,"full_name":"acme/kit","clone_url":"https://elsewhere.example/acme/kit.git"}}"#
        let code = Hexadecimal.encode(Digest.hmacSHA256(key: Array(secret.utf8), message: Array(body.utf8)))
        let result = try await run(
            TestTools.curl + [
                "-w", "\n%{http_code}", "-X", "POST", "-H", "X-GitHub-Event: push",
                "-H", "X-GitHub-Delivery: \(id)", "-H", "X-Hub-Signature-256: sha256=\(code)",
                "-H", "Content-Type: application/json", "--data-binary", "@-", daemon.url + path,
            ], input: body)
        let lines = result.stdout.split(separator: "\n")
        return (lines.last.flatMap { Int($0) } ?? 0, lines.dropLast().joined(separator: "\n"))
    }

    private func deliveries(_ daemon: Daemon) async throws -> String { try await daemon.get("/api/v1/deliveries").body }

    private func count(_ text: String, in body: String) -> Int { body.components(separatedBy: text).count - 1 }

    @Test(
        .proves(
            .intake,
            "Webhooks of GitHub: push, branch and tag created and deleted, pull request opened, updated, reopened, closed, ping"
        ),
        .proves(
            .intake,
            "Same delivery again, also in parallel and after a restart, poll and webhook for the same push: one integration, each outcome stated"
        ), .program("curl"))
    func testThatAPushToGitHubBecomesOneIntegrationHoweverOftenItIsToldOf() async throws {
        try await withDaemon(bot: "branches: [main]\n") { daemon in
            // given: a repository without a hook of its own, and no poll
            try FileManager.default.removeItem(atPath: daemon.remote.path + "/hooks/post-receive")
            let commit = try await daemon.work.commit(files: Self.files, message: "Begin")
            try await daemon.work.push(to: daemon.remote)
            #expect(try await deliver(commit, id: "0", secret: "another", daemon: daemon).status == 401)

            // when
            let answer = try await deliver(commit, id: "1", daemon: daemon)

            // then
            #expect(answer.status == 202, "\(answer.body)")
            #expect(answer.body == #"{"delivery":"1","duplicate":false,"ignored":null}"#)
            try await until("the end of kit#1", limit: .seconds(30) * TestLimits.scale) {
                try await daemon.get("/api/v1/bots/kit/integrations/1").body.contains("\"completed\"")
            }
            let integration = try await daemon.get("/api/v1/bots/kit/integrations/1").body
            expectContains(integration, commit.description)
            expectContains(integration, "\"succeeded\"")
            let first = try await deliveries(daemon)
            expectContains(first, #""id":"1","source":"webhook","hook":"github/kit""#)
            expectContains(first, #""fate":"integrated""#)

            // The same again: sent twice, by another hook of the bot, and found by the scans of two starts
            #expect(try await deliver(commit, id: "1", daemon: daemon).body.contains(#""duplicate":true"#))
            #expect(try await deliver(commit, id: "2", daemon: daemon).status == 202)
            #expect(try await daemon.push(delivery: "3") == 202)
            try await daemon.stop()
            try await daemon.start()
            #expect(try await deliver(commit, id: "1", daemon: daemon).body.contains(#""duplicate":true"#))
            #expect(try await deliver(commit, id: "4", to: "/webhooks/github", daemon: daemon).status == 202)
            try await until("the outcomes", limit: .seconds(30) * TestLimits.scale) {
                try await !deliveries(daemon).contains(#""fate":"pending""#)
            }
            let all = try await deliveries(daemon)
            #expect(count(#""source":"webhook""#, in: all) == 4, "\(all)")
            #expect(count(#""fate":"duplicate","reason":"this was known already""#, in: all) == 1, "\(all)")
            #expect(count(#""reason":"no bot with this secret has the repository acme/kit""#, in: all) == 1, "\(all)")
            #expect(try await daemon.get("/api/v1/bots/kit/integrations/2").status == 404)

            // The command that explains the setup
            let help = try await daemon.output("webhook", "kit", "--forge", "github")
            #expect(help.hasPrefix("\(daemon.url)/webhooks/github/kit\n"))
            expectContains(help, "Content type: application/json")
        }
    }
}
