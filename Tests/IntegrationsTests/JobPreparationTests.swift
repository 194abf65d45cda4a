import BotSupport
import Execution
import JobProtocol
import Model
import Storage
import TestSupport
import Testing

@testable import Integrations
@testable import Jobs

/// The plan for a commit, according to its tree.
@Suite struct JobPreparationTests {
    private static let package = ["Package.swift": "// swift-tools-version: 6.0\n", ".gitignore": ".build/\n"]

    @Test(
        .proves(
            .steps,
            "`clang --analyze` with SARIF for C targets, wherever they lie, with the options that their manifest gives them"
        ),
        arguments: [
            (["Sources/C/c.c": ""], true), (["native/deep/er/n.cpp": ""], true), (["a.mm": ""], true),
            (["Sources/Kit/Kit.swift": "", "notes.c.txt": ""], false), ([".hidden/c.c": ""], false),
        ])
    func testThatCSourcesAreSeenWhereverTheyLie(files: [String: String], isAnalyzed: Bool) async throws {
        try await withBot(BotPlan(isRepositoryEmpty: true)) { bot in
            // when
            let integration = try await bot.integrate(Commit(files: Self.package.merging(files) { $1 }))

            // then
            let attempt = try #require(integration.attempt("debug"))
            let steps = try bot.directory(of: attempt).job().steps.map(\.name)
            #expect(steps.contains("clang") == isAnalyzed, "\(steps)")
        }
    }

    /// For a commit that was fetched, for one that was there, and for a rerun.
    @Test func testThatAJobIsToldTheSameOfItsCommit() async throws {
        try await withBot { bot in
            // given
            let fetched = try await bot.integrate()
            let time = try #require(fetched.record.committedAt).millisecondsSinceEpoch / 1000

            // when
            let here = try await bot.operations.integrate(
                bot: bot.name, revision: fetched.record.commit.description, isClean: false, by: "ada")
            let asked = try await bot.completion(of: here.id)
            _ = try await bot.operations.rerun(fetched.id, Rerun(), by: "ada")
            let rerun = try await bot.completion(of: fetched.id)

            // then
            func environment(_ integration: Integrated) throws -> [String: String] {
                let attempt = try #require(integration.attempts.last { $0.id.job == Name(nearest: "debug") })
                return try bot.directory(of: attempt).job().environment
            }
            let (first, second, third) = try (environment(fetched), environment(asked), environment(rerun))
            #expect(first["SOURCE_DATE_EPOCH"] == "\(time)")
            #expect(second["SOURCE_DATE_EPOCH"] == "\(time)")
            #expect(rerun.attempts.count == 2)
            #expect(third == first)
        }
    }
}
