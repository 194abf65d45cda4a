import BotSupport
import Execution
import Foundation
import Integrations
import Jobs
import Model
import Storage
import TestSupport
import Testing

/// Row U10: a job claims to be another build, or asks for files of one. It cannot do either: it reaches neither the launcher nor a job's directory,
/// not even its own.
@Suite(
    .proves(
        .jobs,
        "A job can neither pose as another build nor read its files: it reaches no launcher, no service and no job directory (U10)"
    ), .program("python3"))
struct U10ForeignBuildTests {
    private static let recipe = """
        configurations: { debug: { build: python3 ./claim.py, test: none } }
        analyze: []
        archive: { include: [] }

        """

    /// Returns a script that asks the launcher to run the first integration's job again, writes that job's end and a cancellation request, and
    /// reads its log.
    private static func claim(_ bot: Bot) -> String {
        let first = bot.state.attempt(IntegrationID(bot: bot.name, number: 1), job: Name(nearest: "debug"), attempt: 1)
        return """
            import json, os, socket, struct

            def tried(what, action):
                try:
                    action()
                    print(what, "done")
                except Exception as error:
                    print(what, "refused")

            def launch():
                peer = socket.socket(socket.AF_UNIX)
                peer.connect("\(bot.state.launcherSocket)")
                body = json.dumps({"attempt": "\(first)", "secrets": {}}).encode()
                peer.sendall(struct.pack("<I", len(body)) + body)
                assert peer.recv(4)

            tried("launcher", launch)
            tried("service", lambda: socket.socket(socket.AF_UNIX).connect("\(bot.state.serviceSocket)"))
            tried("log", lambda: open("\(first)/log").read())
            tried("cancel", lambda: open("\(first)/cancel", "w").close())
            tried("status", lambda: open("\(first)/status.jsonl", "a").close())
            tried("own", lambda: os.listdir("\(bot.state.integration(IntegrationID(bot: bot.name, number: 2)))"))

            """
    }

    private func log(_ isolation: JobIsolation) async throws -> String {
        var log = ""
        let plan = BotPlan(isRepositoryEmpty: true, executor: .local, isolation: isolation)
        try await withBot(plan) { bot in
            // given: another build
            try await bot.integrate(
                Commit(files: [".martlet.yml": Self.recipe, "claim.py": "print('the first')\n"]))
            // when
            let second = try await bot.integrate(Commit(files: ["claim.py": Self.claim(bot)]))
            // then
            expectResult(of: second, "succeeded")
            log = try bot.log(of: try #require(second.attempt("debug")))
        }
        return log
    }

    @Test(.sandbox) func testThatU10AJobClaimsNoOtherBuildAndReadsNoneOfIt() async throws {
        let log = try await log(try .sandboxed())
        #expect(
            log == "launcher refused\nservice refused\nlog refused\ncancel refused\nstatus refused\nown refused\n")
    }

    /// Shows that the sandbox prevents it.
    @Test func testThatU10WithoutASandboxItDoes() async throws {
        let log = try await log(JobIsolation(isolation: .none(reason: "of the test")))
        // The log may be compressed by then, with another name.
        expectContains(log, "cancel done\nstatus done\n")
    }
}
