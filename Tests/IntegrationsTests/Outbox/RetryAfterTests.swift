import Model
import TestSupport
import Testing
import Transfer

@testable import Integrations
@testable import Notifications

@Suite struct RetryAfterTests {
    /// 2026-03-01 12:00 UTC.
    private static let noon = Timestamp(millisecondsSinceEpoch: 1_772_366_400_000)

    @Test(
        .proves(.intake, "A destination is left alone for as long as its `Retry-After` says, in seconds or as a date"),
        arguments: [
            ("0", 0), ("90", 90), ("9999999", 86_400), ("Sun, 01 Mar 2026 12:02:00 GMT", 120),
            ("Sun, 01 Mar 2026 11:59:59 GMT", 0), ("Mon, 01 Mar 2027 12:00:00 GMT", 86_400),
            // A value that cannot be read at least means a request to pause.
            ("-1", 60), ("soon", 60), ("", 60), ("Sunday, 01-Mar-26 12:02:00 GMT", 60),
        ])
    func testThatItIsSecondsOrADate(_ text: String, _ seconds: Int) {
        #expect(RetryAfter.duration(in: ["Retry-After": text], now: Self.noon) == .seconds(seconds))
    }

    @Test func testThatNothingIsNothing() {
        #expect(RetryAfter.duration(in: [:], now: Self.noon) == nil)
    }
}
