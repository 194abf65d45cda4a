import Settings
import TestSupport
import Testing

@Suite struct SuggestionTests {
    @Test(
        .proves(.settings, "Unknown keys get a \"did you mean\""),
        arguments: [
            ("brnches", "branches"), ("Branches", "branches"), ("tag", "tags"), ("repostiory", "repository"),
            ("xyz", nil),
            ("", nil), ("branchesbranchesbranches", "branches"), (String(repeating: "b", count: 10_000), nil),
        ] as [(String, String?)])
    func testThatItFindsTheWordThatWasMeant(_ word: String, _ expected: String?) {
        #expect(Suggestion.nearest(word, in: ["repository", "branches", "tags", "poll"]) == expected)
    }
}
