import Model
import TestSupport
import Testing

@testable import Web

/// The documentation that the service serves.
@Suite struct DocsTests {
    private static let small = ManualPages([
        ("guide/recipe", "# The recipe\n\nKeys of `.martlet.yml`.\n\n## Steps\n\nEach has a **name**.\n"),
        (
            "reference/recipe",
            "# Recipe keys\n\nSee [steps](../guide/recipe.md#steps), [a file](../../deploy/x), [up](../../../etc/passwd.md).\n"
        ),
        ("start", "# Getting started\n\nSee [the recipe](guide/recipe.md) and [here](#getting-started).\n"),
    ])

    // MARK: Pages

    @Test(
        .proves(
            .testsAndPages,
            "The documentation at `/docs`, built into the program, rendered without scripts; every link between pages leads to a place"
        ))
    func testThatEveryPageOfTheProjectIsServed() async throws {
        try await withWeb { web in
            let pages = ManualPages.ofProgram.pages
            #expect(pages.count > 20)
            for page in pages {
                // when
                let answer = try await web.send("GET", "/docs/\(page.path)")
                // then
                #expect(answer.status == 200, "\(page.path)")
                #expect(answer["Content-Type"] == "text/html; charset=utf-8")
                expectContains(answer.text, "<title>\(HTMLText.escape(page.title)) · Martlet</title>")
            }
        }
    }

