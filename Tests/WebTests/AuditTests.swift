import Model
import Storage
import TestSupport
import Testing

@testable import Web

@Suite struct AuditTests {
    private static func rows(_ web: WebFixture) async throws -> [AuditEntry] {
        try await web.store.audit().items.reversed().map(\.entry)
    }

    @Test(
        .proves(
            .operating,
            "Sign-ins, tokens, integrations asked for, reruns, cancels, approvals, mutes, yanks and removals are in the audit: who, from where, when"
        ))
    func testThatWhatPeopleDoIsRecordedWithNameAndAddress() async throws {
        try await withWeb { web in
            // given
            try await SampleContent(web: web).fill()
            let old = try await Self.rows(web).count
            // when
            let json = [("Content-Type", "application/json")]
            func post(_ path: String, _ body: String, as role: Role) async throws {
                let answer = try await web.send("POST", path, as: role, headers: json, body: Array(body.utf8))
                #expect((200..<300).contains(answer.status), "\(path): \(answer.text)")
            }
            try await post("/api/v1/tokens", #"{"name":"nightly","role":"viewer"}"#, as: .admin)
            try await web.expect(204, "DELETE", "/api/v1/tokens/nightly", as: .admin)
            try await post("/api/v1/products/kit/versions/1.0.0/yank", "{}", as: .operator)
            try await post("/api/v1/prune", "{}", as: .operator)
            // then
            let rows = try await Self.rows(web).dropFirst(old)
            #expect(rows.map(\.action) == [.tokenCreated, .tokenRevoked, .yanked, .pruned])
            #expect(rows.map(\.actor) == ["admin", "admin", "operator", "operator"])
            #expect(rows.map(\.subject) == ["nightly", "nightly", "kit 1.0.0", "all bots"])
            #expect(rows.allSatisfy { $0.address == "127.0.0.1" })
            expectContains(web.logText, "a token was made")
            expectContains(web.logText, "a token was revoked")
        }
    }

    @Test(
        .proves(
            .operating, "Behind a trusted proxy the audit has the client's address; a header from elsewhere is ignored")
    )
    func testThatATrustedProxyNamesTheClient() async throws {
        let forwarded = [("X-Forwarded-For", "203.0.113.9, 198.51.100.4")]
        for (proxies, address) in [(["127.0.0.1"], "198.51.100.4"), ([], "127.0.0.1")] {
            try await withWeb(proxies: proxies) { web in
                // when
                try await web.expect(404, "DELETE", "/api/v1/tokens/none", as: .admin, headers: forwarded)
                try await web.expect(204, "DELETE", "/api/v1/tokens/viewer", as: .admin, headers: forwarded)
                // then
                let rows = try await Self.rows(web)
                #expect(rows.map(\.address) == [address])
            }
        }
    }

    @Test(.proves(.operating, "Admins alone read the audit: as the page `/audit`, by the API and by `martlet audit`"))
    func testThatAdminsAloneReadItAndHostileNamesAreText() async throws {
        try await withWeb { web in
            // given
            let entry = AuditEntry(
                .muted, actor: "<script>", address: "192.0.2.7", bot: Name(nearest: "kit"), subject: "kit#1\u{1B}[31m",
                detail: "a\nb")
            try await web.store.record(entry, at: WebFixture.now)
            // then
            for path in ["/audit", "/api/v1/audit"] {
                try await web.expect(401, "GET", path)
                try await web.expect(403, "GET", path, as: .operator)
            }
            let page = try await web.send("GET", "/audit?bot=kit", as: .admin)
            #expect(page.status == 200)
            expectContains(page.text, "&lt;script&gt;")
            #expect(!page.text.contains("<script>") && !page.text.contains("\u{1B}"))
            expectContains(page.text, "192.0.2.7")
            let json = try await web.json("/api/v1/audit?action=muted&actor=%3Cscript%3E", as: .admin)
            expectContains(json, #""action":"muted""#)
            #expect(try await web.json("/api/v1/audit?actor=ann", as: .admin).contains(#""items":[]"#))
            try await web.expect(400, "GET", "/api/v1/audit?action=danced", as: .admin)
        }
    }

    @Test(.proves(.operating, "A command that stores a secret tells the service, for its audit; a token cannot say so"))
    func testThatOnlyTheSocketSaysThatASecretChanged() async throws {
        try await withWeb { web in
            // when
            try await web.expect(
                403, "POST", "/api/v1/secrets/kit-webhook/changed", as: .admin,
                headers: [("Content-Type", "application/json")], body: Array(#"{"change":"stored"}"#.utf8))
            let settings = try web.directory.write("martlet.yml", "state: \(web.directory.path)\nsecrets: secrets\n")
            let result = try await run(
                [
                    "sh", "-c", "echo value | \"$0\" secret set kit-webhook --settings \"$1\"",
                    try TestTools.builtProduct("martlet"), settings,
                ])
            // then
            #expect(result.status == 0, "\(result.stderr)")
            let rows = try await Self.rows(web)
            #expect(rows.map(\.action) == [.secretStored])
            #expect(rows.map(\.subject) == ["kit-webhook"])
            #expect(rows.first?.address == nil)
        }
    }
}
