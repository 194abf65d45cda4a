import BotSupport
import Execution
import ExecutionSupport
import Foundation
import JobProtocol
import Model
import Settings
import Storage
import TestSupport
import Testing

@testable import Integrations
@testable import Jobs

@Suite struct JobIsolationTests {
    private func settings(
        _ isolation: ServiceSettings.Isolation?, sandbox: SandboxSettings = SandboxSettings()
    ) -> ServiceSettings {
        ServiceSettings(state: "/s", bots: "/b", concurrency: 1, isolation: isolation, sandbox: sandbox, images: "/i")
    }

    private func decide(
        _ isolation: ServiceSettings.Isolation?, _ probe: JobIsolation.Probe,
        sandbox: SandboxSettings = SandboxSettings()
    ) throws -> JobIsolation {
        try JobIsolation.decide(
            settings(isolation, sandbox: sandbox), probe: probe, path: "/usr/bin", tools: "/lib/martlet-tools"
        )
    }

    @Test(
        .proves(
            .sandbox,
            "`isolation: sandbox` is the default where it works; elsewhere jobs run without, with the reason. If it is stated and cannot work, the daemon does not start"
        ))
    func testThatTheSandboxIsTheDefaultWhereItWorks() throws {
        let decided = try decide(nil, .works)
        #expect(decided.isolation == .sandbox)
        #expect(decided.readOnly == ["/lib/martlet-tools"])
        #expect(decided.images == "/i")
        #expect(try decide(.sandbox, .works).isolation == .sandbox)
    }