    @Test(
        .proves(
            .testsAndPages,
            "The documentation at `/docs`, built into the program, rendered without scripts; every link between pages leads to a place"
        ))
    func testThatEveryLinkBetweenPagesLeadsToAPlace() {
        // given
        let manual = ManualPages.ofProgram
        let anchors = Dictionary(
            uniqueKeysWithValues: manual.pages.map { page in
                ("/docs/" + page.path, Set(Markdown(page.source) { _ in nil }.sections.map(\.anchor)))
            })
        for page in manual.pages {
            for match in manual.html(page).matches(of: /href="([^"]*)"/) where !match.1.hasPrefix("http") {
                // when
                let parts = match.1.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
                let target = parts[0].isEmpty ? "/docs/" + page.path : String(parts[0])
                // then
                #expect(anchors[target] != nil, "\(page.path): \(match.1)")
                if parts.count > 1 {
                    #expect(anchors[target]?.contains(String(parts[1])) == true, "\(page.path): \(match.1)")
                }
            }
        }
    }

    @Test func testThatALinkLeadsToAPageOrNowhere() throws {
        let manual = Self.small
        let start = try #require(manual["start"])
        let reference = try #require(manual["reference/recipe"])
        #expect(manual.address(of: "guide/recipe.md", on: start) == "/docs/guide/recipe")
        #expect(manual.address(of: "../guide/recipe.md#steps", on: reference) == "/docs/guide/recipe#steps")
        #expect(manual.address(of: "#a", on: start) == "#a")
        #expect(manual.address(of: "https://acme.example/x.md", on: start) == "https://acme.example/x.md")
        for nowhere in [
            "../../deploy/x", "../../../etc/passwd.md", "javascript:x", "//evil/x.md", "other.md", "#", "/etc/a.md",
        ] {
            #expect(manual.address(of: nowhere, on: reference) == nil, "\(nowhere)")
        }
        #expect(!manual.html(reference).contains("deploy/x"))
    }

    @Test(arguments: ["nowhere", "guide", "guide/recipe/x", "..%2Fmanual", "guide%2Frecipe.md"])
    func testThatAnUnknownPageIsNotFound(path: String) async throws {
        try await withWeb { web in
            try await web.expect(404, "GET", "/docs/\(path)")
        }
    }

    @Test func testThatTheContentsListEveryPageAndTheBarLeadsThere() async throws {
        try await withWeb { web in
            // when
            let contents = try await web.send("GET", "/docs").text
            // then
            for page in ManualPages.ofProgram.pages { expectContains(contents, "<a href=\"/docs/\(page.path)\">") }
            expectContains(contents, "<a href=\"/docs\" aria-current=\"page\">Docs</a>")
            expectContains(try await web.send("GET", "/").text, "<a href=\"/docs\">Docs</a>")
        }
    }

    @Test(
        .proves(
            .testsAndPages,
            "The documentation at `/docs`, built into the program, rendered without scripts; every link between pages leads to a place"
        ))
    func testThatTheyAreReadAsThePagesOfTheService() async throws {
        try await withWeb(anonymousMayRead: false) { web in
            for path in ["/docs", "/docs?q=recipe", "/docs/internals/architecture"] {
                try await web.expect(401, "GET", path)
                try await web.expect(200, "GET", path, as: .viewer)
            }
        }
    }

    // MARK: Search

    @Test(.proves(.testsAndPages, "A search of the documentation, bounded, the best sections first"))
    func testThatASectionWithAllWordsIsFoundTheBestFirst() {
        // when
        let hits = Self.small.hits(for: "  RECIPE name ")
        // then
        #expect(hits.map(\.page) == ["guide/recipe"])
        #expect(hits[0].heading == "Steps")
        #expect(hits[0].anchor == "steps")
        #expect(hits[0].excerpt == "Each has a name.")
        #expect(
            Self.small.hits(for: "recipe").map(\.page) == ["guide/recipe", "guide/recipe", "reference/recipe", "start"])
    }

    @Test func testThatNothingIsFoundWithoutAWordOrForOneThatIsNowhere() {
        #expect(Self.small.hits(for: "").isEmpty)
        #expect(Self.small.hits(for: " \n ").isEmpty)
        #expect(Self.small.hits(for: "recipe xyzzy").isEmpty)
    }

    @Test(.proves(.testsAndPages, "A search of the documentation, bounded, the best sections first"))
    func testThatASearchIsBounded() {
        // given
        let many = ManualPages(
            (0..<40).map { ("p\($0)", "# Page\n\nword \(String(repeating: "filler ", count: 100))\n") })
        // when, then
        #expect(many.hits(for: "word").count == ManualPages.mostHits)
        #expect(many.hits(for: "word").allSatisfy { $0.excerpt.count < 200 })
        // Words beyond the eighth, and bytes beyond the 200th, do not count.
        #expect(!many.hits(for: String(repeating: "word ", count: 8) + "xyzzy").isEmpty)
        #expect(!many.hits(for: "word" + String(repeating: " ", count: 200) + "xyzzy").isEmpty)
        #expect(many.hits(for: String(repeating: "\u{1F600}", count: 100_000)).isEmpty)
    }

    @Test func testThatTheSearchPageEscapesWhatIsAskedFor() async throws {
        try await withWeb { web in
            // when
            let answer = try await web.send("GET", "/docs?q=%22%3E%3Cscript%3Ealert(1)%3C%2Fscript%3E")
            // then
            #expect(answer.status == 200)
            #expect(!answer.text.contains("<script>alert"))
            expectContains(answer.text, "No section has all of these words.")
        }
    }

    @Test func testThatTheSearchPageLeadsToItsSections() async throws {
        try await withWeb { web in
            // given
            let hit = try #require(ManualPages.ofProgram.hits(for: "threats webhook").first)
            // when
            let page = try await web.send("GET", "/docs?q=threats+webhook").text
            // then
            expectContains(page, "<a href=\"/docs/\(hit.page)#\(hit.anchor)\">")
        }
    }

    // MARK: What is generated

    /// `hooks/reference` renews what this finds out of date.
    @Test(
        .proves(
            .testsAndPages,
            "References of keys, commands and routes are made from schemas, help and the route table, and cannot drift"),
        .program("python3"))
    func testThatWhatIsGeneratedIsUpToDate() async throws {
        try await withWeb { web in
            // given
            try web.directory.write("openapi.json", try await web.json("/openapi.json"))
            // when
            let result = try await run([
                Project.root + "/hooks/reference", "--check", "--program", try TestTools.builtProduct("martlet"),
                "--openapi", web.directory.path("openapi.json"),
            ])
            // then
            #expect(result.status == 0, "\(result.stdout)\(result.stderr)")
        }
    }
}
