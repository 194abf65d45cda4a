import CLibGit2
import TestSupport
import Testing

@testable import SourceControl

@Suite struct HTTPAnswerTests {
    private static func answer(_ lines: String...) throws(HTTPFailure) -> HTTPAnswer {
        var answer = HTTPAnswer()
        for line in lines { try answer.take(Array("\(line)\r\n".utf8)) }
        return answer
    }

    @Test func testThatAnAnswerThatIsOnlyAnnouncedIsNoneYet() throws {
        let announced = try Self.answer("HTTP/1.1 103 Early Hints", "Content-Type: text/html", "Location: /x", "")
        #expect(!announced.isWhole)
        let answer = try Self.answer(
            "HTTP/1.1 100 Continue", "Content-Type: text/html", "", "HTTP/1.1 200 OK", "content-TYPE: \t x/y ", "")
        #expect(answer.isWhole)
        #expect(try answer.verdict(expecting: "x/y") == .body)
        #expect(throws: HTTPFailure.self) { try answer.verdict(expecting: "x/z") }
    }

    @Test func testThatFieldsAfterTheBodyChangeNothing() throws {
        let answer = try Self.answer(
            "HTTP/1.1 200 OK", "Content-Type: x/y", "", "Content-Type: text/html", "HTTP/1.1 301 Moved", "")
        #expect(try answer.verdict(expecting: "x/y") == .body)
    }

    @Test(arguments: [
        (["Basic realm=\"x\""], true), (["BASIC"], true), (["Negotiate, Basic realm=\"x\", charset=\"UTF-8\""], true),
        (["Negotiate", "Basic realm=\"x\""], true), (["Digest realm=\"x\", qop=\"auth\""], false),
        (["Bearer basic"], false),
        (["Basically x"], false), ([""], false), ([], false),
    ])
    func testWhoAsksForAPassword(_ challenges: [String], _ isAsking: Bool) throws {
        var answer = HTTPAnswer()
        try answer.take(Array("HTTP/1.1 401 Unauthorized\r\n".utf8))
        for challenge in challenges { try answer.take(Array("WWW-Authenticate: \(challenge)\r\n".utf8)) }
        try answer.take(Array("\r\n".utf8))
        if isAsking {
            #expect(try answer.verdict(expecting: "x/y") == .credentialsAsked)
        } else {
            let failure = #expect(throws: HTTPFailure.self) { try answer.verdict(expecting: "x/y") }
            #expect(failure?.result == GIT_EAUTH.rawValue)
        }
    }

    @Test(
        .proves(
            .sourceControl,
            "A wrong answer over http is reported and traps nothing. A pack of any size takes 256 KiB of memory, and the server is not given up while libgit2 works"
        ),
        arguments: [
            (200, SourceControlError.Code.unreachable), (204, .unreachable), (206, .unreachable), (300, .redirected),
            (304, .redirected), (399, .redirected), (400, .unreachable), (403, .credentialsRefused),
            (404, .repositoryNotFound),
            (407, .unreachable), (410, .repositoryNotFound), (503, .unreachable), (999, .unreachable),
        ])
    func testWhatAStatusMeans(_ status: Int, _ code: SourceControlError.Code) throws {
        let answer = try Self.answer("HTTP/1.1 \(status) Whatever", "")
        #expect(answer.isWhole)
        let failure = #expect(throws: HTTPFailure.self) { try answer.verdict(expecting: "x/y") }
        #expect(failure?.code == code)
    }

    @Test(arguments: [
        ("https://new.example/a/b/info/refs?service=x", "https://new.example/a/b"), ("/b/git-upload-pack#x", "/b"),
        ("", ""),
        ("http://u:p@h:1/x@y?u:p", "http://h:1/x@y"), ("//u@h", "//h"), ("@@//@@", "@@//"), ("?", ""),
    ])
    func testWhatIsShownOfARedirect(_ location: String, _ shown: String) throws {
        let answer = try Self.answer("HTTP/1.1 302 Found", "Location: \(location)", "")
        let failure = #expect(throws: HTTPFailure.self) { try answer.verdict(expecting: "x/y") }
        #expect(failure?.said == "http status 302 to \(shown)")
    }

