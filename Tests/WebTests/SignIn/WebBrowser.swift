import Encodings
import Model
import Testing

@testable import Web

/// A browser that has signed in: it keeps cookies, and sends forms as pages do.
final class WebBrowser {
    let web: WebFixture
    /// The cookies by name.
    private(set) var cookies: [String: String] = [:]
    private(set) var csrf = ""
    /// Headers of every request, such as those of a proxy.
    var headers: [(String, String)] = []

    init(_ web: WebFixture) { self.web = web }

    /// Signs in with the fixture's token of a role.
    static func signedIn(_ web: WebFixture, as role: Role) async throws -> WebBrowser {
        try await signedIn(web, with: try #require(web.tokens[role]))
    }

    /// Signs in with a token.
    static func signedIn(_ web: WebFixture, with token: BearerToken) async throws -> WebBrowser {
        let browser = WebBrowser(web)
        let answer = try await browser.post("/sign-in", ["token": token.secret, "next": "/"])
        #expect(answer.status == 303, "\(answer.text)")
        try await browser.readToken()
        return browser
    }

    /// Reads the form token from the page of sessions.
    func readToken() async throws {
        let page = try await get("/sessions")
        let parts = page.text.pieces("name=\"csrf\" value=\"")
        csrf = String(try #require(parts.dropFirst().first, "\(page.text)").prefix { $0 != "\"" })
    }

    func get(_ path: String) async throws -> RawAnswer {
        keep(try await web.send("GET", path, headers: all + [("Accept", "text/html")]))
    }

    /// Sends a form from a page of the service.
    /// - Parameters:
    ///   - csrf: The form's token; by default the session's.
    ///   - origin: Further headers; by default those of a form of the service's own page.
    func post(
        _ path: String, _ fields: KeyValuePairs<String, String> = [:], csrf: String? = nil,
        origin: [(String, String)] = [("Origin", "http://127.0.0.1")]
    ) async throws -> RawAnswer {
        try await send(path, fields.map { ($0.key, $0.value) }, csrf: csrf, origin: origin)
    }

    /// Sends a form; see `post`.
    func send(
        _ path: String, _ fields: [(String, String)], csrf: String? = nil,
        origin: [(String, String)] = [("Origin", "http://127.0.0.1")]
    ) async throws -> RawAnswer {
        let fields = fields + [("csrf", csrf ?? self.csrf)]
        let body = fields.map { "\(PercentEncoding.encode($0.0))=\(PercentEncoding.encode($0.1))" }
            .joined(separator: "&")
        let type = [("Content-Type", "application/x-www-form-urlencoded"), ("Accept", "text/html")]
        return keep(try await web.send("POST", path, headers: all + origin + type, body: Array(body.utf8)))
    }

    /// Sends a form, follows the redirect, and returns the message of the page.
    func act(_ path: String, _ fields: KeyValuePairs<String, String> = [:]) async throws -> String {
        let answer = try await post(path, fields)
        #expect(answer.status == 303, "\(path): \(answer.text)")
        let place = try #require(answer["Location"])
        let page = try await get(String(place.prefix { $0 != "#" }))
        #expect(page.status == 200, "\(place): \(page.text)")
        return String(page.text.pieces("role=\"status\">").dropFirst().first?.prefix { $0 != "<" } ?? "")
    }

    func set(_ cookie: String, _ value: String?) { cookies[cookie] = value }

    var all: [(String, String)] {
        let pairs = cookies.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
        return headers + (pairs.isEmpty ? [] : [("Cookie", pairs.joined(separator: "; "))])
    }

    private func keep(_ answer: RawAnswer) -> RawAnswer {
        for header in answer.headers where header.name.lowercased() == "set-cookie" {
            let pair = header.value.prefix { $0 != ";" }.split(separator: "=", maxSplits: 1)
            let isRemoved = header.value.contains("Max-Age=0")
            cookies[String(pair[0])] = isRemoved || pair.count < 2 ? nil : String(pair[1])
        }
        return answer
    }
}

/// Expects that a text does not contain another.
func expectLacks(_ text: String, _ part: String, sourceLocation: SourceLocation = #_sourceLocation) {
    if text.contains(part) {
        Issue.record("\(part) is in \(text.prefix(2000))", sourceLocation: sourceLocation)
    }
}
