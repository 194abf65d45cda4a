import Model
import TestSupport
import Testing

@testable import Web

/// Times in requests (RFC 3339, section 5.6).
@Suite struct RequestTimeTests {
    @Test(arguments: [
        ("2026-12-31T12:00:00Z", "2026-12-31T12:00:00.000Z"), ("2026-12-31t12:00:00.5z", "2026-12-31T12:00:00.500Z"),
        ("2026-12-31T12:00:00.123456-23:59", "2027-01-01T11:59:00.123Z"),
        ("2026-12-31T00:30:00+01:00", "2026-12-30T23:30:00.000Z"), ("2024-02-29T00:00:00Z", "2024-02-29T00:00:00.000Z"),
        ("0593-09-01T17:02:54+09:00", "0593-09-01T08:02:54.000Z"), ("0000-02-29T00:00:00Z", "0000-02-29T00:00:00.000Z"),
        ("1900-03-01T00:00:00Z", "1900-03-01T00:00:00.000Z"), ("9999-12-31T23:59:59.999Z", "9999-12-31T23:59:59.999Z"),
        ("2016-12-31T23:59:60Z", "2017-01-01T00:00:00.000Z"),
    ])
    func testThatADateTimeIsRead(text: String, expected: String) {
        #expect(Timestamp(rfc3339: text)?.description == expected)
    }

    @Test(arguments: [
        "", "tomorrow", "2026-12-31", "2026-12-31 12:00:00Z", "2026-12-31T12:00:00", "2026-12-31T12:00:00Zx",
        "2026-02-30T00:00:00Z", "1900-02-29T00:00:00Z", "2025-02-29T00:00:00Z", "2026-13-01T00:00:00Z",
        "2026-12-31T24:00:00Z",
        "2026-12-31T12:00:00+24:00", "2026-12-31T12:00:00.Z", "２026-12-31T12:00:00Z",
        "2026-12-31T12:00:00." + String(repeating: "1", count: 100) + "Z",
    ])
    func testThatAnotherTextIsNone(text: String) {
        #expect(Timestamp(rfc3339: text) == nil)
    }
}
