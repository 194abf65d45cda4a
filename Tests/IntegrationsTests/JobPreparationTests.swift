import BotSupport
import Execution
import JobProtocol
import Model
import TestSupport
import Testing

@testable import Integrations

/// What is planned for a commit by what its tree holds.
@Suite struct JobPreparationTests {
    private static let package = ["Package.swift": "// swift-tools-version: 6.0\n", ".gitignore": ".build/\n"]

    @Test(arguments: [
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
}
