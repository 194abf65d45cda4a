import Archives
import Basics
import Encodings
import Forges
import Integrations
import Model
import Settings
import Storage
import TestSupport
import Testing

@testable import Web

/// Forges' deliveries over HTTP.
@Suite struct WebhookRoutesTests {
    private static let body = Array(
        (#"{"ref":"refs/heads/main","before":"0000000000000000000000000000000000000000","#
            + #""after":"1111111111111111111111111111111111111111","#
            + #""repository":{"full_name":"acme/kit","clone_url":"https://git.example/acme/kit.git"}}"#).utf8)

    private func withBot(_ body: @Sendable (WebFixture) async throws -> Void) async throws {
        let file = "repository: https://git.example/acme/kit.git\nwebhook: { secret: kit-webhook }\n"
        try await withWeb(bots: ["kit": file]) { web in
            try SecretStore(directory: web.directory.path("secrets"), credentialsDirectory: nil).set(
                "kit-webhook", "a secret")
            try await body(web)
        }
    }

    private func headers(
        _ body: [UInt8] = body, event: String = "push", id: String = "d-1", secret: String = "a secret"
    ) -> [(String, String)] {
        let code = Hexadecimal.encode(Digest.hmacSHA256(key: Array(secret.utf8), message: body))
        return [
            ("Content-Type", "application/json"), ("X-GitHub-Event", event), ("X-GitHub-Delivery", id),
            ("X-Hub-Signature-256", "sha256=" + code),
        ]
    }

    @Test(arguments: ["/webhooks/github/kit", "/webhooks/github"])
    func testThatAStoredDeliveryIsAnsweredWithItsIdentifier(target: String) async throws {
        try await withBot { web in
            let first = try await web.send("POST", target, headers: headers(), body: Self.body)
            #expect(first.status == 202)
            #expect(first.text == #"{"delivery":"d-1","duplicate":false,"ignored":null}"# + "\n")
            let again = try await web.send("POST", target, headers: headers(), body: Self.body)
            #expect(again.status == 202)
            #expect(again.text == #"{"delivery":"d-1","duplicate":true,"ignored":null}"# + "\n")
            let list = try await web.json("/api/v1/deliveries")
            expectContains(list, #""hook":"\#(target.dropFirst("/webhooks/".count))""#)
            let stored = try #require(try await web.store.deliveries().items.first)
            #expect(stored.repository == "https://git.example/acme/kit.git")
        }
    }

    @Test(.proves(.intake, "Bodies up to 26 MiB, over that 413; an event is a hint to scan, never the truth"))
    func testThatEachRefusalHasItsStatus() async throws {
        try await withBot { web in
            let target = "/webhooks/github/kit"
            let unsigned = [("X-GitHub-Event", "push")]
            let wrong = headers(secret: "another")
            let answer = try await web.send("POST", target, headers: wrong, body: Self.body)
            #expect(answer.status == 401)
            for (bot, headers) in [("nobody", wrong), ("nobody", headers()), ("kit", unsigned), ("nobody", unsigned)] {
                // Names cannot be probed: the answer for a missing bot is the same.
                let other = try await web.send("POST", "/webhooks/github/\(bot)", headers: headers, body: Self.body)
                #expect(other.status == 401 && other.text == answer.text, "\(bot)")
            }
            try await web.expect(401, "POST", "/webhooks/github/K%20it", headers: headers(), body: Self.body)
            try await web.expect(401, "POST", "/webhooks/github", headers: wrong, body: Self.body)
            try await web.expect(401, "POST", "/webhooks/gitlab/kit", headers: headers(), body: Self.body)
            let doubled = headers() + [headers()[3]]
            try await web.expect(401, "POST", target, headers: doubled, body: Self.body)
            let foreign = headers().filter { $0.0 != "X-GitHub-Event" } + [("X-Gitlab-Event", "Push Hook")]
            try await web.expect(400, "POST", target, headers: foreign, body: Self.body)
            let malformed = Array("{".utf8)
            try await web.expect(400, "POST", target, headers: headers(malformed), body: malformed)
            try await web.expect(404, "POST", "/webhooks/azure/kit", headers: headers(), body: Self.body)
            try await web.expect(404, "POST", "/webhooks/azure", headers: headers(), body: Self.body)
            try await web.expect(404, "POST", "/webhooks/push", headers: headers(), body: Self.body)
            try await web.expect(405, "GET", target)
            try await web.expect(413, "POST", target, headers: [("Content-Length", "27262977")])
            expectContains(try await web.json("/api/v1/deliveries"), #"{"items":[]"#)
            expectContains(try await web.json("/metrics"), "\nmartlet_webhooks_refused_total ")

            try await web.expect(202, "POST", target, headers: headers(), body: Self.body)
            let other = Array(#"{"zen":"x"}"#.utf8)
            try await web.expect(409, "POST", target, headers: headers(other, event: "ping"), body: other)
        }
    }

    @Test(.proves(.intake, "Every other authentic event 2xx and ignored, with its reason and no scan"))
    func testThatAnIgnoredEventSaysWhy() async throws {
        try await withBot { web in
            let body = Array(#"{"zen":"x"}"#.utf8)
            let answer = try await web.send(
                "POST", "/webhooks/github/kit", headers: headers(body, event: "star"), body: body)
            #expect(answer.status == 202)
            expectContains(answer.text, #""ignored":"star moves no ref""#)
            let list = try await web.json("/api/v1/deliveries")
            expectContains(list, #""fate":"ignored","reason":"star moves no ref""#)
        }
    }

    @Test(.proves(.badInput, "A delivery without a valid signature leaves a count and no row (W1, W4, W5, W20)"))
    func testThatRefusalsAreCounted() async throws {
        try await withBot { web in
            for _ in 0..<3 {
                try await web.expect(
                    401, "POST", "/webhooks/github/kit", headers: headers(secret: "x"), body: Self.body)
            }
            expectContains(try await web.json("/metrics"), "\nmartlet_webhooks_refused_total 3\n")
        }
    }

    @Test(
        .proves(.intake, "`martlet webhook BOT --forge NAME` prints the URL and what to choose there, word for word"),
        arguments: Forge.allCases)
    func testThatTheInstructionsNameTheURLAndTheSecret(forge: Forge) async throws {
        try await withBot { web in
            let text = try await web.send("GET", "/api/v1/bots/kit/webhook?forge=\(forge)", as: .operator).text
            #expect(text.hasPrefix("http://ci.example/webhooks/\(forge)/kit\n"))
            expectContains(text, "the secret kit-webhook")
            #expect(!text.contains("a secret\n"))
            try await web.expect(400, "GET", "/api/v1/bots/kit/webhook?forge=azure", as: .operator)
            try await web.expect(404, "GET", "/api/v1/bots/nobody/webhook?forge=\(forge)", as: .operator)
        }
    }

    @Test func testThatTheInterfaceDescribesThem() async throws {
        try await withBot { web in
            let api = try await web.json("/openapi.json")
            expectContains(api, #""/webhooks/{forge}/{bot}":{"post":{"#)
            expectContains(api, #""/webhooks/{forge}":{"post":{"#)
        }
    }
}