    @Test(
        .proves(.sourceControl, "An answer that is not from a git server is named; `Retry-After` is honored"),
        arguments: [
            ("120", 120), ("0", 0), ("99999999", 3600), ("Sun, 06 Nov 1994 08:49:37 GMT", 30),
            ("Sun, 06 Nov 1994 08:00:00 GMT", 0),
            ("-1", nil), ("soon", nil), ("", nil),
        ] as [(String, Int?)])
    func testHowLongAServerWantsNotToBeAsked(_ text: String, _ seconds: Int?) throws {
        let answer = try Self.answer("HTTP/1.1 429 Too Many Requests", "Retry-After: \(text)", "")
        #expect(answer.pause(at: 784_111_747) == seconds.map { .seconds($0) })
    }

    @Test(
        arguments: [
            ([], .credentialsRefused, nil), (["X-RateLimit-Remaining: 59"], .credentialsRefused, nil),
            (["Retry-After: 60"], .unreachable, 60), (["x-ratelimit-remaining: 0"], .unreachable, nil),
            (["X-RateLimit-Remaining: 0", "X-RateLimit-Reset: 784111777"], .unreachable, 30),
            (["X-RateLimit-Remaining: 0", "X-RateLimit-Reset: 9223372036854775807"], .unreachable, 3600),
            (["X-RateLimit-Remaining: 0", "X-RateLimit-Reset: -1"], .unreachable, nil),
        ] as [([String], SourceControlError.Code, Int?)])
    func testThatStatus403OfAServerThatIsAskedTooOftenPasses(
        _ fields: [String], _ code: SourceControlError.Code, _ seconds: Int?
    ) throws {
        // given
        var answer = HTTPAnswer()
        for line in ["HTTP/1.1 403 Forbidden"] + fields + [""] { try answer.take(Array("\(line)\r\n".utf8)) }
        // when
        let failure = #expect(throws: HTTPFailure.self) { try answer.verdict(expecting: "x/y") }
        // then
        #expect(failure?.code == code)
        #expect(answer.pause(at: 784_111_747) == seconds.map { .seconds($0) })
    }

    @Test(
        .proves(.sourceControl, "An answer that is not from a git server is named; `Retry-After` is honored"),
        arguments: [
            ("text/html; charset=utf-8", "a web page (text/html; charset=utf-8)"),
            ("text/plain", "git's old \"dumb\" protocol"),
            ("application/octet-stream", "git's old \"dumb\" protocol"),
            ("application/json", "something (application/json)"),
            (nil, "without a content type"),
        ] as [(String?, String)])
    func testThatAnAnswerThatIsNoneOfGitsIsNamed(_ type: String?, _ words: String) throws {
        let lines = ["HTTP/1.1 200 OK"] + (type.map { ["Content-Type: \($0)"] } ?? []) + [""]
        var answer = HTTPAnswer()
        for line in lines { try answer.take(Array("\(line)\r\n".utf8)) }
        let failure = #expect(throws: HTTPFailure.self) { try answer.verdict(expecting: "x/y") }
        #expect(failure?.said?.contains(words) == true, "\(failure?.said ?? "")")
    }

    @Test(arguments: [
        "HTTP/1.1", "HTTP/1.1 ", "HTTP/1.1 -1 x", "HTTP/1.1 99999999999999999999 x", "HTTP/", ": ", ":", "a",
    ])
    func testThatRubbishIsNoAnswer(_ line: String) throws {
        #expect(try !Self.answer(line, "").isWhole)
    }

    @Test(
        .proves(
            .sourceControl,
            "A wrong answer over http is reported and traps nothing. A pack of any size takes 256 KiB of memory, and the server is not given up while libgit2 works"
        ))
    func testThatAHeadHasALimitHoweverManyAnnounceIt() throws {
        var answer = HTTPAnswer()
        let failure = #expect(throws: HTTPFailure.self) {
            for _ in 0...HTTPAnswer.maximumHead / 40 {
                for line in ["HTTP/1.1 100 Continue\r\n", "X: 0123456789abcd\r\n", "\r\n"] {
                    try answer.take(Array(line.utf8))
                }
            }
        }
        #expect(failure?.code == .unreachable)
    }
}
