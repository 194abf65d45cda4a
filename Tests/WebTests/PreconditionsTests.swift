import Model
import Testing

@testable import Web

@Suite struct PreconditionsTests {
    private static let tag = "\"abc\""
    private static let modified = Timestamp(secondsSinceEpoch: 784_111_777)

    @Test(arguments: [
        (Preconditions(), Preconditions.Judgment.send), (Preconditions(ifNoneMatch: tag), .notModified),
        (Preconditions(ifNoneMatch: "W/\"abc\""), .notModified), (Preconditions(ifNoneMatch: "*"), .notModified),
        (Preconditions(ifNoneMatch: "\"x\", \"abc\""), .notModified), (Preconditions(ifNoneMatch: "\"x\""), .send),
        (Preconditions(ifModifiedSince: "Sun, 06 Nov 1994 08:49:37 GMT"), .notModified),
        (Preconditions(ifModifiedSince: "Sun, 06 Nov 1994 08:49:36 GMT"), .send),
        (Preconditions(ifModifiedSince: "yesterday"), .send),
        // RFC 9110, 13.1.3: ignored beside If-None-Match.
        (Preconditions(ifNoneMatch: "\"x\"", ifModifiedSince: "Sun, 06 Nov 1994 08:49:37 GMT"), .send),
        (Preconditions(ifMatch: "\"x\""), .failed), (Preconditions(ifMatch: tag), .send),
        (Preconditions(ifMatch: "W/\"abc\""), .failed), (Preconditions(ifMatch: "*"), .send),
        (Preconditions(ifUnmodifiedSince: "Sun, 06 Nov 1994 08:49:36 GMT"), .failed),
    ])
    func testThatItJudgesAsTheRFCSays(conditions: Preconditions, expected: Preconditions.Judgment) {
        #expect(conditions.judge(entityTag: Self.tag, modified: Self.modified) == expected)
    }

    @Test(arguments: [
        (nil, true), (tag, true), ("\"x\"", false), ("W/\"abc\"", false), ("Sun, 06 Nov 1994 08:49:37 GMT", true),
        ("Sun, 06 Nov 1994 08:49:38 GMT", false),
    ])
    func testThatARangeIsOfTheSameBytes(ifRange: String?, expected: Bool) {
        let conditions = Preconditions(ifRange: ifRange)
        #expect(conditions.allowsRange(entityTag: Self.tag, modified: Self.modified) == expected)
    }

    @Test(arguments: [
        (0, "Thu, 01 Jan 1970 00:00:00 GMT"), (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"),
        (951_782_400, "Tue, 29 Feb 2000 00:00:00 GMT"), (4_107_542_399, "Sun, 28 Feb 2100 23:59:59 GMT"),
    ])
    func testThatADateIsReadAsItWasWritten(seconds: Int64, text: String) {
        #expect(HTTPDate.text(seconds) == text)
        #expect(HTTPDate.parse(text) == seconds)
    }
}
