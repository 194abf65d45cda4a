/// The offsets of a time zone from UTC. `Settings.TimeZones` makes those of a zone of the time zone database.
package struct ZoneRules: Sendable {
    private let offset: @Sendable (_ moment: Int64) -> Int

    package static let utc = ZoneRules { _ in 0 }

    /// - Parameter offset: Returns the offset from UTC in seconds at a moment, in seconds since 1970. An offset is less than a day.
    package init(offset: @escaping @Sendable (_ moment: Int64) -> Int) { self.offset = offset }

    /// Returns the offset from UTC in seconds.
    /// - Parameter moment: Seconds since 1970.
    func offset(at moment: Int64) -> Int { offset(moment) }

    /// Returns the first moment at which clocks show a local time. If they skip it, returns the first moment after the gap.
    /// - Parameter local: The local time in seconds since 1970, as if it were UTC.
    func moment(of local: Int64) -> Int64 {
        let day: Int64 = 86_400
        let before = offset(at: local - day)
        let after = offset(at: local + day)
        let candidates = [local - Int64(max(before, after)), local - Int64(min(before, after))]
        if let moment = candidates.first(where: { $0 + Int64(offset(at: $0)) == local }) { return moment }
        // Clocks jump from below `local` to above it at one moment in this interval.
        var (low, high) = (candidates[0] - day, candidates[1] + day)
        while high - low > 1 {
            let middle = (low + high) / 2
            if middle + Int64(offset(at: middle)) < local { low = middle } else { high = middle }
        }
        return high
    }
}
