import BotSupport
import Model
import Storage
import TestSupport
import Testing

/// Refs as jobs see them.
@Suite struct RefTests {
    @Test(.proves(.sourceControl, "The job's generated `.git`: HEAD, this ref, its tags"))
    func testThatATagOfACommitThatWasIntegratedIsWhatItsJobSees() async throws {
        let plan = BotPlan(file: "tags: [v*]\n", executor: .local)
        try await withBot(plan) { bot in
            // given
            let script = "git describe --tags --exact-match && git cat-file -t v1.2.3 || exit 3"
            let first = try await bot.integrate(.running(.building, of: "debug", script: script))
            expectSteps(of: first, [.building: .failed])

            // when
            try await bot.work.tag("v1.2.3", message: "Annotated")
            try await bot.work.push(to: bot.remote)
            try await bot.announce()
            let tag = RefName(tag: "v1.2.3")
            let integration = try await bot.completion(
                of: try await bot.integration(of: first.record.commit, on: tag).id)

            // then
            expectResult(of: integration, "succeeded")
            let log = try bot.log(of: try #require(integration.attempt("debug")))
            expectContains(log, "v1.2.3\ntag\n")
        }
    }

    /// G15: the forms that macOS and Linux type are one String for Swift.
    @Test(
        .proves(
            .sourceControl,
            "Refs are told apart by their bytes, as git does; one whose name is no UTF-8 is left out (G15)"))
    func testThatTwoSpellingsOfOneNameAreTwoBranches() async throws {
        try await withBot(configurations: ["debug"], file: "branches: [\"**\"]\n") { bot in
            // given
            let first = try await bot.push()
            let second = try await bot.push(Commit(files: ["b": "2\n"]))
            let names = [RefName(branch: "release/caf\u{e9}"), RefName(branch: "release/cafe\u{301}")]
            #expect(names[0].description == names[1].description)

            // when
            for (name, commit) in zip(names, [first, second]) {
                try await bot.work.git("update-ref", name.description, commit.description)
            }
            try await bot.work.push(to: bot.remote)
            try await bot.announce()

            // then
            for (name, commit) in zip(names, [first, second]) {
                let integration = try await bot.completion(of: try await bot.integration(of: commit, on: name).id)
                expectResult(of: integration, "succeeded")
                #expect(integration.record.ref == name)
            }
        }
    }
}
