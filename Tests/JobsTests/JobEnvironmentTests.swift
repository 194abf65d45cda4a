import BotSupport
import JobProtocol
import Model
import Storage
import TestSupport
import Testing

@testable import Jobs

@Suite struct JobEnvironmentTests {
    private let environment = JobEnvironment(
        daemon: [
            "PATH": "/usr/bin:/bin", "HOME": "/home/ci", "LANG": "C.UTF-8", "AWS_SECRET_ACCESS_KEY": "no",
            "NOTIFY_SOCKET": "/run/systemd/notify", "LD_PRELOAD": "/evil.so",
            "CREDENTIALS_DIRECTORY": "/run/credentials",
            "MARTLET_TOKEN": "no", "XCS_BOT_NAME": "another",
        ], url: "https://ci.example")

    private func bot() throws -> BotSpecification {
        BotSpecification(name: try Samples.name("kit"), repository: "/kit.git", product: try Samples.name("library"))
    }

    private func integration(_ ref: RefName) throws -> IntegrationRecord {
        var record = try Samples.integration(41, ref: ref)
        record.committedAt = Timestamp(secondsSinceEpoch: 1_767_225_600)
        return record
    }

    private func facts(verdict: Verdict? = .warnings, version: SemanticVersion? = nil) -> TriggerFacts {
        var summary = Summary()
        (summary.counts.errors, summary.change.errors) = (0, -1)
        (summary.counts.warnings, summary.change.warnings) = (3, 2)
        (summary.counts.analyzerWarnings, summary.change.analyzerWarnings) = (4, 0)
        (summary.counts.testFailures, summary.change.testFailures) = (0, -5)
        (summary.counts.tests, summary.change.tests) = (12, 1)
        return TriggerFacts(verdict: verdict, summary: summary, artifacts: "/a", source: "/s", version: version)
    }

    @Suite struct GivenAJob {
        private let outer = JobEnvironmentTests()

        private func job(
            _ configuration: Recipe.Configuration, ref: RefName = RefName(branch: "main"),
            sandbox: JobEnvironment.Place.Sandbox? = nil
        ) throws -> [String: String] {
            outer.environment.job(
                try outer.integration(ref), bot: try outer.bot(), configuration: configuration,
                in: .init(workspace: "/w/tree", temporary: "/w/tmp", sandbox: sandbox))
        }

        @Test(.proves(.triggers, "Environment `CI=true` and `MARTLET_*`"))
        func testThatItIsWhatTheManualSaysAndNothingElse() throws {
            // given
            let commit = try Samples.commit(41).description

            // when
            let environment = try job(try Samples.configuration())

            // then
            expectNoDifference(
                environment,
                [
                    "PATH": "/usr/bin:/bin", "HOME": "/home/ci", "LANG": "C.UTF-8", "TMPDIR": "/w/tmp", "CI": "true",
                    "TERM": "dumb",
                    "CI_COMMIT_SHA": commit, "CI_COMMIT_REF_NAME": "main", "CI_COMMIT_BRANCH": "main",
                    "MARTLET": "true", "MARTLET_BOT": "kit", "MARTLET_PRODUCT": "library",
                    "MARTLET_INTEGRATION": "kit#41", "MARTLET_INTEGRATION_NUMBER": "41",
                    "MARTLET_URL": "https://ci.example/bots/kit/41", "MARTLET_COMMIT": commit,
                    "MARTLET_REF": "refs/heads/main", "MARTLET_BRANCH": "main", "MARTLET_CAUSE": "push",
                    "MARTLET_CONFIGURATION": "debug", "MARTLET_SOURCE_DIR": "/w/tree",
                    "XCS": "1", "XCS_BOT_NAME": "kit", "XCS_BOT_ID": "kit", "XCS_BOT_TINY_ID": "kit",
                    "XCS_INTEGRATION_ID": "kit#41", "XCS_INTEGRATION_TINY_ID": "kit-41",
                    "XCS_INTEGRATION_NUMBER": "41", "XCS_INTEGRATION_RESULT": "unknown",
                    "XCS_PRIMARY_REPO_REVISION": commit, "XCS_PRIMARY_REPO_BRANCH": "main",
                    "XCS_PRIMARY_REPO_DIR": "/w/tree", "XCS_SOURCE_DIR": "/w/tree", "SOURCE_DATE_EPOCH": "1767225600",
                    "GIT_TERMINAL_PROMPT": "0", "GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "safe.directory",
                    "GIT_CONFIG_VALUE_0": "*",
                ])
        }

