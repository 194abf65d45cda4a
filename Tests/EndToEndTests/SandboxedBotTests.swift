import BotSupport
import Execution
import Foundation
import Glibc
import Integrations
import JobProtocol
import Jobs
import Model
import Storage
import TestSupport
import Testing

/// What a job can reach, with the real sandbox around it. Each case is also shown without the sandbox, to prove that the sandbox makes the
/// difference. The calls of bubblewrap are tested in `ExecutionTests`.
@Suite(.sandbox) struct SandboxedBotTests {
    // MARK: Network

    @Suite(.sandbox) struct WhenAStepTriesTheNetwork {
        /// Returns a recipe with a step of each kind of network that tries a port of the machine's loopback.
        private func recipe(port: Int) -> String {
            let command = """
                if bash -c 'exec 3<>/dev/tcp/127.0.0.1/\(port)' 2>/dev/null; then echo NAME reached; \
                else echo NAME refused; fi
                """
            func step(_ name: String, _ more: String) -> String {
                "      - { name: \(name), step: testing, run: \"\(command.replacing("NAME", with: name))\"\(more) }\n"
            }
            return """
                configurations:
                  debug:
                    steps:
                \(step("usual", ""))\(step("open", ", network: full"))\(step("closed", ", network: none"))
                analyze: []
                archive: { include: [] }

                """
        }

        private func said(_ isolation: JobIsolation) async throws -> String {
            let listener = try LoopbackSocket()
            defer { listener.stop() }
            var log = ""
            try await withBot(plan(isolation)) { bot in
                let integration = try await bot.integrate(Commit(files: [".martlet.yml": recipe(port: listener.port)]))
                expectResult(of: integration, "succeeded")
                log = try bot.log(of: try #require(integration.attempt("debug")))
            }
            return log
        }

        @Test(
            .proves(
                .jobs,
                "The host's loopback is out of reach of every sandboxed step, also with the network and on any interface; other hosts can be reached"
            ))
        func testThatNoneReachesTheLoopback() async throws {
            #expect(try await said(try .sandboxed(loopback: false)) == "usual refused\nopen refused\nclosed refused\n")
        }

        @Test(.proves(.sandbox, "Network only in `resolve` and where the recipe says `network: full`"))
        func testThatOnlyAStepThatSaysSoReachesItWhereTheSettingsGiveIt() async throws {
            #expect(try await said(try .sandboxed(loopback: true)) == "usual refused\nopen reached\nclosed refused\n")
        }

        @Test func testThatWithoutASandboxItCannotBeHeld() async throws {
            #expect(try await said(unsandboxed) == "usual reached\nopen reached\nclosed reached\n")
        }
    }

    // MARK: Files

    @Suite(.sandbox) struct GivenAHostileManifest {
        /// Returns a manifest, which is a program: it writes beside the service's state, and prints what it sees of it.
        private func manifest(_ bot: Bot) -> String {
            """
            // swift-tools-version: 6.0
            import Foundation
            import PackageDescription

            let state = "\(bot.state.path)"
            var seen: [String] = []
            for path in [state + "/martlet.sqlite", "\(bot.directory.path("secrets/kit-webhook"))", "/etc/shadow"]
            where FileManager.default.contents(atPath: path) != nil { seen.append(path) }
            try? "planted".write(toFile: state + "/planted", atomically: false, encoding: .utf8)
            try? "planted".write(toFile: "\(bot.directory.path("planted"))", atomically: false, encoding: .utf8)
            let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().path
            try? seen.joined(separator: "\\n").write(toFile: root + "/seen.txt", atomically: false, encoding: .utf8)

            let package = Package(name: "kit", targets: [.target(name: "Kit")])

            """
        }

        private static let recipe = """
            configurations: { debug: { build: swift package describe, test: cat seen.txt } }
            analyze: []
            archive: { include: [] }

            """

        private func integrate(_ bot: Bot) async throws -> (log: String, isPlanted: Bool) {
            let integration = try await bot.integrate(
                Commit(files: [
                    "Package.swift": manifest(bot), "Sources/Kit/Kit.swift": "public let kit = 1\n",
                    ".martlet.yml": Self.recipe,
                ]), limit: .seconds(120) * TestLimits.scale)
            expectResult(of: integration, "succeeded")
            let log = try bot.log(of: try #require(integration.attempt("debug")))
            let places = [bot.state.path + "/planted", bot.directory.path("planted")]
            return (log, places.contains { FileManager.default.fileExists(atPath: $0) })
        }

        @Test(.proves(.sandbox, "A hostile `Package.swift` sees no state and writes nowhere"))
        func testThatItSeesNothingAndWritesNowhere() async throws {
            try await withBot(plan(try .sandboxed())) { bot in
                let (log, isPlanted) = try await integrate(bot)
                expectContains(log, "Name: kit")
                #expect(!log.contains(bot.state.path) && !log.contains("kit-webhook") && !log.contains("shadow"))
                #expect(!isPlanted)
            }
        }

        @Test func testThatWithoutASandboxItDoes() async throws {
            try await withBot(plan(unsandboxed)) { bot in
                let (log, isPlanted) = try await integrate(bot)
                expectContains(log, bot.state.path + "/martlet.sqlite")
                #expect(isPlanted)
                unlink(bot.state.path + "/planted")
            }
        }
    }

