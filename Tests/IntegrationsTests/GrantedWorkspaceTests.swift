import Basics
import BotSupport
import Execution
import ExecutionSupport
import JobProtocol
import Model
import TestSupport
import Testing

@testable import Integrations
@testable import Jobs

/// A workspace is kept warm only among refs to which the bot file gives the same secrets, because the next job runs what one job leaves there.
@Suite(.proves(.steps, "Refs share a warm workspace only if the same secrets are for them"))
struct GrantedWorkspaceTests {
    @Test func testThatWhatABranchWithoutASecretLeavesIsNotThereForOneWithIt() async throws {
        let executor = ScriptedExecutor.playing()
        let file = "branches: [main, dev]\nsecrets: [{ name: tok-en, branches: [main] }]\n"
        try await withBot(BotPlan(file: file, executor: .scripted(executor))) { bot in
            // given: a job of dev leaves a file where tools keep theirs
            _ = try await bot.integrate()
            let main = try workspace(0, executor)
            _ = try await bot.integrate(Commit(files: ["n": "1"]), on: "dev")
            let dev = try workspace(1, executor)
            try Directory(opening: dev).makeDirectories(".martlet/cache")
            try Directory(opening: dev).write(".martlet/cache/tool", bytes: Array("evil".utf8))

            // when
            _ = try await bot.integrate(Commit(files: ["n": "2"]))

            // then
            let next = try workspace(2, executor)
            #expect(next == main, "it stays warm")
            #expect(try Directory(opening: next).status(".martlet/cache/tool") == nil)
            #expect(dev.hasSuffix("/debug/trusted/0/tree"), "as where no job has secrets")
        }
    }

    @Test func testThatOtherGrantsAreOtherPlacesAndNoneIsTheUsual() throws {
        // given
        let token = JobSecret(name: "tok-en", branches: [RefPattern("main")])
        let license = JobSecret(name: "license", branches: [RefPattern("**")])
        let wider = JobSecret(name: "tok-en", branches: [RefPattern("main"), RefPattern("dev/*")])
        func place(_ grants: JobSecret...) -> String { Workspaces.TrustDomain.trusted.directory(grants) }
        // then
        #expect(place() == "trusted")
        #expect(Set([place(), place(token), place(license), place(token, license), place(wider)]).count == 5)
        #expect(place(token, license) == place(license, token))
        #expect(Workspaces.TrustDomain.release.directory([token]).hasPrefix("release-"))
        #expect(Workspaces.TrustDomain.fork.directory([license]) == "fork", "it is removed after its job")
    }

    /// Returns the workspace of the job at an index, in the order in which jobs were started.
    private func workspace(_ index: Int, _ executor: ScriptedExecutor) throws -> String {
        let starts = executor.starts
        try #require(starts.count > index)
        return try AttemptDirectory(path: starts[index]).job().workspace
    }
}
