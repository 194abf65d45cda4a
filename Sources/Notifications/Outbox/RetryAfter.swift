package import Model
package import Transfer

/// Reads the pause that a service asks for by `Retry-After`: seconds, or a date (RFC 9110, section 10.2.3).
package enum RetryAfter {
    /// The pause if a service states that it is asked too often, but no valid time (docs.github.com, "Rate limits for the REST API").
    package static let usual = Duration.seconds(60)
    /// The longest pause, a day. A longer one is shortened to this.
    private static let longest = Duration.seconds(86_400)

    /// Returns the pause. `nil` without the header; zero for a date that has passed.
    package static func duration(in headers: TransferHeaders, now: Timestamp) -> Duration? {
        guard let text = headers["retry-after"] else { return nil }
        if let seconds = Int64(text) { return seconds < 0 ? usual : .seconds(min(seconds, 86_400)) }
        guard let date = HTTPDate.parse(text) else { return usual }
        return min(max(.zero, Timestamp(secondsSinceEpoch: date) - now), longest)
    }
}
