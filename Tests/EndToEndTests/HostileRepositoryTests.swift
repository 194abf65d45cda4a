import BotSupport
import Execution
import Foundation
import Integrations
import Jobs
import Model
import Storage
import TestSupport
import Testing

/// Repositories and names that try to be more than data. They are tested with and without the sandbox: these are promises of the daemon, which runs
/// no `git` and opens nothing as a repository that a job could have written.
@Suite struct HostileRepositoryTests {
    static let recipe = """
        configurations: { debug: { build: sh ./build.sh, test: none } }
        analyze: []
        archive: { include: [] }

        """

    static func isolations() -> [JobIsolation] {
        // If no sandbox can be made, the promise is shown without one.
        [JobIsolation(isolation: .none(reason: "of the test"))] + ((try? JobIsolation.sandboxed()).map { [$0] } ?? [])
    }

    @Suite(.threat("G7")) struct GivenARepositoryInTheRepository {
        /// Returns files that libgit2 and git take for a bare repository, with commands in its configuration.
        private func files(_ canary: String) -> [String: String] {
            [
                ".martlet.yml": HostileRepositoryTests.recipe, "HEAD": "ref: refs/heads/main\n",
                "config": """
                [core]
                \trepositoryformatversion = 0
                \tbare = false
                \tworktree = .
                \tfsmonitor = touch \(canary)
                \thooksPath = hooks
                [filter "evil"]
                \tsmudge = touch \(canary)
                \tclean = touch \(canary)

                """, "objects/.keep": "", "refs/.keep": "", "hooks/post-checkout": "#!/bin/sh\ntouch \(canary)\n",
                ".gitattributes": "*.txt filter=evil\n", "a.txt": "a\n",
                "build.sh": """
                # As a job of a stranger would: its own .git becomes one that runs commands.
                chmod -R u+w .git 2>/dev/null
                printf '[core]\\n\\tfsmonitor = touch \(canary)\\n\\thooksPath = hooks\\n' >> .git/config 2>/dev/null
                printf '%s\\n' / > .git/objects/info/alternates 2>/dev/null
                echo built

                """,
            ]
        }

        @Test(
            .proves(
                .sandbox,
                "A repository that looks like a bare one, or whose job edits its own `.git`, runs nothing of ours (G7)"),
            arguments: [false, true])
        func testThatNothingOfItIsEverRunByUs(isSandboxed: Bool) async throws {
            for isolation in HostileRepositoryTests.isolations() where (isolation.isolation == .sandbox) == isSandboxed
            {
                try await withBot(plan(isolation)) { bot in
                    // given
                    let canary = bot.directory.path("canary")
                    try await bot.integrate(Commit(files: files(canary)))

                    // when: the next checkout goes into what the job has left.
                    let second = try await bot.integrate(
                        Commit(files: ["a.txt": "b\n", "build.sh": "git status; cat a.txt\n"]))

                    // then
                    expectResult(of: second, "succeeded")
                    let log = try bot.log(of: try #require(second.attempt("debug")))
                    expectContains(log, "nothing to commit, working tree clean")
                    expectContains(log, "\nb\n")
                    expectNoFile(canary)
                }
            }
        }
    }

    @Suite(.threat("G15")) struct GivenNamesOfBranches {
        private static let names = [
            "$(touch${IFS}{canary})", "`touch${IFS}{canary}`", "a;touch${IFS}{canary}", "a'\"b", "a&b|c>d<e",
            "\u{202E}txt.exe",
            "cafe\u{301}", "🚀", String(repeating: "x", count: 200), "x--upload-pack=touch", "a%0Ab", "<b>",
        ]

        @Test(.proves(.sandbox, "Names of branches are data only (G15)"))
        func testThatTheyAreDataOnly() async throws {
            try await withBot(
                plan(JobIsolation(isolation: .none(reason: "of the test")), file: "branches: [\"**\"]\n")
            ) { bot in
                // given
                let canary = bot.directory.path("canary").dropFirst()
                _ = try await bot.work.commit(
                    files: [
                        ".martlet.yml": HostileRepositoryTests.recipe, "build.sh": "printf '%s' \"$MARTLET_BRANCH\"\n",
                    ],
                    message: "Names")
                let names = Self.names.map { $0.replacing("{canary}", with: "${HOME%home}canary") }
                for name in names {
                    try await bot.work.git("push", "-q", bot.remote.path, "HEAD:refs/heads/\(name)")
                }

                // when
                try await bot.announce()
                let commit = try await bot.work.head()
                for name in names {
                    let record = try await bot.integration(of: commit, on: RefName(branch: name))
                    let integration = try await bot.completion(of: record.id)

                    // then
                    expectResult(of: integration, "succeeded")
                    #expect(try bot.log(of: try #require(integration.attempt("debug"))) == name)
                    #expect(integration.record.ref == RefName(branch: name))
                }
                expectNoFile("/" + canary)
            }
        }
    }
}

/// Returns a plan whose repository has exactly the test's files.
private func plan(_ isolation: JobIsolation, file: String = "") -> BotPlan {
    BotPlan(isRepositoryEmpty: true, file: file, executor: .local, isolation: isolation)
}
