import HTTPTypes
import Model
import TestSupport
import Testing

@testable import Web

/// Pages run and load only their own files, and cannot be framed.
@Suite struct A19FramesTests {
    private static let pages = [
        "/", "/queue", "/screen", "/bots/kit", "/bots/kit/1", "/bots/kit/2", "/bots/kit/3", "/bots/kit/tests",
        "/bots/kit/silences", "/bots/kit/1/tests",
        "/bots/kit/1/log/debug", "/bots/kit/tests/history?name=KitTests.ParserTests%2FparsesAnEmptyLine()", "/products",
        "/products/kit",
        "/products/kit/1.0.0", "/deliveries", "/outbox", "/files/", "/files/kit/", "/files/kit/1.0.0/", "/none",
        "/bots/none", "/files/none/",
    ]

    @Test func testA19ThatEveryPageIsItsOwnAlone() async throws {
        try await withWeb { web in
            try await SampleContent(web: web).fill()
            for path in Self.pages {
                let answer = try await web.send("GET", path, as: .viewer, headers: [("Accept", "text/html")])
                #expect(answer["Content-Type"]?.hasPrefix("text/html") == true, "\(path): \(answer.headers)")
                let policy = answer["Content-Security-Policy"] ?? ""
                for part in [
                    "default-src 'none'", "frame-ancestors 'none'", "base-uri 'none'", "script-src 'self'",
                    "style-src 'self'",
                ] {
                    expectContains(policy, part)
                }
                #expect(
                    !policy.contains("unsafe") && !policy.contains("*") && !policy.contains("data:")
                        && !policy.contains("http"), "\(path)")
                #expect(answer["X-Content-Type-Options"] == "nosniff")
                #expect(answer["X-Frame-Options"] == "DENY")
                #expect(["same-origin", "no-referrer"].contains(answer["Referrer-Policy"]))
                let page = answer.text
                for match in page.matches(of: /(?:src|href|action)="([^"]*)"/) {
                    let isLoaded = match.0.hasPrefix("src") || match.0.hasPrefix("action")
                    #expect(!isLoaded || (match.1.hasPrefix("/") && !match.1.hasPrefix("//")), "\(path): \(match.0)")
                }
                for match in page.matches(of: /<link[^>]*href="([^"]*)"/) {
                    #expect(match.1.hasPrefix("/") && !match.1.hasPrefix("//"), "\(path): \(match.0)")
                }
                #expect(page.matches(of: /<script(?![^>]*src=)[^>]*>/).isEmpty, "\(path): a script of its own")
                #expect(page.matches(of: /<style|\sstyle="|\son[a-z]+="|javascript:/).isEmpty, "\(path)")
                #expect(page.matches(of: /<(?:iframe|object|embed|base|meta http-equiv)/).isEmpty, "\(path)")
            }
        }
    }

    @Test func testA19ThatEveryAnswerSaysWhatItIs() async throws {
        try await withWeb { web in
            for route in web.table.routes where !route.pattern.description.hasSuffix("/events") {
                for accept in ["text/html", "*/*"] {
                    let answer = try await web.send(
                        route.method.rawValue, A02RoleTests.path(of: route), as: .admin, headers: [("Accept", accept)])
                    #expect(answer["X-Content-Type-Options"] == "nosniff", "\(route.pattern)")
                    #expect(
                        answer["Content-Security-Policy"]?.contains("frame-ancestors 'none'") == true,
                        "\(route.pattern)")
                    #expect(answer["Content-Security-Policy"]?.contains("unsafe") == false, "\(route.pattern)")
                    #expect(answer["X-Frame-Options"] == "DENY" && answer["Referrer-Policy"] != nil, "\(route.pattern)")
                }
            }
        }
    }
}
