import Settings
import Testing

@Suite struct SuggestionTests {
    @Test(
        arguments: [
            ("brnches", "branches"), ("Branches", "branches"), ("tag", "tags"), ("repostiory", "repository"),
            ("xyz", nil),
            ("", nil), ("branchesbranchesbranches", "branches"), (String(repeating: "b", count: 10_000), nil),
        ] as [(String, String?)])
    func testThatItFindsTheWordThatWasMeant(_ word: String, _ expected: String?) {
        #expect(Suggestion.nearest(word, in: ["repository", "branches", "tags", "poll"]) == expected)
    }
}
