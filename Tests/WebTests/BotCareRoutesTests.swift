import Foundation
import Integrations
import Model
import Storage
import TestSupport
import Testing

@testable import Web

/// Deleted, renamed and cleaned bots as users see them. `BotCareTests` shows what becomes of files and commits.
@Suite struct BotCareRoutesTests {
    private static let json = [("Content-Type", "application/json")]
    private static let core = Name(nearest: "core")

    /// Runs a test with `kit`, whose three integrations are complete and whose file is gone.
    private func withRetired(_ body: @escaping @Sendable (WebFixture) async throws -> Void) async throws {
        try await withWeb { web in
            try await SampleContent(web: web).fill()
            for item in try await web.store.integrations().items where item.state.verdict == nil {
                try await web.operations.cancel(item.id, by: "ann")
            }
            try await web.store.register([], at: WebFixture.now)
            try await body(web)
        }
    }

    @Test(
        .proves(
            .web,
            "After a rename the former name leads on: pages, badges and the interface are redirected to the new one"))
    func testThatTheFormerNameLeadsToTheBot() async throws {
        try await withRetired { web in
            // when
            let renamed = try await martlet(["bot", "kit", "--rename", "core"], web)
            // then
            #expect(renamed.status == 0, "\(renamed.stderr)")
            expectContains(renamed.stdout, "the bot is core now; put its file back as core.yml, with `product: ")
            for (path, place) in [
                ("/badge/kit.svg?branch=main", "/badge/core.svg?branch=main"), ("/bots/kit", "/bots/core"),
                ("/bots/kit/1", "/bots/core/1"), ("/api/v1/bots/kit", "/api/v1/bots/core"),
                ("/api/v1/bots/kit/integrations/1/tests?limit=5", "/api/v1/bots/core/integrations/1/tests?limit=5"),
            ] {
                let answer = try await web.send("GET", path)
                #expect(answer.status == 307, "\(path)")
                #expect(answer["Location"] == place)
                try await web.expect(200, "GET", place)
            }
            try await web.expect(307, "GET", "/bots/kit/99")
            try await web.expect(404, "GET", "/bots/core/99")
            try await web.expect(404, "GET", "/badge/other.svg")
            expectContains(try await martlet(["show", "kit#1"], web).stdout, "core#1")
        }
    }

    @Test(.proves(.badInput, "A former name leads nobody anywhere who may not read"))
    func testThatAnonymousReadersLearnNoName() async throws {
        try await withWeb(anonymousMayRead: false) { web in
            try await SampleContent(web: web).fill()
            try await web.store.register([], at: WebFixture.now)
            for path in ["/bots/kit/1", "/badge/kit.svg", "/bots/kit/no/such/page"] {
                let answer = try await web.send("GET", path)
                #expect([401, 404].contains(answer.status) && answer["Location"] == nil, "\(path)")
            }
        }
    }

