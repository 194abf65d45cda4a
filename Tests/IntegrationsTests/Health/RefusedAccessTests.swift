import BotSupport
import Model
import Storage
import TestSupport
import Testing
import Transfer

@testable import Integrations

/// Servers that refuse the credentials, or whose certificate is not trusted, as troubles of the service.
@Suite(
    .proves(
        .operating,
        "A repository, a destination or an upload target that refuses the credentials, or whose certificate is not trusted, is a trouble of credentials"
    ))
struct RefusedAccessTests {
    private func troubles(_ bot: Bot) async throws -> [ServiceCondition] {
        let health = try bot.operations.health
        await health.examine(isForced: true)
        return health.troubles.filter { [.credentials, .repository, .delivery].contains($0.kind) }
    }

    /// A server that answers each request with 403.
    private static let refusing = """
        import http.server, sys
        class Refusing(http.server.BaseHTTPRequestHandler):
            def do_GET(self): self.send_error(403)
        http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), Refusing).serve_forever()
        """

    @Test(.program("python3")) func testThatARepositoryThatRefusesUsIsATroubleOfCredentialsAlone() async throws {
        try await withBot { bot in
            let port = try LoopbackSocket.freePort()
            let url = "http://127.0.0.1:\(port)/kit.git"
            try await ServerProcess.running(
                ["/usr/bin/python3", "-c", Self.refusing, "\(port)"], log: bot.directory.path("server.log"),
                isReady: { LoopbackSocket.isListening(port) }
            ) {
                // given
                #expect(try await troubles(bot) == [])
                try bot.writeFile("insecure: true\n", repository: url)
                // when
                bot.timer.advance(by: .seconds(2))
                try await bot.wait("a failed scan") { store in
                    try await store.repository(url)?.lastError == nil ? nil : true
                }
                // then
                let trouble = try #require(try await troubles(bot).first)
                #expect(trouble.kind == .credentials && trouble.subject == url)
                expectContains(trouble.reason, "http status 403")
                expectContains(trouble.remedy, "martlet secret set")
                // when: it lasts for more than an hour
                bot.time.advance(by: .seconds(7200))
                // then: one trouble is enough
                #expect(try await troubles(bot).map(\.kind) == [.credentials])
            }
        }
    }

    @Test func testThatADestinationWithAForeignCertificateIsATroubleUntilAMessageArrives() async throws {
        try await NotifyingBot.with(NotifyingBot.mail) { bot in
            // given
            bot.transport.fail(request: 1, with: .before(.certificate))
            // when
            try await bot.integrated(.failing("debug"))
            try await bot.wait("a failed message") { store in
                try await store.outbox().items.first { $0.failedAt != nil }
            }
            // then
            let trouble = try #require(try await troubles(bot).first)
            #expect(trouble.kind == .credentials)
            expectContains(trouble.subject, "mail ")
            // when
            _ = try await bot.message("it is sent") { $0.state == .sent }
            // then
            #expect(try await troubles(bot) == [])
        }
    }

    @Test func testThatAnUploadTargetThatRefusesUsIsATroubleUntilAnUploadSucceeds() async throws {
        let plan = BotPlan(
            file: """
                branches: [main]
                triggers: [{ name: office, branches: [main], upload: "https://files.example/{commit}/" }]

                """)
        try await withBot(plan) { bot in
            // given
            bot.transport.serve("https://files.example/")
            bot.transport.fail(request: 1, with: .status(401))
            // when
            expectResult(of: try await bot.integrate(), "trigger-error")
            // then
            let trouble = try #require(try await troubles(bot).first)
            #expect(trouble.kind == .credentials && trouble.subject == "https://files.example/")
            expectContains(trouble.reason, "the trigger office of the bot kit cannot upload")
            // when
            expectResult(of: try await bot.integrate(Commit(files: ["n": "2"])), "succeeded")
            // then
            #expect(try await troubles(bot) == [])
            _ = bot.transport.takeRequests()
        }
    }
}
