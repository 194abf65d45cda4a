import Encodings
import HTTPTypes
import Model
import Storage
import TestSupport
import Testing

@testable import Web

/// Text that other parsers execute, in every filter, search and name.
@Suite struct A15NaughtyStringsTests {
    private static let strings = [
        "' OR '1'='1", "'; DROP TABLE tokens; --", "\" OR \"\"=\"", "1; SELECT 1",
        "x') UNION SELECT hash FROM tokens --", "%", "_", "%%%",
        "\\", "\\'", "NULL", "null", "undefined", "nil", "NaN", "-1", "0", "9223372036854775807", "9223372036854775808",
        "-9223372036854775808", "1e400", "0x10", "1/0", "true", "../../../../etc/passwd", "`id`", "$(id)", "{{7*7}}",
        "<script>alert(1)</script>",
        "*", "a* OR b", "\"a\" NEAR b", "MATCH", "{\"a\":1}", "[]", "\u{202E}abc", "\u{0}", "\u{1F600}", "ÅÄÖ",
        "e\u{301}", "\u{FEFF}", "\r\nX-A: b",
        String(repeating: "a", count: 1000), String(repeating: "%27", count: 300),
        String(repeating: "\u{1F600}", count: 60),
    ]
    private static let texts = [
        "branch", "ref", "commit", "state", "status", "category", "query", "name", "outcome", "configuration", "forge",
        "url", "swift-version",
        "step", "bot",
    ]
    private static let numbersLike = [
        "-1", "0", "9223372036854775807", "9223372036854775808", "-9223372036854775808", "1e400", "0x10", "' OR 1=1 --",
        "NaN", "\u{0}",
    ]
    private static let numbers = ["limit", "before", "after", "attempt", "from", "integrations"]

    private static func gets(_ web: WebFixture) -> [Route] {
        // `/ready` answers 503 while no service works behind the pages.
        web.table.routes.filter {
            $0.method == .get && !$0.pattern.description.hasSuffix("/events") && $0.pattern.description != "/ready"
        }
    }

    /// Returns every fourth item, from another beginning for each text. So each route gets a quarter of the texts, and each text a quarter of the
    /// routes. All of them with all would be 11,000 requests.
    private static func share<Item>(_ items: [Item], of text: String) -> [Item] {
        let first = (strings + numbersLike).firstIndex(of: text) ?? 0
        return items.enumerated().filter { ($0.offset + first) % 4 == 0 }.map(\.element)
    }

    private static func real(_ route: Route) -> String {
        A02RoleTests.path(of: route).replacing("/log/nobody", with: "/log/debug").replacing("nobody", with: "kit")
            .replacing("9.9.9", with: "1.0.0").replacing("/7", with: "/1")
    }

    private static func expectOrderly(_ web: WebFixture, _ path: String) async throws {
        let answer = try await web.send("GET", path, as: .admin)
        #expect((200..<500).contains(answer.status), "\(path.prefix(300)): \(answer.status) \(answer.text.prefix(300))")
        #expect(!answer.text.contains("SQLite") && !answer.text.contains("syntax error"), "\(path.prefix(300))")
    }

    @Test(arguments: strings) func testA15ThatNoFilterFailsByItsText(_ text: String) async throws {
        try await withWeb { web in
            try await SampleContent(web: web).fill()
            let value = PercentEncoding.encode(text)
            for route in Self.share(Self.gets(web), of: text) {
                let path = Self.real(route)
                try await Self.expectOrderly(
                    web, path + "?" + Self.texts.map { "\($0)=\(value)" }.joined(separator: "&"))
            }
            #expect(try await web.store.tokens().count == Role.allCases.count)
        }
    }

    @Test(arguments: numbers) func testA15ThatNoNumberFailsByItsText(_ name: String) async throws {
        try await withWeb { web in
            try await SampleContent(web: web).fill()
            for text in Self.numbersLike {
                for route in Self.share(Self.gets(web), of: text) {
                    try await Self.expectOrderly(
                        web, "\(Self.real(route))?\(name)=\(PercentEncoding.encode(text))&name=a")
                }
            }
        }
    }

    @Test(arguments: strings) func testA15ThatNoNameInAPathFailsByItsText(_ text: String) async throws {
        try await withWeb { web in
            try await SampleContent(web: web).fill()
            let value = PercentEncoding.encode(text)
            let routes = web.table.routes.filter { !$0.pattern.description.hasSuffix("/events") }
            for route in Self.share(routes, of: text) {
                let parts = route.pattern.description.split(separator: "/", omittingEmptySubsequences: false).map(
                    String.init)
                let real = Self.real(route).split(separator: "/", omittingEmptySubsequences: false).map(String.init)
                for place in parts.indices where parts[place].hasPrefix("{") {
                    var path = real
                    path[place] = value
                    let answer = try await web.send(route.method.rawValue, path.joined(separator: "/"), as: .admin)
                    #expect(
                        (200..<500).contains(answer.status) || answer.status == 503,
                        "\(route.method) \(path): \(answer.status) \(answer.text.prefix(300))")
                    #expect(!answer.text.contains("SQLite"))
                }
            }
            #expect(try await web.store.integrations().items.count == 3)
        }
    }

    /// A filter is compared, never executed: none of these finds a row.
    @Test func testA15ThatAFilterIsComparedAsText() async throws {
        try await withWeb { web in
            try await SampleContent(web: web).fill()
            #expect(try await web.json("/api/v1/integrations").pieces("\"number\":").count > 3)
            for text in ["' OR '1'='1", "x') OR ('1'='1", "%", "_%", "main' --", "*"] {
                let value = PercentEncoding.encode(text)
                for path in [
                    "/api/v1/bots/kit/integrations?ref=\(value)",
                    "/api/v1/bots/kit/integrations?ref=refs%2Fheads%2F\(value)",
                    "/api/v1/bots/kit/tests?query=\(value)", "/api/v1/bots/kit/tests/flaky?branch=\(value)",
                ] {
                    let answer = try await web.send("GET", path)
                    #expect(
                        answer.status == 400 || answer.text.contains("\"items\":[]"),
                        "\(path): \(answer.text.prefix(300))")
                }
                try await web.expect(404, "GET", "/api/v1/bots/kit/tests/history?name=\(value)")
            }
        }
    }
}
