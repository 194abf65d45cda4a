import Model
import TestSupport
import Testing

@Suite struct PathFilterTests {
    @Test(
        .proves(
            .intake,
            "Path filters (`paths:`) have gitignore(5)'s patterns. A push that changes none of the files is skipped with its reason; the next one that does is integrated"
        ),
        arguments: [
            (["Sources/"], "Sources/Kit/a.swift", true), (["Sources/"], "Tests/Sources/a.swift", true),
            (["/Sources/"], "Tests/Sources/a.swift", false), (["Sources"], "Sources", true),
            (["Sources/"], "Sources", false),
            (["*.swift"], "Sources/Kit/a.swift", true), (["/*.swift"], "Sources/Kit/a.swift", false),
            (["/*.swift"], "Package.swift", true), (["Sources/*.swift"], "Sources/Kit/a.swift", false),
            (["Sources/**/*.swift"], "Sources/a.swift", true), (["Sources/**/*.swift"], "Sources/A/B/a.swift", true),
            (["docs/**"], "docs/a/b.md", true), (["docs/**"], "docs", false), (["docs/**"], "src/docs/a.md", false),
            (["**/docs/**"], "src/docs/a.md", true), (["**/docs/**"], "docs/a.md", true),
            (["docs"], "docs/a/b.md", true),
            (["a?c"], "abc", true), (["a?c"], "a/c", false), (["**"], "any/thing", true),
            // The last matching pattern counts.
            (["Sources/", "!*.md"], "Sources/README.md", false), (["Sources/", "!*.md"], "Sources/a.swift", true),
            (["Sources/", "!*.md"], "docs/a.md", false),
            (["Sources/", "!*.md", "Sources/Kit/"], "Sources/Kit/a.md", true),
            // If the first pattern excludes, all other files are included.
            (["!docs/", "!*.md"], "Sources/a.swift", true), (["!docs/", "!*.md"], "docs/a.c", false),
            (["!docs/", "!*.md"], "README.md", false), (["!docs/", "docs/api/"], "docs/api/a", true),
            (["ä*"], "ärger/x", true),
            // Everything matches.
            (["/**"], "a", true), (["/**"], "a/b", true), (["**/**"], "a", true), (["**/**"], "a/b", true),
            (["docs/", "!/**"], "docs/a", false),
            // A submodule.
            (["vendor/lib/"], "vendor/lib/", true), (["vendor/lib"], "vendor/lib/", true),
            (["lib/"], "vendor/lib/", true),
            (["vendor/lib/"], "vendor/lib", false), (["vendor/lib/*"], "vendor/lib/", false),
        ] as [([String], String, Bool)])
    func testThatItMatchesAsGitignoreDoes(patterns: [String], path: String, matters: Bool) {
        #expect((PathFilter(patterns).first(in: [path]) != nil) == matters)
    }

    @Test func testThatTheFirstThatMattersIsTold() {
        #expect(PathFilter(["*.swift"]).first(in: ["a.md", "b.swift", "c.swift"]) == "b.swift")
        #expect(PathFilter(["*.swift"]).first(in: []) == nil)
    }

    @Test(arguments: ["", "!", "/", "!/", "../a", "a/../b", "./a", "[ab]", "a\\*", String(repeating: "a", count: 256)])
    func testThatWhatNamesNothingIsNoPattern(text: String) {
        #expect(PathFilter.problem(with: text) != nil)
        #expect(PathFilter.problem(with: "a" + "/*") == nil)
    }

    /// Patterns come from the operator, paths from any user.
    @Test func testThatHostileNamesCostLittle() {
        let name = String(repeating: "a/", count: 1000) + "b"
        #expect(PathFilter([String(repeating: "**/", count: 60) + "c"]).first(in: [name]) == nil)
        #expect(
            PathFilter([String(repeating: "a*", count: 100) + "c"]).first(in: [String(repeating: "a", count: 4000)])
                == nil)
    }
}
