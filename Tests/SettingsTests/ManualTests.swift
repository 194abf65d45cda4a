import Foundation
import Model
import TestSupport
import Testing

@testable import Settings

/// The pages for users agree with the readers of the files that they describe.
@Suite struct ManualTests {
    /// Files of other services, of which the pages about moving have samples.
    private static let foreign = [".github/workflows/ci.yml", ".gitlab-ci.yml"]

    /// Each YAML sample begins with its file's name, and the reader of that file accepts it.
    @Test(
        .proves(.settings, "Every sample of the documentation and of `martlet init` is valid"),
        .proves(.testsAndPages, "Manual, architecture, decisions, changes"))
    func testThatEverySampleOfTheManualIsValid() throws {
        // given
        let pages = try DocumentationPage.all()
        var count = 0
        for page in pages {
            for block in page.blocks("yaml") {
                // when
                let mark = block.prefix { $0 != "\n" }
                let path = mark.dropFirst(2).prefix { $0 != ":" && $0 != " " }
                count += 1
                // then
                guard mark.hasPrefix("# "), path.hasSuffix(".yml") else {
                    Issue.record("a yaml block of \(page.name) does not begin with its file's name: \(mark)")
                    continue
                }
                if page.name.hasPrefix("guide/migrate-from-"), Self.foreign.contains(String(path)) { continue }
                let diagnostics = Lint.file(path: String(path), text: block)
                #expect(
                    diagnostics.isEmpty,
                    "\(page.name): \(diagnostics.map(\.description).joined(separator: "\n"))\n\(block)")
            }
        }
        #expect(count >= 50)
    }

    /// A table has each key that the reader knows, and no other. The keys beside the table are those that its page explains elsewhere.
    @Test(
        .proves(.settings, "The guide's tables have the keys and values that the readers know, and no others"),
        arguments: [
            ("guide/bot-file.md", "key", Keys.bot, []), ("guide/recipe.md", "key", Keys.recipe, []),
            ("guide/recipe.md", "key of a configuration", Keys.configuration, []),
            ("guide/steps.md", "key of a step", Keys.step, []), ("guide/steps.md", "key", Keys.archive, []),
            ("guide/triggers.md", "key", Keys.trigger, ["name", "run", "publish", "upload"]),
            ("guide/notices.md", "key", Keys.notice, ["name"]),
            ("guide/secrets.md", "key in the bot file", Keys.jobSecret, []),
        ] as [(String, String, [Key], [String])])
    func testThatATableHasTheReadersKeysAndNoOthers(
        page: String, head: String, keys: [Key], beside: [String]
    ) throws {
        let names = Set(try DocumentationPage(page).firstColumn(under: head) + beside)
        expectNoDifference(names.sorted(), Keys.names(keys).sorted(), page)
    }

    @Test(
        .proves(.settings, "The guide's tables have the keys and values that the readers know, and no others"),
        arguments: [
            ("guide/triggers.md", "`when`", Trigger.Condition.allCases.map(\.rawValue)),
            ("guide/notices.md", "`when`", Transition.allCases.map(\.rawValue)),
            ("guide/pull-requests.md", "`pull-requests`", BotSpecification.PullRequests.allCases.map(\.rawValue)),
            ("guide/what-is-integrated.md", "`supersede`", BotSpecification.Supersede.allCases.map(\.rawValue)),
            ("guide/verdicts.md", "verdict", Verdict.allCases.map(\.rawValue)),
        ] as [(String, String, [String])])
    func testThatATableHasTheValuesInTheirOrder(page: String, head: String, values: [String]) throws {
        expectNoDifference(try DocumentationPage(page).firstColumn(under: head), values, page)
    }

    @Test(.proves(.settings, "The guide's tables have the keys and values that the readers know, and no others"))
    func testThatThePageOfProjectsHasEveryKindInItsOrder() throws {
        // given
        let parts = try DocumentationPage("guide/projects.md").text.components(separatedBy: "are tried in this order:")
        // when
        let words = try #require(parts.count == 2 ? parts[1].components(separatedBy: ".\n").first : nil)
            .components(separatedBy: "`")
        // then
        let names = words.enumerated().filter { !$0.offset.isMultiple(of: 2) }.map(\.element)
        expectNoDifference(names, ProjectType.allCases.map(\.rawValue))
    }

    /// The page about releases is for maintainers.
    @Test(.proves(.settings, "The manual leads to every page, and links to parts of pages lead there"))
    func testThatTheManualLeadsToEveryPage() throws {
        let links = Set(try DocumentationPage("manual.md").links)
        let others = ["manual.md", "releasing.md"]
        for page in try DocumentationPage.all() where !others.contains(page.name) {
            #expect(links.contains(page.name), "docs/manual.md has no link to \(page.name)")
        }
    }

    /// `hooks/check` looks for the files alone.
    @Test(.proves(.settings, "The manual leads to every page, and links to parts of pages lead there"))
    func testThatLinksToPartsOfPagesLeadThere() throws {
        // given
        let pages = Dictionary(uniqueKeysWithValues: try DocumentationPage.all().map { ($0.name, $0) })
        for page in pages.values {
            let folder = URL(fileURLWithPath: "/" + page.name).deletingLastPathComponent()
            for link in page.links {
                // when
                let parts = link.components(separatedBy: "#")
                guard parts.count == 2 else { continue }
                let path =
                    parts[0].isEmpty
                    ? page.name : String(folder.appending(path: parts[0]).standardized.path.dropFirst())
                // then
                guard let target = pages[path] else { continue }
                #expect(target.anchors.contains(parts[1]), "\(page.name): \(link) leads to no heading")
            }
        }
    }

    /// The script measures words, paragraphs and sentences, and prints what is too long.
    @Test(.proves(.settings, "Pages for users have short paragraphs and sentences"))
    func testThatThePagesForUsersAreShort() async throws {
        // given
        let pages = try DocumentationPage.all().map(\.name).filter {
            $0.hasPrefix("guide/") || $0 == "getting-started.md"
        }
        // when
        let result = try await run(
            ["python3", Project.root + "/hooks/prose"] + pages.map { "\(Project.root)/docs/\($0)" })
        // then
        #expect(result.status == 0, "\(result.stdout)\(result.stderr)")
    }
}
