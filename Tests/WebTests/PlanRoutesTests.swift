import Model
import SourceControl
import Storage
import TestSupport
import Testing

@testable import Web

/// The plans of the next pushes, in the API and on a terminal.
@Suite struct PlanRoutesTests {
    private static let main = RefName(branch: "main")
    private static let recipe = """
        configurations:
          debug: { build: make all, test: make check, report: build/junit.xml, network: full }
        analyze: []
        archive: { include: ["products/**"] }

        """

    /// Runs a test with a bot whose repository has a commit with these files on each branch, which a scan has seen.
    /// - Parameters:
    ///   - lines: Further lines of the bot file.
    ///   - isFetched: Whether the mirror has the commit.
    private func withBranches(
        _ branches: [String], files: [String: String], lines: String = "", isFetched: Bool = true,
        _ body: @Sendable (WebFixture, CommitID) async throws -> Void
    ) async throws {
        try await withTemporaryDirectory { outer in
            let repository = try await GitRepository.make(at: outer.path("kit"))
            let commit = try await repository.commit(files: files)
            try await withWeb(bots: ["kit": "repository: \(repository.path)\n\(lines)"]) { web in
                let mirrors = Mirrors(
                    directory: try web.directory.makeDirectory("repositories"),
                    configuration: GitConfiguration(files: []))
                if isFetched {
                    let mirror = mirrors.mirror(of: try RemoteURL(repository.path, isInsecureAllowed: false))
                    try await mirror.fetch(try await mirror.scan().heads)
                }
                let request = try #require(try await web.store.repositoriesToScan().first)
                let heads = Dictionary(uniqueKeysWithValues: branches.map { (RefName(branch: $0), commit) })
                _ = try await web.store.apply(
                    RefScan(
                        request: request, heads: heads, defaultBranch: Self.main, at: WebFixture.now, cause: .poll,
                        watchers: []))
                try await body(web, commit)
            }
        }
    }