        @Test func testThatASandboxedJobSeesItsOwnHomePathAndCache() throws {
            // given
            let sandbox = JobEnvironment.Place.Sandbox(
                path: "/opt/swift/usr/bin:/usr/bin", home: "/home/martlet", user: "martlet",
                cache: "/martlet/kit/.martlet/cache", readOnly: ["/opt/swift"])

            // when
            let environment = try job(try Samples.configuration(), sandbox: sandbox)

            // then
            #expect(environment["PATH"] == "/opt/swift/usr/bin:/usr/bin")
            #expect(environment["HOME"] == "/home/martlet")
            #expect(environment["USER"] == "martlet")
            #expect(environment["LOGNAME"] == "martlet")
            #expect(environment["XDG_CACHE_HOME"] == "/martlet/kit/.martlet/cache")
            #expect(environment["LANG"] == "C.UTF-8", "what is no path is as outside")
        }

        @Test func testThatATagHasNoBranch() throws {
            // when
            let environment = try job(try Samples.configuration(), ref: RefName(tag: "1.4.0"))

            // then
            #expect(environment["MARTLET_TAG"] == "1.4.0")
            #expect(environment["CI_COMMIT_TAG"] == "1.4.0")
            #expect(environment["XCS_PRIMARY_REPO_TAG"] == "1.4.0")
            #expect(environment.keys.filter { $0.hasSuffix("BRANCH") } == [])
        }

        @Test func testThatARecipesVariablesWinButNotOverTheIdentity() throws {
            // given
            var configuration = try Samples.configuration()
            configuration.environment = [
                "LANG": "de", "ASAN_OPTIONS": "x", "CI": "false", "MARTLET_COMMIT": "lie", "XCS_BOT_NAME": "lie",
                "MARTLET_CONFIGURATION": "lie",
            ]

            // when
            let environment = try job(configuration)

            // then
            #expect(environment["LANG"] == "de")
            #expect(environment["ASAN_OPTIONS"] == "x")
            #expect(environment["CI"] == "true")
            #expect(!environment.values.contains("lie"))
        }

        @Test func testThatAToolchainComesFirstInThePath() throws {
            // given
            var configuration = try Samples.configuration()
            configuration.toolchain = "/opt/swift-nightly"

            // when, then
            #expect(try job(configuration)["PATH"] == "/opt/swift-nightly/usr/bin:/usr/bin:/bin")
        }
    }

    @Test func testThatThereIsAPathWithoutTheDaemonsOwn() throws {
        let environment = JobEnvironment(daemon: [:], url: "").trigger(
            try integration(RefName(branch: "main")), bot: try bot(), facts: facts(),
            in: .init(workspace: "/w", temporary: "/t"))
        #expect(environment["PATH"] == "/usr/local/bin:/usr/bin:/bin")
    }

    @Suite struct GivenATrigger {
        private let outer = JobEnvironmentTests()

        private func trigger(_ facts: TriggerFacts) throws -> [String: String] {
            outer.environment.trigger(
                try outer.integration(RefName(branch: "release/1.4")), bot: try outer.bot(), facts: facts,
                in: .init(workspace: "/w", temporary: "/t"))
        }

        /// Apple's table 5-1 without the variables that only xcodebuild has: `XCS_DERIVED_DATA_DIR`, `XCS_XCODEBUILD_LOG`, `XCS_ARCHIVE`,
        /// `XCS_PRODUCT`, `XCS_THINNED_PRODUCTS_*`.
        @Test(.proves(.triggers, "Environment `XCS_*`"))
        func testThatItHasXcodeServersVariables() throws {
            // when
            let environment = try trigger(outer.facts())

            // then
            expectNoDifference(
                environment.filter { $0.key.hasPrefix("XCS") },
                [
                    "XCS": "1", "XCS_BOT_NAME": "kit", "XCS_BOT_ID": "kit", "XCS_BOT_TINY_ID": "kit",
                    "XCS_INTEGRATION_ID": "kit#41", "XCS_INTEGRATION_TINY_ID": "kit-41",
                    "XCS_INTEGRATION_NUMBER": "41", "XCS_INTEGRATION_RESULT": "warnings", "XCS_SOURCE_DIR": "/s",
                    "XCS_OUTPUT_DIR": "/a", "XCS_ERROR_COUNT": "0", "XCS_ERROR_CHANGE": "-1",
                    "XCS_WARNING_COUNT": "3", "XCS_WARNING_CHANGE": "2", "XCS_ANALYZER_WARNING_COUNT": "4",
                    "XCS_ANALYZER_WARNING_CHANGE": "0", "XCS_TEST_FAILURE_COUNT": "0", "XCS_TEST_FAILURE_CHANGE": "-5",
                    "XCS_TESTS_COUNT": "12", "XCS_TESTS_CHANGE": "1", "XCS_PRIMARY_REPO_DIR": "/s",
                    "XCS_PRIMARY_REPO_BRANCH": "release/1.4",
                    "XCS_PRIMARY_REPO_REVISION": try Samples.commit(41).description,
                ])
        }

