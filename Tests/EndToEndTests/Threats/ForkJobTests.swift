import BotSupport
import Execution
import Foundation
import Glibc
import Integrations
import JobProtocol
import Model
import Settings
import Storage
import TestSupport
import Testing

/// Row U1: what a fork's job can reach in the real sandbox, and what is left of it. A trusted job beside it shows that these things can be reached.
@Suite(.sandbox) struct ForkJobTests {
    private static let file = """
        pull-requests: all
        secrets: [{ name: registry-token, branches: ["*"] }]
        triggers: [{ name: deploy, run: deploy, when: always }]

        """

    /// Returns the base's recipe: one step with the network, and a cache that lives from job to job.
    private static func recipe(port: Int) -> String {
        """
        configurations:
          debug:
            steps:
              - name: network
                step: building
                network: full
                run: "if bash -c 'exec 3<>/dev/tcp/127.0.0.1/\(port)' 2>/dev/null; then echo network reached; else echo network refused; fi"
              - name: play
                step: testing
                run: sh ./steps
        analyze: []
        archive: { include: [] }

        """
    }

    private static let steps = """
        #!/bin/sh
        echo "cache: $(cat "$XDG_CACHE_HOME/planted" 2>/dev/null || echo none)"
        mkdir -p "$XDG_CACHE_HOME" && echo "by $MARTLET_REF" > "$XDG_CACHE_HOME/planted"

        """

    /// The recipe that the fork's commit has in its place.
    private static let hostile = """
        #!/bin/sh
        env
        cat /proc/1/environ 2>/dev/null
        cat STATE/martlet.sqlite SECRETS/registry-token SECRETS/kit-webhook && echo reached the secrets
        echo pwned > STATE/planted 
        mkdir -p "$XDG_CACHE_HOME" && echo poison > "$XDG_CACHE_HOME/planted"
        echo poison > /tmp/planted; echo poison > .martlet/planted; echo poison > .git/planted
        echo "cache: $(cat "$XDG_CACHE_HOME/planted")"

        """

