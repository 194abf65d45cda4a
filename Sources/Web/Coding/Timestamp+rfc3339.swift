import Foundation
import Model

extension Timestamp {
    /// Reads a date-time of RFC 3339, section 5.6, such as `2026-12-31T12:00:00Z` and `2026-12-31t13:00:00.5+01:00`. Digits beyond milliseconds are
    /// dropped.
    /// - Returns: `nil` for another text, and for a day that the calendar does not have.
    init?(rfc3339 text: String) {
        let form =
            /([0-9]{4}-[0-9]{2}-[0-9]{2}T([01][0-9]|2[0-3]):[0-5][0-9]:([0-5][0-9]|60))([.][0-9]+)?(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9])/
        guard text.utf8.count <= 64, let match = text.uppercased().wholeMatch(of: form),
            let date = try? Date(String(match.1) + "Z", strategy: .iso8601)
        else { return nil }
        let day = Timestamp(secondsSinceEpoch: Int64(clamping: date.timeIntervalSince1970))
        // Foundation reads 30 February as 2 March.
        guard day.description.prefix(10) == match.1.prefix(10) || match.3 == "60" else { return nil }
        let thousandths = (match.4.map { $0.dropFirst().prefix(3) } ?? "").padding(
            toLength: 3, withPad: "0", startingAt: 0)
        var offset = Duration.zero
        if match.5 != "Z" {
            let parts = match.5.dropFirst().split(separator: ":").compactMap { Int64($0) }
            offset = .seconds((parts.first ?? 0) * 3600 + (parts.last ?? 0) * 60)
            if match.5.hasPrefix("+") { offset = .zero - offset }
        }
        self = day + offset + .milliseconds(Int64(thousandths) ?? 0)
    }
}
