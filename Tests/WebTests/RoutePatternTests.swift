import Testing

@testable import Web

@Suite struct RoutePatternTests {
    private static let pattern = RoutePattern("/api/v1/bots/{bot}")

    @Test func testThatItGivesTheParameters() {
        #expect(Self.pattern.match("/api/v1/bots/kit") == ["bot": "kit"])
        #expect(
            RoutePattern("/files/{p}/{v}/{f...}").match("/files/kit/%7E1.4/a/b%20c") == [
                "p": "kit", "v": "~1.4", "f": "a/b c",
            ])
        #expect(RoutePattern("/files/").match("/files/") == [:])
    }

    /// A protected route has one spelling.
    @Test(arguments: [
        "/api/v1/bots//kit", "//api/v1/bots/kit", "/api/./v1/bots/kit", "/api/v1/../v1/bots/kit", "/API/v1/bots/kit",
        "/api/v1/bots/kit/", "/api/v1;x/bots/kit", "/api/%76%31/bots/kit", "/api/v1/bots/", "/api/v1/bots",
        "api/v1/bots/kit", "/api/v1/bots/kit/x", "",
    ])
    func testThatAnotherSpellingIsAnotherPath(path: String) {
        #expect(Self.pattern.match(path) == nil)
    }

    @Test(arguments: [
        "..", ".", "%2e%2e", "%2E.", "..%2f..%2fetc", "a%2fb", "a%5cb", "a\\b", "a%00b", "%0a", "%c0%ae%c0%ae", "%ff",
        "%",
        "%2", "%zz", "%7f", "%C2%85", String(repeating: "a", count: 256),
    ])
    func testThatASegmentIsNoPath(segment: String) {
        #expect(RoutePattern("/files/{name}").match("/files/" + segment) == nil)
        #expect(RoutePattern("/files/{rest...}").match("/files/x/" + segment) == nil)
    }

    @Test func testThatAnEndlessPathIsRefused() {
        #expect(RoutePattern("/{a...}").match("/" + String(repeating: "a/", count: 4000)) == nil)
    }
}

extension RoutePattern {
    /// Returns the parameters of a whole path; `nil` if it does not match.
    fileprivate func match(_ path: String) -> [String: String]? { Self.segments(of: path).flatMap { match($0) } }
}
