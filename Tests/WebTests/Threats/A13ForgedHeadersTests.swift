import HTTPTypes
import Model
import TestSupport
import Testing

@testable import Web

/// Headers that claim the origin of a request, or the target of an answer. The host itself is in `ServedHostsTests`; their effect on limits is in
/// `FailedLoginsTests`.
@Suite struct A13ForgedHeadersTests {
    private static let forged = [
        ("X-Forwarded-Host", "evil.example"), ("X-Forwarded-Proto", "gopher"), ("X-Forwarded-For", "203.0.113.77"),
        ("X-Forwarded-Prefix", "/evil.example"), ("Forwarded", "for=203.0.113.77;host=evil.example;proto=gopher"),
        ("X-Original-URL", "/api/v1/tokens"), ("X-Rewrite-URL", "/api/v1/tokens"), ("X-Host", "evil.example"),
        ("X-HTTP-Method-Override", "DELETE"), ("X-Real-IP", "203.0.113.77"), ("Referer", "https://evil.example/"),
        ("X-Forwarded-Server", "evil.example"), ("X-Forwarded-Port", "4711"),
    ]

    @Test func testA13ThatForgedHeadersChangeNothingOfAnAnswer() async throws {
        try await withWeb { web in
            try await SampleContent(web: web).fill()
            for route in web.table.routes
            where route.method == .get && !route.pattern.description.hasSuffix("/events")
                && route.pattern.description != "/metrics"
            {
                let path = A02RoleTests.path(of: route).replacing("nobody", with: "kit").replacing(
                    "9.9.9", with: "1.0.0"
                )
                .replacing("/7", with: "/1")
                for accept in ["text/html", "application/json"] {
                    let plain = try await web.send("GET", path, as: .viewer, headers: [("Accept", accept)])
                    let answer = try await web.send(
                        "GET", path, as: .viewer, headers: Self.forged + [("Accept", accept)])
                    #expect(answer.status == plain.status, "\(path)")
                    #expect(answer.body == plain.body, "\(path)")
                    #expect(answer.lines(without: "date") == plain.lines(without: "date"), "\(path)")
                    #expect(!answer.text.contains("evil.example") && !answer.text.contains("203.0.113.77"), "\(path)")
                }
            }
            #expect(!web.logText.contains("evil.example") && !web.logText.contains("203.0.113.77"))
        }
    }

    @Test(arguments: [
        "//evil.example", "/\\evil.example", "https:evil.example", "https://evil.example", "%2f%2fevil.example",
        "/%09/evil.example",
    ])
    func testA13ThatARedirectLeadsToAPathOfTheService(_ place: String) async throws {
        try await withWeb { web in
            try await SampleContent(web: web).fill()
            var redirects = 0
            for path in [
                "/files/kit/latest/kit-source.tar.gz", "/files/kit/latest/", "/files/kit", "/files/kit/1.0.0", "/files",
                "/files/kit/latest", "/files/kit/~1.0/kit-source.tar.gz", "/bots/kit/latest",
                "/files/kit/latest/\(place)",
                "/files/\(place)", place, "/\(place)",
            ] {
                for query in ["", "?next=\(place)", "?redirect=\(place)&url=\(place)&return_to=\(place)"] {
                    let answer = try await web.send(
                        "GET", path + query, headers: [("X-Forwarded-Host", "evil.example")])
                    guard let location = answer["Location"] else { continue }
                    redirects += 1
                    #expect(
                        location.hasPrefix("/") && !location.hasPrefix("//") && !location.contains("\\"),
                        "\(path): \(location)")
                    #expect(!location.contains("evil.example"), "\(path): \(location)")
                }
            }
            #expect(redirects > 3, "there are redirects to look at")
        }
    }
}