    @Test(
        .proves(
            .sandbox,
            "`isolation: sandbox` is the default where it works; elsewhere jobs run without, with the reason. If it is stated and cannot work, the daemon does not start"
        ))
    func testThatWhereItCannotWorkTheReasonIsKept() throws {
        #expect(try decide(nil, .fails("no bwrap")).isolation == .none(reason: "no bwrap"))
        #expect(
            try decide(ServiceSettings.Isolation.none, .works).isolation
                == .none(reason: "the settings say isolation: none"))
    }

    /// The machine may have been out of processes for a moment.
    @Test func testThatWhereJobsWereSandboxedTheyAreNotRunWithoutASandbox() throws {
        let error = #expect(throws: IsolationError.self) {
            try JobIsolation.decide(
                settings(nil), probe: .fails("no bwrap"), path: "", tools: "/s", wasSandboxed: true)
        }
        expectContains(
            error?.description ?? "", "until now, and it cannot work: no bwrap; mend that, or write isolation: none")
        let requested = try JobIsolation.decide(
            settings(ServiceSettings.Isolation.none), probe: .works, path: "", tools: "/s", wasSandboxed: true)
        #expect(requested.isolation == .none(reason: "the settings say isolation: none"))
    }

    /// The state is behind a link, and a shown path is named without the link; and the reverse.
    @Test(arguments: [
        "data", "data/martlet", "state", "data/martlet/workspaces", "state/repositories", "named", "etc", "etc/secrets",
        "etc/secrets/token",
    ])
    func testThatWhatShowsTheStateOrSecretsKeepsTheServiceFromStarting(path: String) async throws {
        try await withHiddenState { directory, decide in
            let error = #expect(throws: IsolationError.self) { try decide(path) }
            expectContains(
                error?.description ?? "",
                "sandbox: read-only: \(directory.path(path)) would show every job \(directory.path)/")
        }
    }

    /// The home of the service's user is the state.
    @Test(arguments: ["data/martlet/.rustup", "state/.rustup", "etc/bots", "data-of-others"])
    func testThatWhatLiesBesideIsShown(path: String) async throws {
        try await withHiddenState { directory, decide in
            let shown = try decide(path).readOnly
            #expect(shown.contains(directory.path(path)))
        }
    }

    private func withHiddenState(
        _ body: (TemporaryDirectory, (String) throws -> JobIsolation) throws -> Void
    ) async throws {
        try await withTemporaryDirectory { directory in
            for name in [
                "data/martlet/workspaces", "data/martlet/repositories", "data/martlet/.rustup", "etc/secrets",
                "etc/bots", "data-of-others",
            ] { try directory.makeDirectory(name) }
            try directory.write("etc/secrets/token", "secret")
            symlink(directory.path("data/martlet"), directory.path("state"))
            symlink(directory.path("data"), directory.path("named"))
            try body(directory) { path in
                var written = settings(nil, sandbox: SandboxSettings(readOnly: [directory.path(path)]))
                written.state = directory.path("state")
                written.secrets = directory.path("etc/secrets")
                return try JobIsolation.decide(written, probe: .works, path: "/usr/bin", tools: "/lib/s")
            }
        }
    }

    @Test(
        .proves(
            .sandbox,
            "`isolation: sandbox` is the default where it works; elsewhere jobs run without, with the reason. If it is stated and cannot work, the daemon does not start"
        ))
    func testThatASandboxThatIsAskedForAndCannotWorkKeepsTheServiceFromStarting() throws {
        let error = #expect(throws: IsolationError.self) { try decide(.sandbox, .fails("no bwrap")) }
        expectContains(error?.description ?? "", "cannot work here: no bwrap; or write isolation: none")
    }

    @Test(
        .proves(
            .jobs,
            "If steps cannot have their own network, pages, `doctor` and the log say why and what to install; `loopback` allows or forbids the host's loopback"
        ))
    func testThatTheLoopbackIsReachedWhereThereIsNoOtherNetworkOrTheSettingsSaySo() throws {
        func loopback(_ setting: Bool?, _ probe: JobIsolation.Probe) throws -> JobIsolation.Loopback? {
            try decide(nil, probe, sandbox: SandboxSettings(loopback: setting)).loopback
        }
        #expect(try loopback(nil, .works) == nil)
        #expect(try loopback(false, .works) == nil)
        #expect(try loopback(true, .works) == .requested)
        #expect(try loopback(true, .sharesNetwork("no slirp4netns")) == .requested)
        #expect(try loopback(nil, .sharesNetwork("no slirp4netns")) == .needed("no slirp4netns"))
        #expect(try loopback(nil, .fails("no bwrap")) == nil)
        #expect(try decide(nil, .works).notes == [])
        #expect(
            try decide(nil, .sharesNetwork("no slirp4netns")).notes
                == ["steps with the network reach what listens on this machine's loopback: no slirp4netns"])
    }

    @Test(
        .proves(
            .jobs,
            "If steps cannot have their own network, pages, `doctor` and the log say why and what to install; `loopback` allows or forbids the host's loopback"
        ))
    func testThatALoopbackThatMustNotAndCannotBeKeptAwayKeepsTheServiceFromStarting() throws {
        let error = #expect(throws: IsolationError.self) {
            try decide(nil, .sharesNetwork("no slirp4netns"), sandbox: SandboxSettings(loopback: false))
        }
        expectContains(
            error?.description ?? "", "without the machine's loopback here: no slirp4netns; or write loopback: true")
    }

    /// slirp4netns may have been removed, or the machine may be short of memory for a moment.
    @Test(
        .proves(
            .jobs,
            "If steps cannot have their own network, pages, `doctor` and the log say why and what to install; `loopback` allows or forbids the host's loopback"
        ))
    func testThatWhereStepsHadTheirOwnNetworkTheyAreNotGivenTheMachines() async throws {
        try await withTemporaryDirectory { directory in
            // given
            let state = StateDirectory(path: directory.path)
            #expect(!state.hadOwnNetwork)
            #expect(try decide(nil, .works).hasOwnNetwork)
            try state.rememberOwnNetwork()
            func loopback(_ setting: Bool?, _ probe: JobIsolation.Probe) throws -> JobIsolation.Loopback? {
                try JobIsolation.decide(
                    settings(nil, sandbox: SandboxSettings(loopback: setting)), probe: probe, path: "",
                    tools: "/s",
                    wasSandboxed: true, hadOwnNetwork: state.hadOwnNetwork
                ).loopback
            }
            // when
            let error = #expect(throws: IsolationError.self) { try loopback(nil, .sharesNetwork("no slirp4netns")) }
            // then
            expectContains(
                error?.description ?? "",
                "until now, and it cannot be made: no slirp4netns; mend that, or write sandbox: { loopback: true }")
            #expect(try loopback(true, .sharesNetwork("no slirp4netns")) == .requested)
            #expect(try loopback(nil, .works) == nil)
        }
    }

    @Test(
        .proves(
            .jobs,
            "If steps cannot have their own network, pages, `doctor` and the log say why and what to install; `loopback` allows or forbids the host's loopback"
        ))
    func testThatOnlyASandboxHasItsOwnNetwork() throws {
        #expect(try !decide(nil, .fails("no bwrap")).hasOwnNetwork)
        #expect(try !decide(nil, .sharesNetwork("no slirp4netns")).hasOwnNetwork)
        #expect(try !decide(nil, .works, sandbox: SandboxSettings(loopback: true)).hasOwnNetwork)
    }

    @Test func testThatAPathThatIsNotThereIsToldAtTheStart() throws {
        let sandbox = SandboxSettings(readOnly: ["/usr", "/nowhere/at/all"])
        let error = #expect(throws: IsolationError.self) { try decide(nil, .works, sandbox: sandbox) }
        expectContains(error?.description ?? "", "sandbox: read-only: /nowhere/at/all is not there")
        #expect(try decide(.some(.none), .works, sandbox: sandbox).isolation != .sandbox, "nobody needs it then")
    }

    @Test func testThatToolchainsAreFoundInThePathAndNothingElseOfIt() async throws {
        try await withTemporaryDirectory { directory in
            // given: a toolchain in PATH, another to which a link in PATH leads, and a directory of programs.
            try directory.write("one/usr/bin/swift", "", mode: 0o755)
            try directory.write("two/usr/bin/swift", "", mode: 0o755)
            try directory.makeDirectory("home/bin")
            try FileManager.default.createSymbolicLink(
                atPath: directory.path("home/bin/swift"), withDestinationPath: directory.path("two/usr/bin/swift"))
            let path =
                "\(directory.path("one/usr/bin")):/usr/local/bin:/usr/bin:\(directory.path("home/bin")):"
                + "\(directory.path("one-else/bin")):bin:"

            // when
            let decided = try JobIsolation.decide(
                settings(nil), probe: .works, path: path, tools: "/lib/martlet-tools")

            // then
            expectNoDifference(
                decided.readOnly, ["/lib/martlet-tools", directory.path("one"), directory.path("two")])
            #expect(decided.path == "\(directory.path("one/usr/bin")):/usr/local/bin:/usr/bin")
        }
    }

    /// The description of a sandboxed job. The supervisor's handling of it is tested in `ExecutionTests`.
    @Suite struct WhenAJobIsSandboxed {
        private let isolation = JobIsolation(
            isolation: .sandbox, readOnly: ["/lib/martlet-tools", "/opt/swift"],
            path: "/opt/swift/usr/bin:/usr/bin",
            limits: SandboxSettings(memory: .gibibytes(2), processes: 99, workspace: .gibibytes(3), cpuWeight: 50))

        @Test(
            .proves(
                .jobs,
                "`HOME` is the same directory in all steps of a job, empty at its beginning, gone at its end, and counted with the workspace"
            ), .proves(.sandbox, "Results, issues, paths, tests and logs are the same with and without the sandbox"))
        func testThatItsPathsAreThoseOfTheSandbox() async throws {
            let executor = ScriptedExecutor.playing()
            try await withBot(BotPlan(executor: .scripted(executor), isolation: isolation)) { bot in
                // when
                let integration = try await bot.integrate()

                // then
                let attempt = try #require(integration.attempt("debug"))
                #expect(attempt.isolation == .sandbox)
                let job = try bot.directory(of: attempt).job()
                #expect(job.isolation == .sandbox)
                #expect(job.mountedAt == "/martlet/kit")
                #expect(job.workspace.hasPrefix(bot.state.workspaces))
                for variable in ["MARTLET_SOURCE_DIR", "XCS_SOURCE_DIR", "XCS_PRIMARY_REPO_DIR"] {
                    #expect(job.environment[variable] == "/martlet/kit")
                }
                #expect(job.environment["TMPDIR"] == "/tmp")
                #expect(job.environment["HOME"] == job.sandbox?.home)
                #expect(job.environment["TERM"] == "dumb")
                // It is beside the workspace's tree, and removed with the job.
                #expect(job.sandbox?.homeDirectory == job.workspace.dropLast("tree".count) + "home")
                expectNoFile(job.sandbox?.homeDirectory ?? "")
                #expect(!job.environment.values.contains { $0.contains(bot.state.path) })
                let objects = try #require(job.sandbox?.readOnly.last)
                #expect(objects.hasPrefix(bot.state.repositories) && objects.hasSuffix("/objects"))
                #expect(job.sandbox?.readOnly.dropLast() == ["/lib/martlet-tools", "/opt/swift"])
                #expect(job.limits.memoryBytes == 2 << 30)
                #expect(job.limits.processes == 99)
                #expect(job.limits.cpuWeight == 50)
                #expect(job.limits.workspaceBytes == 3 << 30)
            }
        }

        @Test(.proves(.sandbox, "A recipe chooses neither what of the machine its jobs see nor a path as image"))
        func testThatAToolchainOfTheRecipeIsNeverAPathOfItsOwnChoice() async throws {
            let executor = ScriptedExecutor.playing()
            let recipe = "configurations: { debug: { toolchain: /root, build: x } }\narchive: { include: [] }\n"
            let plan = BotPlan(recipe: recipe, executor: .scripted(executor), isolation: isolation)
            try await withBot(plan) { bot in
                let integration = try await bot.integrate()
                expectVerdict(
                    of: integration, .buildErrors,
                    because: "adds it to `sandbox: { read-only: [/root] }` of the settings"
                )
                #expect(executor.starts.isEmpty)
            }
        }

        /// Writes a file as a job does; the repository ignores `build/`.
        private func plant(_ path: String, in tree: String) throws {
            try FileManager.default.createDirectory(atPath: tree + "/build", withIntermediateDirectories: true)
            try Data().write(to: URL(fileURLWithPath: "\(tree)/\(path)"))
        }

        private func isThere(_ path: String, in tree: String) -> Bool {
            FileManager.default.fileExists(atPath: "\(tree)/\(path)")
        }

        @Test(.proves(.sandbox, "A workspace that moves into the sandbox is emptied once"))
        func testThatAWorkspaceThatMovesIntoTheSandboxIsEmptiedOnce() async throws {
            let executor = ScriptedExecutor.playing()
            try await withBot(BotPlan(executor: .scripted(executor))) { bot in
                // given: a warm workspace of jobs without a sandbox.
                let first = try await bot.integrate()
                #expect(first.attempt("debug")?.isolation == Isolation.none(reason: "of the test"))
                let tree = try bot.directory(of: try #require(first.attempt("debug"))).job().workspace
                try plant("build/of-before", in: tree)
                _ = try await bot.integrate()
                #expect(isThere("build/of-before", in: tree), "warm")

                // when
                try await bot.restart(isolation: isolation)
                _ = try await bot.integrate()

                // then
                #expect(!isThere("build/of-before", in: tree), "built under other paths")
                try plant("build/of-now", in: tree)
                _ = try await bot.integrate()
                #expect(isThere("build/of-now", in: tree), "once is enough")
            }
        }
    }
}