        @Test(.proves(.triggers, "Environment `CI=true` and `MARTLET_*`"))
        func testThatItHasOurOwn() throws {
            // when
            let environment = try trigger(outer.facts(version: SemanticVersion(1, 4, 2)))

            // then
            #expect(environment["MARTLET_RESULT"] == "warnings")
            #expect(environment["MARTLET_VERSION"] == "1.4.2")
            #expect(environment["MARTLET_ARTIFACTS"] == "/a")
            #expect(environment["MARTLET_TESTS_COUNT"] == "12")
            #expect(environment["TMPDIR"] == "/t")
            #expect(environment["MARTLET_TOKEN"] == nil)
            #expect(environment["AWS_SECRET_ACCESS_KEY"] == nil)
        }

        /// The script is the operator's, and the commit's files are not.
        @Test(
            .proves(
                .triggers,
                "A script starts in an empty directory; no module, option, link or repository among the commit's files influences it or its programs (G7)"
            ))
        func testThatItsGitTakesNoDirectoryForARepositoryByItself() throws {
            // when
            let environment = try trigger(outer.facts())

            // then
            expectNoDifference(
                environment.filter { $0.key.hasPrefix("GIT_") },
                [
                    "GIT_TERMINAL_PROMPT": "0", "GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "safe.bareRepository",
                    "GIT_CONFIG_VALUE_0": "explicit", "GIT_CEILING_DIRECTORIES": "/w",
                ])
        }

        @Test func testThatTheResultIsUnknownBefore() throws {
            // when
            let environment = try trigger(outer.facts(verdict: nil))

            // then
            #expect(environment["XCS_INTEGRATION_RESULT"] == "unknown")
            #expect(environment["MARTLET_RESULT"] == "unknown")
            #expect(environment["MARTLET_VERSION"] == nil)
        }
    }

    @Test(
        .proves(
            .triggers,
            "SwiftPM's usual commands go without the variables that are others in each integration, for which it would compile its manifests anew"
        ),
        arguments: [
            ("build", [:], false), ("test", [:], false), ("list", [:], false), ("resolve", [:], false),
            ("clang", [:], false),
            ("swift-format", [:], true), ("archive", [:], true), ("test", ["test": "make check"], true),
            ("build", ["build": "make"], true),
        ] as [(String, [String: String], Bool)])
    func testThatSwiftPMGoesWithoutWhatIsAnotherInEachIntegration(
        step: String, own: [String: String], isNotified: Bool
    ) throws {
        // given
        var configuration = Recipe.Configuration(name: try Samples.name("debug"))
        (configuration.build, configuration.test) = (own["build"], own["test"])
        let kinds = [
            "build": "building", "resolve": "building", "test": "testing", "list": "testing", "archive": "archiving",
        ]
        let steps = [
            JobDescription.Step(
                step: kinds[step] ?? "analyzing", name: step,
                arguments: step == "clang" ? ["/s", "--analyze-c"] : ["x"], environment: ["CI_COMMIT_SHA": "own"],
                timeoutMilliseconds: 1),
            JobDescription.Step(step: "testing", name: "list", arguments: ["x"], timeoutMilliseconds: 1),
        ]
        let all = ["MARTLET_COMMIT": "c", "CI_COMMIT_SHA": "c", "MARTLET_BOT": "kit"]
        func seen(_ type: ProjectType) -> [String: String] {
            let (job, steps) = JobPlanner.environments(
                all, steps: steps, configuration: configuration, projectType: type)
            return job.merging(steps[0].environment) { $1 }
        }
        // when, then
        let told = ["MARTLET_COMMIT": "c", "CI_COMMIT_SHA": "own", "MARTLET_BOT": "kit"]
        #expect(seen(.swiftPackage) == (isNotified ? told : ["CI_COMMIT_SHA": "own", "MARTLET_BOT": "kit"]))
        #expect(seen(.make) == told)
    }
}
