import BotSupport
import Execution
import Glibc
import Integrations
import JobProtocol
import Model
import Storage
import TestSupport
import Testing

/// A file that is not archived, or not read, is a warning of the integration.
@Suite struct LeftOutTests {
    private func recipe(_ script: String, report: String = "") -> String {
        """
        configurations:
          debug:
            build: |
        \(script.split(separator: "\n").map { "      \($0)\n" }.joined())
            test: "true"
        \(report)
        analyze: []
        archive: { include: ["out/**"] }

        """
    }

    @Test(
        .proves(
            .issueHistory,
            "Links and files with several names that stay in the workspace are archived and can be reports; a left-out file is a warning, a note, and in the manifest"
        ))
    func testThatALibraryAndItsLinksAreInTheArchiveAndNoWarning() async throws {
        let script = "mkdir out\necho x >out/k.so.1\nln -s k.so.1 out/k.so\nln out/k.so.1 out/again"
        try await withBot(BotPlan(recipe: recipe(script), executor: .local)) { bot in
            // when
            let integration = try await bot.integrate()
            // then
            expectVerdict(of: integration, .succeeded)
            let attempt = try #require(integration.attempt("debug"))
            let archive = try #require(integration.artifacts.first { $0.artifact.path.hasSuffix(".tar.zst") })
            let path = bot.directory(of: attempt).paths.archives + "/" + archive.artifact.path
            let list = try await runExpectingSuccess(["tar", "--zstd", "-tvf", path])
            expectContains(list, "out/k.so -> k.so.1\n")
            expectContains(list, "out/again\n")
        }
    }

    @Test(
        .proves(
            .issueHistory,
            "Links and files with several names that stay in the workspace are archived and can be reports; a left-out file is a warning, a note, and in the manifest"
        ))
    func testThatWhatIsLeftOutOfTheArchiveIsAWarningUntilItIsMended() async throws {
        let script = "mkdir out\necho x >out/a\n[ -e mended ] || ln -s /etc/passwd out/b"
        try await withBot(BotPlan(recipe: recipe(script), executor: .local)) { bot in
            // when
            let first = try await bot.integrate()
            let second = try await bot.integrate(Commit(files: ["mended": "", "other": "1\n"]))
            // then
            expectVerdict(of: first, .warnings)
            let text = "out/b was not copied: it is a link that leads to no file of the workspace"
            #expect(first.issues.map(\.finding.message) == ["not archived: \(text)"])
            #expect(first.summary.counts.warnings == 1)
            let attempt = try #require(first.attempt("debug"))
            #expect(attempt.notes.contains("left out of the archives: \(text)"))
            #expect(attempt.reason == "left out of the archives: \(text)")
            expectVerdict(of: second, .succeeded)
            #expect(second.issues.map(\.status) == [.resolved])
        }
    }

    @Test(
        .proves(
            .issueHistory,
            "Links and files with several names that stay in the workspace are archived and can be reports; a left-out file is a warning, a note, and in the manifest"
        ))
    func testThatALinkOfTheRepositoryThatLeadsOutIsAWarningAndInTheManifest() async throws {
        let plan = BotPlan(
            recipe: recipe("mkdir out\necho x >out/a"), file: BotPlan.publishing, executor: .local)
        try await withBot(plan) { bot in
            // given
            try #require(symlink("/etc", bot.work.path + "/etc") == 0)
            // when
            let integration = try await bot.integrate(Commit(files: ["a": "1\n"]), on: "release/1.0")
            // then
            let text = "not archived: etc: the link leads out of the tree; it is not in the source archive"
            expectVerdict(of: integration, .warnings)
            #expect(integration.issues.map(\.finding.message) == [text])
            let manifest = String(decoding: try bot.publishedFile("manifest.json", of: "1.0.0"), as: UTF8.self)
            expectContains(manifest, "\"leftOut\"")
            expectContains(manifest, text)
        }
    }

    @Test func testThatAnArchiveOfWhichNothingCouldBeCopiedSaysWhy() async throws {
        try await withBot(BotPlan(recipe: recipe("mkdir out\nln -s /etc/passwd out/b"), executor: .local)) { bot in
            // when
            let integration = try await bot.integrate()
            // then
            expectVerdict(of: integration, .buildErrors)
            expectContains(integration.attempt("debug")?.reason ?? "", "out/b was not copied")
        }
    }

    @Test(
        .proves(
            .issueHistory,
            "Links and files with several names that stay in the workspace are archived and can be reports; a left-out file is a warning, a note, and in the manifest"
        ))
    func testThatAReportThatIsLeftOutIsAWarning() async throws {
        let report = "    report: \"report*.xml\""
        let recipe = recipe("mkdir out\necho x >out/a", report: report).replacing(
            "test: \"true\"", with: "test: ln -s /etc/passwd report-1.xml; cp passing.xml report-2.xml")
        try await withBot(BotPlan(recipe: recipe, executor: .local)) { bot in
            // when
            let integration = try await bot.integrate()
            // then
            expectVerdict(of: integration, .warnings)
            let message = integration.issues.first?.finding.message ?? ""
            expectContains(message, "test: the report report-1.xml was not copied")
            #expect(integration.tests.count == 2)
        }
    }

    /// Users write these for Jenkins and GitLab.
    @Test(
        .proves(
            .issueHistory,
            "Old reports are deleted before a step, but never the commit's files or `.git`; a file of the commit is a report once the step has changed it"
        ), arguments: ["**/*.xml", "**"])
    func testThatAWidePatternTakesNoFileOfTheCommitAway(pattern: String) async throws {
        let report = "    report: \"\(pattern)\""
        let recipe = recipe("mkdir out\necho x >out/a", report: report).replacing(
            "test: \"true\"", with: "test: ls plain.xml fixtures/a.xml && git status --short && cp passing.xml new.xml"
        )
        .replacing("include: [\"out/**\"]", with: "include: []")
        try await withBot(BotPlan(recipe: recipe, executor: .local)) { bot in
            // when
            let files = ["plain.xml": "<project/>\n", "fixtures/a.xml": "<broken\n", ".gitignore": "out\n"]
            let integration = try await bot.integrate(Commit(files: files))
            // then
            #expect(integration.tests.count == 2)
            if pattern == "**/*.xml" { expectVerdict(of: integration, .succeeded) }
        }
    }
}
