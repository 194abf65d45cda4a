import TestSupport
import Testing

/// A bot whose `branches:` match no branch of its repository.
@Suite(
    .proves(
        .intake,
        "A repository without a branch that the bot watches is named on the bot's page, by `doctor`, `bots` and `integrate`, with the line that corrects it"
    ))
struct UnwatchedBranchTests {
    private static let files = ["Makefile": "all:\n\ttrue\n"]

    @Test func testThatIntegrateSaysThatPushesAreNotIntegrated() async throws {
        try await withDaemon(bot: "branches: [nothing]\n") { daemon in
            // given
            _ = try await daemon.work.commit(files: Self.files, message: "Begin")
            try await daemon.work.push(to: daemon.remote)
            try await until("the scan") { try await daemon.output("bots").contains("needs attention") }
            // when
            let result = try await daemon.martlet("integrate", "kit")
            // then
            #expect(result.status == 0)
            expectContains(result.stdout, "kit#1 queued")
            expectContains(result.stderr, "no branch that `branches: [nothing]` matches")
            expectContains(result.stderr, "write `branches: [main]` into kit.yml")
        }
    }

    @Test func testThatIntegrateSaysWhyThereIsNothingToIntegrate() async throws {
        try await withDaemon(bot: "branches: [nothing]\n") { daemon in
            // given
            _ = try await daemon.work.commit(files: Self.files, message: "Begin")
            // A repository with one branch alone needs no HEAD.
            try await daemon.work.git("push", "-q", daemon.remote.path, "main", "main:topic")
            try await daemon.remote.git("symbolic-ref", "HEAD", "refs/heads/gone")
            // when
            let result = try await daemon.martlet("integrate", "kit")
            // then
            #expect(result.status == 66)
            expectContains(result.stderr, "name a branch, a tag or a commit")
            expectContains(result.stderr, "no branch that `branches: [nothing]` matches")
            expectContains(result.stderr, "write `branches: [main]` into kit.yml")
        }
    }
}
