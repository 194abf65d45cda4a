import Foundation
import TestSupport
import Testing

/// A bot that watches no branch of a repository that can be reached, as users see it after a scan.
@Suite(
    .proves(
        .intake,
        "A repository without a branch that the bot watches is named on the bot's page, by `doctor`, `bots` and `integrate`, with the line that corrects it"
    ))
struct UnwatchedBranchesTests {
    /// Waits until a scan has found the reason, and expects it wherever a user looks.
    private func expectReason(_ daemon: Daemon, _ text: String, _ remedy: String) async throws {
        try await until("the scan") {
            let body = try await daemon.get("/api/v1/bots/kit").body
            return body.contains("the bot kit integrates nothing") || body.contains("has no default branch")
        }
        for arguments in [["bots"], ["bot", "kit"]] {
            let shown = try await daemon.output(arguments)
            expectContains(shown, text)
            expectContains(shown, remedy)
        }
        for path in ["/", "/bots/kit"] {
            let page = try await daemon.get(path).body.replacing("&#39;", with: "'")
            expectContains(page, text)
            expectContains(page, remedy)
        }
        let doctor = try await daemon.martlet("doctor", "--settings", daemon.settings)
        expectContains(doctor.stdout, remedy)
        #expect(try await daemon.get("/api/v1/integrations").body.contains(#""items":[]"#))
    }

    @Test func testThatBranchesThatMatchNothingAreNamedUntilTheFileIsCorrected() async throws {
        try await withDaemon(bot: "branches: [master]\n") { daemon in
            // when
            _ = try await daemon.work.commit(files: ["Makefile": "all:\n\ttrue\n"], message: "Begin")
            try await daemon.work.push(to: daemon.remote)
            // then
            try await expectReason(
                daemon, "the repository lists no branch that `branches: [master]` matches; it has main",
                "write `branches: [main]` into kit.yml")
            // when
            let file = try daemon.directory.text("etc/bots/kit.yml")
            try daemon.directory.write(
                "etc/bots/kit.yml", file.replacing("branches: [master]", with: "branches: [main]"))
            // then
            try await until("an integration") {
                try await daemon.get("/api/v1/integrations").body.contains(#""number":1"#)
            }
            let bot = try await daemon.get("/api/v1/bots/kit").body
            #expect(!bot.contains("integrates nothing"), "\(bot)")
        }
    }

    @Test func testThatAHEADThatLeadsNowhereIsNamed() async throws {
        try await withDaemon { daemon in
            // given
            try await daemon.remote.git("symbolic-ref", "HEAD", "refs/heads/gone")
            // when
            _ = try await daemon.work.commit(files: ["Makefile": "all:\n\ttrue\n"], message: "Begin")
            // A repository with one branch alone needs no HEAD.
            try await daemon.work.git("push", "-q", daemon.remote.path, "main", "main:topic")
            // then
            try await expectReason(daemon, "has no default branch", "`branches: [main]`")
        }
    }
}