    // MARK: Dependencies

    @Test(
        .proves(.sandbox, "Network only in `resolve` and where the recipe says `network: full`"),
        .proves(
            .sandbox,
            "A package without dependencies has no `resolve`; one whose dependencies are as before ends it at once"),
        .timeLimit(TestLimits.minutes(6)))
    func testThatDependenciesAreResolvedWithTheNetworkAndTheRestIsBuiltWithout() async throws {
        try await withTemporaryDirectory { directory in
            // given: a package in a repository that the owner shows to jobs.
            let other = try await GitRepository.make(at: directory.path("other"))
            _ = try await other.commit(
                files: [
                    "Package.swift": """
                    // swift-tools-version: 6.0
                    import PackageDescription
                    let package = Package(
                        name: "other", products: [.library(name: "Other", targets: ["Other"])], targets: [.target(name: "Other")])

                    """, "Sources/Other/Other.swift": "public let other = 41\n",
                ], message: "Other")
            try await other.tag("1.0.0")
            let package = [
                "Package.swift": """
                // swift-tools-version: 6.0
                import PackageDescription
                let package = Package(
                    name: "kit", dependencies: [.package(url: "file://\(other.path)", from: "1.0.0")],
                    targets: [.target(name: "Kit", dependencies: [.product(name: "Other", package: "other")])])

                """,
                "Sources/Kit/Kit.swift": "import Other\npublic let kit = other + 1\n", ".gitignore": ".build\n",
                ".martlet.yml":
                    "analyze: []\narchive: { include: [] }\nconfigurations: { debug: { test: \"true\" } }\n",
            ]
            try await withBot(plan(try .sandboxed(readOnly: [other.path]))) { bot in
                // when
                let first = try await bot.integrate(Commit(files: package), limit: .seconds(300) * TestLimits.scale)

                // then
                expectResult(of: first, "succeeded")
                let attempt = try #require(first.attempt("debug"))
                #expect(attempt.steps.map(\.name) == ["resolve", "build", "test"])
                let job = try bot.directory(of: attempt).job()
                #expect(job.steps.map(\.network) == [.full, .none, .none])

                // when: its pins are committed, a source changes, and then only a source changes.
                let tree = job.workspace
                let pins = try String(contentsOfFile: tree + "/Package.resolved", encoding: .utf8)
                let second = try await bot.integrate(
                    Commit(files: ["Package.resolved": pins]), limit: .seconds(300) * TestLimits.scale)
                let third = try await bot.integrate(
                    Commit(files: ["Sources/Kit/Kit.swift": "import Other\npublic let kit = other + 2\n"]),
                    limit: .seconds(300) * TestLimits.scale)

                // then
                expectResult(of: second, "succeeded")
                expectResult(of: third, "succeeded")
                expectContains(
                    try bot.log(of: try #require(third.attempt("debug"))),
                    "unchanged since the dependencies were resolved last")

                // when: the dependency moves on, and with it the pins.
                _ = try await other.commit(
                    files: ["Sources/Other/Other.swift": "public let another = 1\n"], message: "Break")
                try await other.tag("1.0.1")
                let moved = pins.replacing("1.0.0", with: "1.0.1").replacing(
                    try await other.git("rev-parse", "1.0.0").trimmingCharacters(in: .whitespacesAndNewlines),
                    with: try await other.git("rev-parse", "1.0.1").trimmingCharacters(in: .whitespacesAndNewlines))
                let fourth = try await bot.integrate(
                    Commit(files: ["Package.resolved": moved]), limit: .seconds(300) * TestLimits.scale)

                // then: it is resolved again, and built against the new version.
                expectResult(of: fourth, "build-errors")
                #expect(fourth.issues.contains { $0.finding.path == "Sources/Kit/Kit.swift" }, "\(fourth.issues)")
            }
        }
    }
}

private let unsandboxed = JobIsolation(isolation: .none(reason: "of the test"))

/// Returns a plan whose repository has exactly the test's files.
private func plan(_ isolation: JobIsolation) -> BotPlan {
    BotPlan(isRepositoryEmpty: true, executor: .local, isolation: isolation)
}
