import Model
import Transfer

/// How long a service wants to be left alone, by its `Retry-After`: seconds, or a date (RFC 9110, section 10.2.3).
enum RetryAfter {
    /// Where a service says that it is asked too often, but not for how long in a way that can be read (docs.github.com, "Rate limits for
    /// the REST API").
    static let usual = Duration.seconds(60)
    /// A day: who says more is asked all the same.
    private static let longest = Duration.seconds(86_400)

    /// - Returns: Nothing where it says nothing; nought for a date that has passed.
    static func duration(in headers: TransferHeaders, now: Timestamp) -> Duration? {
        guard let text = headers["retry-after"] else { return nil }
        if let seconds = Int64(text) { return seconds < 0 ? usual : .seconds(min(seconds, 86_400)) }
        guard let date = HTTPDate.parse(text) else { return usual }
        return min(max(.zero, Timestamp(secondsSinceEpoch: date) - now), longest)
    }
}
