import API
import Integrations
import Model
import Storage
import TestSupport
import Testing

@testable import Web

@Suite(
    .proves(
        .releases,
        "Versions: `martlet prune --dry-run` says why each thing stays or goes, and `prune` does that; open downloads finish, then 410 says when and why (R5)"
    ))
struct RetentionRoutesTests {
    /// Runs a test with three integrations of `kit`, whose file keeps two.
    private func withIntegrations(_ body: @Sendable (WebFixture) async throws -> Void) async throws {
        try await withWeb { web in
            let kit = try #require(Name("kit"))
            try await web.store.register(
                [
                    BotSpecification(
                        name: kit, repository: "https://git.example/acme/kit.git",
                        retention: Retention(integrations: .most(2)))
                ], at: WebFixture.now)
            for _ in 1...3 {
                let id = try await web.store.queue(
                    NewIntegration(
                        bot: kit, ref: RefName(branch: "main"),
                        commit: #require(CommitID(String(repeating: "a", count: 40))), cause: .person),
                    at: WebFixture.now
                ).id
                try await web.store.apply(.started, to: id, at: WebFixture.now)
                try await web.store.apply(.completed(.succeeded, triggerFailed: false), to: id, at: WebFixture.now)
            }
            try await body(web)
        }
    }

    @Test func testThatOnlyAnOperatorPrunes() async throws {
        try await withIntegrations { web in
            try await web.expect(401, "POST", "/api/v1/prune")
            try await web.expect(403, "POST", "/api/v1/prune", as: .viewer)
            #expect(try await web.store.integrations().items.count == 3)
            try await web.expect(200, "POST", "/api/v1/prune", as: .operator)
            #expect(try await web.store.integrations().items.count == 2)
        }
    }

    @Test func testThatADryRunSaysWhatGoes() async throws {
        try await withIntegrations { web in
            // when
            let json = [("Content-Type", "application/json")]
            let answer = try await web.send(
                "POST", "/api/v1/prune", as: .operator, headers: json, body: Array(#"{"dryRun":true}"#.utf8))
            // then: the removed ones are first
            expectContains(
                answer.text,
                #"{"done":false,"countedTo":"2026-03-01T12:00:00.000Z","items":[{"integration":"kit#1","goes":true,"#
                    + #""reason":"more than the 2 newest","bytes":0,"files":0},{"integration":"kit#3","goes":false,"#)
            expectContains(
                answer.text, #""omitted":0,"removes":{"integrations":1,"bytes":0,"files":0},"keeps":{"integrations":2,"#
            )
            #expect(try await web.store.integrations().items.count == 3)
            // It holds for another bot, or none
            let other = Array(#"{"dryRun":true,"bot":"other"}"#.utf8)
            try await web.expect(404, "POST", "/api/v1/prune", as: .operator, headers: json, body: other)
            let wrong = Array(#"{"dryRun":true,"bot":"Not a name"}"#.utf8)
            try await web.expect(404, "POST", "/api/v1/prune", as: .operator, headers: json, body: wrong)
        }
    }

    @Test func testThatWhatWasRemovedIsGoneAndSaysWhen() async throws {
        try await withIntegrations { web in
            try await web.expect(200, "POST", "/api/v1/prune", as: .operator)
            let api = "/api/v1/bots/kit/integrations"
            for path in ["", "/issues", "/tests", "/artifacts", "/log/debug", "/triggers"] {
                let answer = try await web.send("GET", api + "/1" + path)
                #expect(answer.status == 410, "\(path)")
                expectContains(
                    answer.text, "kit#1 was removed by retention on 2026-03-01: more than the 2 newest.")
            }
            try await web.expect(410, "POST", api + "/1/rerun", as: .operator)
            try await web.expect(410, "GET", "/bots/kit/1")
            // one that never existed is not
            try await web.expect(404, "GET", api + "/9")
            try await web.expect(200, "GET", api + "/2")
        }
    }

    @Test func testThatAnIntegrationThatGoesWhileItsExportWaitsIsGone() async throws {
        try await withIntegrations { web in
            // given: a request that waits for its turn
            var turn: AnswerSemaphore.Turn? = try await web.limits.exports.acquire(.anonymous)
            let client = try SlowClient(get: "/api/v1/bots/kit/integrations/1/issues.sarif", port: web.port)
            await until("it waits") { web.limits.exports.waitingCount == 1 }
            // when
            try await web.expect(200, "POST", "/api/v1/prune", as: .operator)
            withExtendedLifetime(turn) {}
            turn = nil
            // then
            #expect(await client.status() == 410)
            #expect(web.site.exports.integrations.isEmpty)
        }
    }

    @Test func testThatMoreThanOneAnswerHoldsIsCounted() throws {
        // given
        var report = RetentionReport(isDone: false)
        let rows = (1...(API.PruneReport.maximumItems + 5)).map {
            RetentionRow(
                id: IntegrationID(bot: Name(nearest: "kit"), number: $0), run: 1, at: WebFixture.now,
                disk: DiskUse(bytes: 2, files: 1))
        }
        report.items = RetentionPlan(rows, keeping: Retention(), at: nil).items
        // when
        let text = try JSONWriter.text(of: API.PruneReport(report))
        // then
        expectContains(text, #""omitted":5,"removes":{"integrations":0,"bytes":0,"files":0}"#)
        expectContains(text, #""keeps":{"integrations":20005,"bytes":40010,"files":20005}"#)
    }
}
