import Foundation
import TestSupport
import Testing

/// Holds docs/reference/features.md to the promises of the tests and of docs/reference/acceptance.md, by `hooks/features`.
@Suite struct FeaturesTests {
    @Test(.proves(.testsAndPages, "The list of promises names only files and tests that exist"))
    func testThatThePageIsWhatTheTestsPromise() async throws {
        let result = try await run([Project.root + "/hooks/features"])
        #expect(result.status == 0, "\(result.stdout)\(result.stderr)")
    }

    @Test func testThatThePageIsMadeOfTraitsAndTable() async throws {
        try await withProject { project in
            // when
            let result = try await run([Project.root + "/hooks/features", "--write", "--root", project.path])
            // then
            #expect(result.status == 0, "\(result.stdout)\(result.stderr)")
            let rows = try project.text("docs/reference/features.md").split(separator: "\n")
                .filter { $0.hasPrefix("## ") || $0.hasPrefix("| ") && !$0.hasPrefix("| promise") }
            expectEqualLines(
                rows.joined(separator: "\n"),
                """
                ## First
                | It is "one" | `ATests.GivenB.testThatOne`, `CTests` |
                | It is (two) | `ATests.testThatTwo`, main-job: here |
                | It is not there *Later* | – |
                ## Second
                | It is three | `ATests.testThatTwo` |
                """)
        }
    }

    @Test(
        .proves(.testsAndPages, "The list of promises names only files and tests that exist"),
        arguments: [
            ("Tests/A/ATests.swift", "It is (two)", "It is two", "is not what the tests promise"),
            ("Tests/A/ATests.swift", ".second", ".third", "there is no chapter .third"),
            (
                "Tests/A/ATests.swift", ".promises(.second, \"It is three\")", ".promises(.second, three)",
                "of which 3 can be read"
            ),
            ("Tests/A/ATests.swift", "It is three", "It is (two)", "the promise is in .first too"),
            ("docs/reference/acceptance.md", "main-job: here", "main-job: there", "has no claim there"),
            ("docs/reference/acceptance.md", "main-job: here", "`hooks/nowhere`", "hooks/nowhere does not exist"),
            ("docs/reference/acceptance.md", "| later |", "| |", "no remark says why"),
            ("docs/reference/acceptance.md", "## First", "## Third", "there is no chapter Third"),
        ])
    func testThatWhatIsNotTrueIsFound(file: String, text: String, other: String, message: String) async throws {
        try await withProject { project in
            // given
            let page = [Project.root + "/hooks/features", "--root", project.path]
            #expect(try await run(page + ["--write"]).status == 0)
            #expect(try await run(page).status == 0)
            // when
            try project.write(file, try project.text(file).replacing(asTrait(text), with: asTrait(other)))
            let result = try await run(page)
            // then
            #expect(result.status == 1)
            expectContains(result.stdout, message)
        }
    }

    /// The traits of the samples have another name in this file, which `hooks/features` reads as well.
    private func asTrait(_ text: String) -> String { text.replacing("promises", with: "proves") }

    private func withProject(_ body: (TemporaryDirectory) async throws -> Void) async throws {
        try await withTemporaryDirectory { directory in
            try directory.write(
                "Tests/TestSupport/Promise.swift", "case first = \"First\"\ncase second = \"Second\"\n")
            try directory.write("Tests/Acceptance/main-job", "PARTS = {\n    \"here\": here,\n}\n")
            try directory.write(
                "Tests/A/ATests.swift",
                asTrait(
                    #"""
                    @Suite struct ATests {
                        @Suite(.threat("G1")) struct GivenB {
                            @Test(.promises(.first, "It is \"one\""), arguments: [")", "a"])
                            func testThatOne() {}
                        }

                        @Test(
                            .promises(
                                .first,
                                "It is (two)"),
                            .promises(.second, "It is three")
                        ) func testThatTwo() {}
                    }

                    @Suite(.promises(.first, "It is \"one\"")) struct CTests {
                    }

                    """#))
            try directory.write(
                "docs/reference/acceptance.md",
                """
                ## First

                | promise | proof | remark |
                |---|---|---|
                | It is (two) | main-job: here | |
                | It is not there | – | later |

                """)
            try await body(directory)
        }
    }
}