    @Test(
        .proves(
            .programs,
            "`martlet bot NAME --delete` says what goes and which versions stay; with `--yes` rows, files, held commits and workspaces go"
        ))
    func testThatDeletingIsADryRunUntilYes() async throws {
        try await withRetired { web in
            // when
            let dry = try await martlet(["bot", "kit", "--delete"], web)
            let empty = try await web.send("POST", "/api/v1/bots/kit/delete", as: .admin)
            // then
            #expect(dry.status == 0, "\(dry.stderr)")
            expectContains(dry.stdout, "goes   3 integrations")
            expectContains(dry.stdout, "nothing was deleted; `martlet bot kit --delete --yes` deletes it\n")
            expectContains(empty.text, #""done":false,"refusal":null,"integrations":3,"#)
            try await web.expect(200, "GET", "/bots/kit")
            // when
            let done = try await martlet(["bot", "kit", "--delete", "--yes"], web)
            // then
            expectContains(done.stdout, "kit is deleted; its files are removed in the background\n")
            try await web.expect(404, "GET", "/bots/kit")
            try await web.expect(404, "GET", "/badge/kit.svg")
            expectLacks(try await web.json("/api/v1/bots"), "\"kit\"")
            #expect(try await martlet(["bot", "kit", "--delete"], web).status == 66)
        }
    }

    @Test func testThatAWrongRequestIsRefusedWithASentence() async throws {
        try await withWeb(bots: ["kit": "repository: /srv/kit.git\npoll: off\n"]) { web in
            let deleted = try await martlet(["bot", "kit", "--delete", "--yes"], web)
            #expect(deleted.status == 1)
            expectContains(deleted.stderr, "the file of the bot kit is there; move it out of the directory")
            let dry = try await martlet(["bot", "kit", "--delete"], web)
            expectContains(dry.stdout, "kit cannot be deleted now: the file of the bot kit is there")
            #expect(try await martlet(["bot", "kit", "--rename", "Not a name"], web).status == 1)
            #expect(try await martlet(["bot", "kit", "--yes"], web).status == 64)
            #expect(try await martlet(["bot", "kit", "--clean", "--plan"], web).status == 64)
            #expect(try await martlet(["bot", "nobody", "--clean"], web).status == 66)
            expectContains(try await martlet(["bot", "kit", "--clean"], web).stdout, "removed 0 workspaces, ")
        }
    }

    @Test(.proves(.programs, "`martlet disk` shows the space of the state directory by kind and bot"))
    func testThatTheSpaceIsShownByKindAndBot() async throws {
        try await withWeb { web in
            // given
            try web.directory.write("state/workspaces/kit/debug/trusted/0/tree/a", String(repeating: "x", count: 5000))
            try web.directory.write("state/integrations/kit/1/debug/1/log", "text")
            // when
            let answer = try await web.send("GET", "/api/v1/disk", as: .operator)
            let shown = try await martlet(["disk"], web)
            // then
            expectContains(answer.text, #"{"kind":"workspaces","name":"kit","bytes":5000,"files":6}"#)
            expectContains(answer.text, #"{"kind":"integrations","name":"kit","bytes":4,"files":5}"#)
            expectContains(answer.text, #"{"kind":"database","name":"martlet.sqlite","bytes":"#)
            #expect(shown.status == 0, "\(shown.stderr)")
            #expect(shown.stdout.split(separator: "\n").contains { $0.hasPrefix("workspaces") && $0.contains("kit") })
        }
    }

    @Test(
        .proves(
            .programs,
            "`martlet rerun --machine-failures --since TIME` runs again what failed by the machine's or the repository's fault"
        ))
    func testThatMachineFailuresRunAgain() async throws {
        try await withWeb(bots: ["kit": "repository: /srv/kit.git\npoll: off\n"]) { web in
            // given: one of each end, an hour apart
            let ends: [Verdict] = [.internalError, .testFailures, .checkoutError, .succeeded, .internalError]
            for (place, verdict) in ends.enumerated() {
                let time = WebFixture.now + .seconds(3600 * (place - ends.count))
                let id = try await web.store.queue(
                    NewIntegration(
                        bot: SampleContent.kit, ref: RefName(branch: "main"),
                        commit: #require(CommitID(String(repeating: "\(place)", count: 40))), cause: .person),
                    at: time
                ).id
                try await web.store.apply(.started, to: id, at: time)
                try await web.store.apply(.completed(verdict, triggerFailed: false), to: id, at: time)
            }
            let since = "2026-03-01T08:30:00Z"
            // when
            let dry = try await martlet(["rerun", "--machine-failures", "--since", since, "--dry-run"], web)
            // then
            #expect(
                dry.stdout == """
                    kit#3  checkout-error  would be queued again
                    kit#5  internal-error  would be queued again

                    """)
            #expect(try await web.store.queued().isEmpty)
            // when
            let done = try await martlet(["rerun", "--machine-failures", "--since", since, "--bot", "kit"], web)
            // then
            expectContains(done.stdout, "kit#5  internal-error  queued again\n")
            #expect(try await web.store.queued().map(\.id.number).sorted() == [3, 5])
            let again = try await martlet(["rerun", "--machine-failures", "--since", since], web)
            expectContains(again.stdout, "nothing failed by the machine's fault since 2026-03-01T08:30:00Z")
            for arguments in [
                ["rerun", "--machine-failures"], ["rerun"], ["rerun", "kit#1", "--since", "2h"],
                ["rerun", "--machine-failures", "--since", "soon"],
            ] {
                #expect(try await martlet(arguments, web).status == 64, "\(arguments)")
            }
            let body = Array(#"{"since":"yesterday"}"#.utf8)
            try await web.expect(400, "POST", "/api/v1/reruns", as: .operator, headers: Self.json, body: body)
        }
    }
}
