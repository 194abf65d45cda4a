/// The offsets of a time zone, from a file of the system's time zone database (RFC 9636, versions 2 to 4).
package struct ZoneRules: Hashable, Sendable {
    /// The moments from which the offsets with the same indices hold, in seconds since 1970, ascending.
    private let moments: [Int64]
    private let offsets: [Int]
    /// The offset before the first moment.
    private let firstOffset: Int
    /// The rule after the last moment.
    private let footer: ZoneFooter?

    package static let utc = ZoneRules(moments: [], offsets: [], firstOffset: 0, footer: nil)

    private init(moments: [Int64], offsets: [Int], firstOffset: Int, footer: ZoneFooter?) {
        (self.moments, self.offsets, self.firstOffset, self.footer) = (moments, offsets, firstOffset, footer)
    }

    /// The largest size of a zone file in bytes. The largest file of version 2024a has 3.6 KB.
    package static let maximumSize = 1 << 20

    /// Reads a zone file.
    /// - Returns: `nil` if the bytes are not such a file, or it counts leap seconds (`right/…`).
    package init?(file bytes: [UInt8]) {
        guard bytes.count <= Self.maximumSize, let old = Header(bytes, at: 0), old.version >= 2,
            let header = Header(bytes, at: old.end(timeSize: 4)), header.leaps == 0
        else { return nil }
        let end = header.end(timeSize: 8)
        guard end <= bytes.count, header.types > 0 else { return nil }
        let types = header.start + header.times * 9
        func offset(_ type: Int) -> Int? {
            guard type < header.types else { return nil }
            let value = Int(Int32(truncatingIfNeeded: Self.number(bytes, at: types + type * 6, size: 4)))
            // RFC 9636, section 3.2: more than -25 hours and less than 26 hours.
            return (-89_999...93_599).contains(value) ? value : nil
        }
        var moments: [Int64] = []
        var offsets: [Int] = []
        for index in 0..<header.times {
            guard let value = offset(Int(bytes[header.start + header.times * 8 + index])) else { return nil }
            let moment = Self.number(bytes, at: header.start + index * 8, size: 8)
            guard moments.last.map({ $0 < moment }) ?? true else { return nil }
            moments.append(moment)
            offsets.append(value)
        }
        let newline = UInt8(ascii: "\n")
        guard let first = offset(0), bytes[end...].first == newline,
            let lineEnd = bytes[(end + 1)...].firstIndex(of: newline)
        else { return nil }
        let text = String(decoding: bytes[(end + 1)..<lineEnd], as: UTF8.self)
        let footer = ZoneFooter(text)
        guard footer != nil || text.isEmpty else { return nil }
        self.init(moments: moments, offsets: offsets, firstOffset: first, footer: footer)
    }

    /// Returns the offset from UTC in seconds.
    /// - Parameter moment: Seconds since 1970.
    func offset(at moment: Int64) -> Int {
        guard let first = moments.first, moment >= first else {
            return moments.isEmpty ? footer?.offset(at: moment) ?? firstOffset : firstOffset
        }
        if let last = moments.last, moment >= last, let footer { return footer.offset(at: moment) }
        var (low, high) = (0, moments.count)
        while high - low > 1 {
            let middle = (low + high) / 2
            if moments[middle] <= moment { low = middle } else { high = middle }
        }
        return offsets[low]
    }

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

    private static func number(_ bytes: [UInt8], at start: Int, size: Int) -> Int64 {
        Int64(truncatingIfNeeded: bytes[start..<start + size].reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
    }

    private struct Header {
        let start: Int
        let version: Int
        let indicators: Int
        let leaps: Int
        let times: Int
        let types: Int
        let characters: Int

        init?(_ bytes: [UInt8], at place: Int) {
            guard place >= 0, place + 44 <= bytes.count, bytes[place..<place + 4].elementsEqual("TZif".utf8) else {
                return nil
            }
            version = Int(bytes[place + 4]) - 0x30
            let counts = (0..<6).map { Int(ZoneRules.number(bytes, at: place + 20 + $0 * 4, size: 4)) }
            guard counts.allSatisfy({ $0 <= bytes.count }) else { return nil }
            start = place + 44
            indicators = counts[0] + counts[1]
            (leaps, times, types, characters) = (counts[2], counts[3], counts[4], counts[5])
        }

        func end(timeSize: Int) -> Int {
            start + times * (timeSize + 1) + types * 6 + characters + leaps * (timeSize + 4) + indicators
        }
    }
}
