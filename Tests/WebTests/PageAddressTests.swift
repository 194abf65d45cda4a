import Foundation
import Storage
import TestSupport
import Testing

/// Addresses of pages as arguments of commands.
@Suite struct PageAddressTests {
    private func environment(_ more: [String: String], _ web: WebFixture) -> [String: String] {
        ["PATH": "/usr/bin:/bin", "HOME": web.directory.path].merging(more) { $1 }
    }

    private func martlet(
        _ arguments: [String], _ web: WebFixture, _ more: [String: String] = [:]
    ) async throws -> ProgramResult {
        try await run([try TestTools.builtProduct("martlet")] + arguments, environment: environment(more, web))
    }

    @Test(
        .proves(
            .programs,
            "The address of a page is accepted wherever a bot or an integration is an argument, also with a query and a fragment"
        ),
        arguments: [
            "/bots/kit/2", "/bots/kit/2#issues", "/bots/kit/2/", "/bots/kit/2/tests?all#x", "/bots/kit/integrations/2",
            "/api/v1/bots/kit/integrations/2", "/api/v1/bots/kit/integrations/2/issues", "/bots/kit/2/log/debug?from=0",
        ])
    func testThatAnIntegrationIsNamedByItsAddress(_ path: String) async throws {
        try await withWeb { web in
            // given
            try await SampleContent(web: web).fill()
            // when: no daemon is named but by the address
            let shown = try await martlet(["show", "http://127.0.0.1:\(web.port)\(path)"], web)
            // then
            #expect(shown.status == 0, "\(shown.stderr)")
            #expect(shown.stdout.hasPrefix("kit#2 "))
        }
    }

    /// The daemon behind the socket says that it is `http://ci.example`, so nothing is asked over the network.
    @Test(
        .proves(.programs, "A page of the daemon behind the socket is asked for there, with the rights of the socket"))
    func testThatThePageOfTheLocalDaemonIsAskedForAtItsSocket() async throws {
        try await withWeb { web in
            // given
            try await SampleContent(web: web).fill()
            let local = ["MARTLET_URL": web.socket]
            // when
            let shown = try await martlet(["show", "http://ci.example/bots/kit/1#tests"], web, local)
            let bot = try await martlet(["bot", "HTTP://CI.example:80/bots/kit/"], web, local)
            let list = try await martlet(["integrations", "http://ci.example/bots/kit"], web, local)
            let muted = try await martlet(
                ["mute", "http://ci.example/bots/kit/2", "000000", "--reason", "known"], web, local)
            // then
            #expect(shown.stdout.hasPrefix("kit#1 "), "\(shown.stderr)")
            #expect(bot.stdout.hasPrefix("kit  "), "\(bot.stderr)")
            expectContains(list.stdout, "kit#3")
            #expect(muted.status == 0, "\(muted.stderr)")
        }
    }

    @Test(.proves(.programs, "The token of the environment is not sent to the service of a pasted address"))
    func testThatATokenStaysWithItsService() async throws {
        try await withWeb(anonymousMayRead: false) { web in
            // given
            try await SampleContent(web: web).fill()
            let made = try await WebTests.martlet(["token", "create", "me", "--role", "viewer"], web)
            let token = made.stdout.trimmingCharacters(in: .newlines)
            let server = "http://127.0.0.1:\(web.port)"
            let elsewhere = ["MARTLET_URL": "http://127.0.0.1:9", "MARTLET_TOKEN": token]
            // when
            let withheld = try await martlet(["show", "\(server)/bots/kit/1"], web, elsewhere)
            let named = try await martlet(["show", "\(server)/bots/kit/1", "--server", server], web, elsewhere)
            let given = try await martlet(["show", "\(server)/bots/kit/1", "--token", token], web)
            let own = try await martlet(
                ["show", "\(server)/bots/kit/1"], web, ["MARTLET_URL": server, "MARTLET_TOKEN": token])
            // then
            #expect(withheld.status == 77)
            expectContains(withheld.stderr, "MARTLET_TOKEN was not sent there")
            for result in [named, given, own] { #expect(result.status == 0, "\(result.stderr)") }
        }
    }

    @Test func testThatAnAddressOfNoPageOrOfAnotherServerIsRefused() async throws {
        try await withWeb { web in
            let socket = ["MARTLET_URL": web.socket]
            for (arguments, status, sentence) in [
                (["show", "http://ci.example/products/kit"], Int32(64), "http://ci.example/products/kit"),
                (["show", "http://ci.example/bots/../1"], 64, "bots"),
                (
                    ["show", "http://ci.example/bots/kit/1", "--server", "http://other.example"], 64,
                    "leave --server out"
                ),
                (["show", "http://a:b@ci.example/bots/kit/1"], 64, "a user or a password"),
                (["show", "http://" + String(repeating: "a", count: 2048) + "/bots/kit/1"], 64, "<integration>"),
            ] {
                let result = try await martlet(arguments, web, socket)
                #expect(result.status == status, "\(arguments): \(result.stderr)")
                expectContains(result.stderr, sentence)
            }
        }
    }

    @Test(.proves(.programs, "`martlet open` prints the page's address where there is no browser"))
    func testThatOpenPrintsTheAddressInAPipe() async throws {
        try await withWeb { web in
            // given
            try await SampleContent(web: web).fill()
            let local = ["MARTLET_URL": web.socket]
            for (arguments, address) in [
                ([], "http://ci.example/"), (["kit"], "http://ci.example/bots/kit"),
                (["kit#2"], "http://ci.example/bots/kit/2"),
                (["http://ci.example/bots/kit/integrations/2"], "http://ci.example/bots/kit/2"),
            ] {
                // when
                let opened = try await martlet(["open"] + arguments, web, local)
                // then
                #expect(opened.stdout == address + "\n", "\(opened.stderr)")
            }
            #expect(try await martlet(["open", "kit#99"], web, local).status == 66)
            #expect(try await martlet(["open", "nobody"], web, local).status == 66)
        }
    }
}