    @Suite struct GivenARecipe {
        @Test func testThatTheInterfaceHasItsSteps() async throws {
            try await PlanRoutesTests().withBranches(["main"], files: [".martlet.yml": PlanRoutesTests.recipe]) {
                web, commit in
                // when
                let json = try await web.json("/api/v1/bots/kit/plan")
                // then
                let step =
                    #"{"step":"building","name":"build","command":"make all","directory":".","network":"full","timeout":1800,"#
                    + #""report":[],"required":true}"#
                expectContains(
                    json,
                    #"{"items":[{"ref":"refs/heads/main","branch":"main","commit":"\#(commit)","release":false,"unread":null,"#
                )
                expectContains(json, #""diagnostics":[],"configurations":[{"name":"debug","problem":null,"#)
                expectContains(json, step)
                expectContains(
                    json,
                    #""command":"make check","directory":".","network":"full","timeout":1800,"report":["build/junit.xml"]"#
                )
                expectContains(
                    json,
                    #""archive":{"configuration":"debug","include":["products/**"],"products":true,"source":true},"triggers":[]}],"#
                        + #""next":null,"omitted":0,"notes":[]}"#)
            }
        }

        @Test(
            .proves(
                .jobs,
                "`martlet bot NAME --plan` shows what the next push of each watched branch would run, archive and publish, and a wrong recipe's messages, for at most 20 branches"
            ))
        func testThatATerminalShowsWhatWouldRunAndBePublished() async throws {
            let lines = "triggers: [{ name: publish, branches: [\"release/*\"], publish: { version: branch } }]\n"
            try await PlanRoutesTests().withBranches(
                ["main", "release/1.4"], files: [".martlet.yml": PlanRoutesTests.recipe], lines: lines
            ) { web, commit in
                // when
                let shown = try await martlet(["bot", "kit", "--plan"], web)
                // then
                let jobs = """
                      debug
                        building build, with the network: make all
                        testing test, with the network, report: build/junit.xml: make check
                        not analyzed: the recipe says analyze: []
                      archives: products/** of debug, and the source
                    """
                #expect(shown.status == 0, "\(shown.stderr)")
                expectEqualLines(
                    shown.stdout,
                    """
                    main, as of \(commit.description.prefix(8)): the next push runs
                    \(jobs)
                      publishes: nothing, since no trigger publishes this branch

                    release/1.4, a release branch, as of \(commit.description.prefix(8)): the next push runs
                    \(jobs)
                      publishes by the trigger publish, when succeeded: version 1.4.0

                    """)
            }
        }

        @Test func testThatAWrongRecipeIsShownWithItsLine() async throws {
            let recipe = "configurations: { debug: { bild: make } }\n"
            try await PlanRoutesTests().withBranches(["main"], files: [".martlet.yml": recipe]) { web, _ in
                // when
                let shown = try await martlet(["bot", "kit", "--plan"], web)
                let json = try await martlet(["bot", "kit", "--plan", "--json"], web)
                // then
                expectContains(shown.stdout, "\n  .martlet.yml:1:")
                expectContains(shown.stdout, "\n  nothing: the recipe is wrong, so it would be build-errors\n")
                expectContains(json.stdout, #""configurations":[],"archive":null,"triggers":[]}"#)
            }
        }
    }

    @Suite struct GivenNoRecipe {
        @Test func testThatAReleaseBranchSaysThatItIsBuiltOptimized() async throws {
            let lines = "triggers: [{ name: publish, branches: [\"release/*\"], publish: { version: branch } }]\n"
            let files = ["Cargo.toml": "[package]\nname = \"kit\"\nversion = \"0.1.0\"\n"]
            try await PlanRoutesTests().withBranches(["main", "release/1.4"], files: files, lines: lines) { web, _ in
                // when
                let shown = try await martlet(["bot", "kit", "--plan"], web)
                // then
                let parts = shown.stdout.pieces("release/1.4, a release branch")
                try #require(parts.count == 2, "\(shown.stdout)\(shown.stderr)")
                expectContains(String(parts[0]), "\n  debug\n")
                expectContains(String(parts[0]), "\n  not archived: nothing uses the products; `archive: {}` in")
                #expect(!parts[0].contains("archiving archive"))
                expectContains(String(parts[1]), "\n  project: Cargo project, by Cargo.toml\n  release\n")
                expectContains(String(parts[1]), "\n      set -- --release\n")
                expectContains(String(parts[1]), "\n    archiving archive")
                expectContains(String(parts[1]), "\n    building resolve, with the network: exec cargo fetch ")
            }
        }
    }

    @Suite struct GivenAMirrorWithoutTheCommit {
        @Test func testThatTheBranchSaysSo() async throws {
            try await PlanRoutesTests().withBranches(["main"], files: [:], isFetched: false) { web, commit in
                // when
                let shown = try await martlet(["bot", "kit", "--plan"], web)
                // then
                expectContains(shown.stdout, "\n  not known: the mirror does not have \(commit.abbreviated) yet;")
                expectContains(shown.stdout, "`martlet integrate kit --commit main`")
            }
        }

        @Test(
            .proves(
                .jobs,
                "`martlet bot NAME --plan` shows what the next push of each watched branch would run, archive and publish, and a wrong recipe's messages, for at most 20 branches"
            ))
        func testThatTwentyBranchesArePlanned() async throws {
            let branches = ["main"] + (0..<22).map { "release/1.\($0)" }
            try await PlanRoutesTests().withBranches(branches, files: [:], isFetched: false) { web, _ in
                // when
                let json = try await web.json("/api/v1/bots/kit/plan")
                let shown = try await martlet(["bot", "kit", "--plan"], web)
                // then: the default branch first
                #expect(json.pieces(#"{"ref":"#).count - 1 == 20)
                expectContains(json, #"{"items":[{"ref":"refs/heads/main","#)
                expectContains(json, #""omitted":3,"#)
                #expect(shown.stdout.hasSuffix("\nand 3 more branches, which are not planned\n"), "\(shown.stdout)")
            }
        }

        @Test func testThatARepositoryThatNobodyHasScannedSaysSo() async throws {
            try await withWeb(bots: ["kit": "repository: https://git.example/kit.git\n"]) { web in
                // given
                try web.directory.makeDirectory("repositories")
                // when
                let shown = try await martlet(["bot", "kit", "--plan"], web)
                // then
                #expect(shown.stdout == "no branch of the repository is known yet; the next scan finds its branches\n")
                let other = try await martlet(["bot", "other", "--plan"], web)
                #expect(other.status == 66)
            }
        }
    }
}
