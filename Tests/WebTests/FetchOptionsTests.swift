import Archives
import Foundation
import Model
import Releases
import Storage
import TestSupport
import Testing

@testable import Web

/// The options of `martlet fetch`, and its first messages.
@Suite(
    .proves(
        .releases,
        "Versions: `fetch --signers --as`, yanked versions, what a server says instead, outputs and addresses that cannot be"
    ), .program("ssh-keygen"))
struct FetchOptionsTests {
    @Test func testThatAKeyOfAnotherServiceVouchesForNothingHere() async throws {
        try await withFetchingTeam { team in
            // given: 1.4.2 states that https://ci.acme.example made it
            func fetched(_ principals: String, as name: String? = nil) async throws -> ProgramResult {
                try team.web.directory.write("allowed", "\(principals) \(team.key.publicKey)\n")
                try? FileManager.default.removeItem(atPath: team.web.directory.path("got"))
                return try await team.martlet(
                    ["fetch", "kit", "--output", "got", "--signers", "allowed"] + (name.map { ["--as", $0] } ?? []))
            }

            // when, then
            let evil = try await fetched("https://evil.example")
            #expect(evil.status == 77)
            expectContains(
                evil.stderr, "signed by https://evil.example, and it says that https://ci.acme.example made it")
            expectContains(evil.stderr, "write --as https://evil.example")
            expectNoFile(team.web.directory.path("got"))
            #expect(try team.left() == [])
            #expect(try await fetched("https://evil.example", as: "https://evil.example").status == 0)
            #expect(try await fetched("https://*.acme.example").status == 0)
            let other = try await fetched("acme", as: "https://ci.acme.example")
            #expect(other.status == 77)
            expectContains(other.stderr, "signed by acme, not by https://ci.acme.example")
        }
    }

    @Test func testThatAYankedVersionIsTakenByItsNumberAloneAndSaid() async throws {
        try await withFetchingTeam { team in
            // given: a server that nevertheless resolves a range to it
            try await team.web.store.yank(
                product: SampleContent.kit, version: try #require(SemanticVersion("1.4.2")), at: WebFixture.now)
            try await LyingServer.running(in: team.web, instead: ["~1.4": "1.4.2"]) { url in
                // when
                let byRange = try await team.martlet(["fetch", "kit@~1.4", "--output", "got"], url: url)
                // then
                #expect(byRange.status == 1)
                expectContains(
                    byRange.stderr, "answered the request for kit@~1.4 with 1.4.2, which is yanked; nothing was fetched"
                )
                expectNoFile(team.web.directory.path("got"))
                // when
                let byNumber = try await team.martlet(["fetch", "kit@1.4.2", "--output", "got"], url: url)
                // then
                #expect(byNumber.status == 0, "\(byNumber.stderr)")
                expectContains(byNumber.stderr, "kit 1.4.2 is yanked")
                #expect(!byNumber.stdout.contains("yanked"))
            }
        }
    }

    /// A password would be shown, and written beside the remembered keys.
    @Test func testThatAnAddressHasNoUserAndNoPassword() async throws {
        try await withFetchingTeam { team in
            let url = "http://User:canary-Pw@127.0.0.1:\(team.web.port)"
            let fetched = try await team.martlet(["fetch", "kit", "--output", "got"], url: url)
            #expect(fetched.status == 64)
            expectContains(fetched.stderr, "write --token")
            #expect(!fetched.stderr.lowercased().contains("canary"))
            expectNoFile(team.known)
            // An @ in the path is neither.
            let inPath = try await team.martlet(
                ["fetch", "kit", "--output", "got"], url: "http://127.0.0.1:\(team.web.port)/a@b")
            #expect(inPath.status == 66, "\(inPath.stderr)")
        }
    }

    /// Otherwise everything would be downloaded first.
    @Test func testThatAnOutputThatCannotBeIsSaidBeforeAnythingComes() async throws {
        try await withFetchingTeam { team in
            // given
            try FileManager.default.createSymbolicLink(
                atPath: team.web.directory.path("dangling"), withDestinationPath: "nowhere/there")
            try await LyingServer.running(in: team.web, manners: ["SHA256SUMS": .refused]) { url in
                for (output, status, words) in [
                    ("", 64, "--output is empty"), ("dangling", 73, "the downloads cannot be put into dangling"),
                ] as [(String, Int32, String)] {
                    // when
                    let fetched = try await team.martlet(["fetch", "kit", "--output", output], url: url)
                    // then
                    #expect(fetched.status == status, "\(fetched.stderr)")
                    expectContains(fetched.stderr, words)
                }
            }
            #expect(try team.left() == [])
        }
    }

    @Test(arguments: ["0", "-1", "604801", "an hour"])
    func testThatATimeLimitIsSecondsUpToAWeek(text: String) async throws {
        let fetched = try await run([
            try TestTools.builtProduct("martlet"), "fetch", "kit", "--time-limit", text, "--server", "/nowhere",
        ])
        #expect(fetched.status == 64)
        expectContains(fetched.stderr, "time-limit")
    }
}
