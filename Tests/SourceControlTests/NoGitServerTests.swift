import Basics
import Model
import SourceControl
import TestSupport
import Testing

/// Servers at an address of a repository that are no git servers, or that refuse requests.
@Suite struct NoGitServerTests {
    struct Answer: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let code: SourceControlError.Code
        let words: [String]
        var retryAfter: Duration?

        var text: String {
            testDescription.split(separator: "|").map { $0 + "\r\n" }.joined()
                + "Content-Length: 2\r\nConnection: close\r\n\r\nno"
        }
    }

    private static let again = "Martlet tries again later"

    @Test(
        .proves(.sourceControl, "An answer that is not from a git server is named; `Retry-After` is honored"),
        arguments: [
            Answer(
                testDescription: "HTTP/1.1 200 OK|Content-Type: text/html", code: .unreachable,
                words: ["a web page (text/html)", "the address that `git clone` takes", again]),
            Answer(
                testDescription: "HTTP/1.1 200 OK|Content-Type: text/plain", code: .unreachable,
                words: ["\"dumb\" protocol", "git http-backend", again]),
            Answer(testDescription: "HTTP/1.1 200 OK", code: .unreachable, words: ["without a content type", again]),
            Answer(
                testDescription: "HTTP/1.1 403 Forbidden", code: .credentialsMissing,
                words: ["private or does not exist", "martlet secret set git-127.0.0.1", "http status 403"]),
            Answer(
                testDescription: "HTTP/1.1 401 Unauthorized|WWW-Authenticate: Negotiate", code: .credentialsRefused,
                words: ["a way to sign in that Martlet does not have", "Negotiate"]),
            Answer(
                testDescription: "HTTP/1.1 404 Not Found", code: .repositoryNotFound,
                words: ["there is no repository, or these credentials cannot see it"]),
            Answer(
                testDescription: "HTTP/1.1 429 Too Many Requests|Retry-After: 120", code: .unreachable,
                words: ["limits requests", "again in 120 s, as it asks"], retryAfter: .seconds(120)),
            Answer(
                testDescription: "HTTP/1.1 503 Busy|Retry-After: 7", code: .unreachable,
                words: ["cannot answer at present, http status 503", "again in 7 s"], retryAfter: .seconds(7)),
            Answer(testDescription: "HTTP/1.1 502 Bad Gateway", code: .unreachable, words: ["http status 502", again]),
            Answer(
                testDescription: "HTTP/1.1 302 Found|Location: https://sso.example/login?x=secret", code: .redirected,
                words: ["what looks like a sign-in page", "https://sso.example/login", "martlet secret set"]),
            Answer(
                testDescription: "HTTP/1.1 301 Moved|Location: https://new.example/kit.git/info/refs",
                code: .redirected,
                words: ["redirects elsewhere", "https://new.example/kit.git", "write the new address"]),
            Answer(testDescription: "HTTP/1.1 299 Odd", code: .unreachable, words: ["http status 299", again]),
        ])
    func testThatAnAnswerSaysWhatItIsAndWhatToDo(_ answer: Answer) async throws {
        try await withTemporaryDirectory { directory in
            let text = answer.text
            try await ScriptedHTTPServer.serving({ _ in text }) { server in
                // given
                let url = try RemoteURL("http://127.0.0.1:\(server.port)/kit.git", isInsecureAllowed: true)
                let mirror = Mirrors(
                    directory: directory.path("mirrors"), configuration: GitConfiguration(files: []), engine: .library
                ).mirror(of: url)
                // when
                let found = await expectRejection(SourceControlError.self, \.code, answer.code) {
                    try await mirror.scan()
                }
                // then
                let error = try #require(found)
                for word in answer.words { expectContains("\(error)", word) }
                #expect(error.retryAfter == answer.retryAfter)
                #expect(!"\(error)".contains("secret=") && !"\(error)".contains("x=secret"))
            }
        }
    }
}