    @Test(
        .proves(
            .intake,
            "Pull requests: a fork has no secrets, no triggers, the base's recipe, a workspace and caches that are removed, network by policy (U1)"
        ), .threat("U4"))
    func testU1ThatItHasNoSecretNoTriggerNoNetworkNoCacheAndNoWordInWhatRuns() async throws {
        let listener = try LoopbackSocket()
        defer { listener.stop() }
        var plan = BotPlan(
            recipe: Self.recipe(port: listener.port), file: Self.file, executor: .local,
            isolation: try .sandboxed(loopback: true))
        plan.scripts = ["deploy": "#!/bin/sh\n"]
        try await withBot(plan) { bot in
            // given: a secret, and a main whose jobs keep a cache
            try bot.secrets.set("registry-token", "hunter2-hunter2")
            _ = try await bot.integrate(Commit(files: ["steps": Self.steps]), limit: .seconds(120) * TestLimits.scale)
            let script = Self.hostile.replacing("STATE", with: bot.state.path)
                .replacing("SECRETS", with: bot.directory.path("secrets"))
            let stolen = """
                configurations:
                  stolen: { build: "echo stolen recipe", network: full }
                  secret:
                    steps: [{ name: take, step: building, run: env, secrets: [registry-token] }]

                """
            let head = try await bot.pull(1, ["steps": script, ".martlet.yml": stolen], message: "Hostile")

            // when
            try await bot.tell("opened", pull: 1, head: head)
            let done = try await bot.completion(ofPull: 1, at: head, limit: .seconds(120) * TestLimits.scale)

            // then: the base decided what ran, and its author's script could do nothing
            #expect(done.attempts.map(\.id.job.description) == ["debug"], "\(done.record.reason ?? "")")
            let attempt = try #require(done.attempt("debug"))
            let log = try bot.log(of: attempt)
            expectContains(log, "network refused\n")
            expectContains(log, "MARTLET_PULL_REQUEST=1")
            for word in ["hunter2", "It's a Secret", "reached the secrets", "stolen recipe", "SECRET_"] {
                #expect(!log.contains(word), "\(word) in \(log)")
            }
            #expect(access(bot.state.path + "/planted", F_OK) != 0)
            #expect(done.triggers.isEmpty)
            let job = try bot.directory(of: attempt).job()
            #expect(job.secrets.isEmpty && job.steps.allSatisfy { $0.network == .none })
            expectContains(job.workspace, "/kit/debug/fork/")
            // Nothing of it is left
            #expect(access(job.workspace, F_OK) != 0)

            // A trusted job never meets its files, in either direction
            let own = try await bot.pull(2, ["own": "1\n"], branch: "topic")
            try await bot.tell("opened", pull: 2, head: own)
            let trusted = try await bot.completion(ofPull: 2, at: own, limit: .seconds(120) * TestLimits.scale)
            let theirs = try bot.log(of: try #require(trusted.attempt("debug")))
            expectContains(theirs, "network reached\n")
            expectContains(theirs, "cache: none\n")
            let after = try await bot.integrate(Commit(files: ["more": "1\n"]), limit: .seconds(120) * TestLimits.scale)
            expectContains(try bot.log(of: try #require(after.attempt("debug"))), "cache: by refs/heads/main\n")
        }
    }

    @Test(
        .proves(
            .intake,
            "Pull requests: a fork has no secrets, no triggers, the base's recipe, a workspace and caches that are removed, network by policy (U1)"
        ))
    func testU1ThatAnApprovedOneHasTheNetworkThatItsBaseGives() async throws {
        let listener = try LoopbackSocket()
        defer { listener.stop() }
        var plan = BotPlan(
            recipe: Self.recipe(port: listener.port), file: "pull-requests: approved\n", executor: .local,
            isolation: try .sandboxed(loopback: true))
        plan.concurrency = 1
        try await withBot(plan) { bot in
            // given
            _ = try await bot.integrate(Commit(files: ["steps": Self.steps]), limit: .seconds(120) * TestLimits.scale)
            let head = try await bot.pull(1, ["a": "1\n"])
            try await bot.tell("opened", pull: 1, head: head)

            // when
            let record = try await bot.operations.approve(
                pullRequest: 1, of: bot.name, commit: head.description, by: "ada")

            // then: nothing else ran
            let done = try await bot.completion(of: record.id, limit: .seconds(120) * TestLimits.scale)
            let log = try bot.log(of: try #require(done.attempt("debug")))
            expectContains(log, "network reached\n")
            expectContains(log, "cache: none\n")
        }
    }

    /// A recipe whose only step takes a secret.
    private static let taking = """
        configurations:
          debug:
            test: none
            steps: [{ name: take, step: building, run: "echo got $MARTLET_SECRET_REGISTRY_TOKEN", secrets: [registry-token] }]
        analyze: []
        archive: { include: [] }

        """

    @Test(
        .proves(
            .intake,
            "Pull requests: a fork has no secrets, no triggers, the base's recipe, a workspace and caches that are removed, network by policy (U1)"
        ))
    func testU1ThatARecipeOfTheBaseGivesAForkNoSecret() async throws {
        var plan = BotPlan(recipe: Self.taking, file: Self.file, executor: .local, isolation: try .sandboxed())
        plan.scripts = ["deploy": "#!/bin/sh\n"]
        try await withBot(plan) { bot in
            // given
            try bot.secrets.set("registry-token", "hunter2-hunter2")
            expectResult(of: try await bot.integrate(limit: .seconds(120) * TestLimits.scale), "succeeded")
            let fork = try await bot.pull(1, ["a": "1\n"])
            let own = try await bot.pull(2, ["b": "1\n"], branch: "topic")

            // when
            try await bot.tell("opened", pull: 1, head: fork)
            try await bot.tell("opened", pull: 2, head: own)

            // then: it is reported, and not ignored
            let refused = try await bot.completion(ofPull: 1, at: fork, limit: .seconds(120) * TestLimits.scale)
            expectVerdict(of: refused, .buildErrors)
            expectContains(refused.attempt("debug")?.reason ?? "", "a job of a fork has no secrets")
            let given = try await bot.completion(ofPull: 2, at: own, limit: .seconds(120) * TestLimits.scale)
            expectResult(of: given, "succeeded")
            expectContains(try bot.log(of: try #require(given.attempt("debug"))), "got ***")
        }
    }

    /// Authors with push access to either branch wrote what runs, so a secret must be meant for both.
    @Test(arguments: ["main", "topic"])
    func testU1ThatASecretOfOneOfTheTwoBranchesIsNotGiven(branch: String) async throws {
        let plan = BotPlan(
            recipe: Self.taking, file: "secrets: [{ name: registry-token, branches: [\(branch)] }]\n", executor: .local,
            isolation: try .sandboxed())
        try await withBot(plan) { bot in
            // given
            try bot.secrets.set("registry-token", "hunter2-hunter2")
            _ = try await bot.integrate(limit: .seconds(120) * TestLimits.scale)
            let head = try await bot.pull(1, ["b": "1\n"], branch: "topic")
            // when
            try await bot.tell("opened", pull: 1, head: head)
            // then
            let refused = try await bot.completion(ofPull: 1, at: head, limit: .seconds(120) * TestLimits.scale)
            expectVerdict(of: refused, .buildErrors)
            expectContains(refused.attempt("debug")?.reason ?? "", "registry-token")
        }
    }

    @Test(
        .proves(
            .intake,
            "Pull requests: a fork has no secrets, no triggers, the base's recipe, a workspace and caches that are removed, network by policy (U1)"
        ))
    func testU1ThatSubmodulesOfAForksOwnAreNotFetched() async throws {
        try await withBot(pullPlan("pull-requests: all\n")) { bot in
            // given: a repository on the same machine that the fork's author may not read
            _ = try await bot.integrate()
            let secret = try await GitRepository.make(at: bot.directory.path("secret.git"))
            _ = try await secret.commit(files: ["key": "hunter2\n"])
            let module = "[submodule \"x\"]\n\tpath = x\n\turl = \(secret.path)\n"
            let head = try await bot.pull(1, [".gitmodules": module])

            // when
            try await bot.tell("opened", pull: 1, head: head)

            // then
            let done = try await bot.completion(ofPull: 1, at: head)
            #expect(done.verdict == .canceled && done.attempts.isEmpty)
            expectContains(done.record.reason ?? "", "a fork's pull request has other submodules than main")
        }
    }
}
