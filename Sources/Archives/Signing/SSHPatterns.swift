/// Pattern lists (ssh_config(5), "PATTERNS"): separated by commas, with the wildcards `*` and `?`; `!` in front of a pattern excludes.
enum SSHPatterns {
    static func match(_ text: String, _ list: String) -> Bool {
        var isMatched = false
        for pattern in list.split(separator: ",") {
            let isNegated = pattern.hasPrefix("!")
            guard matches(Array(text.utf8), Array(pattern.utf8.dropFirst(isNegated ? 1 : 0))) else { continue }
            if isNegated { return false }
            isMatched = true
        }
        return isMatched
    }

    /// Matches one pattern. Only the last `*` is tried again, so the time is at most the product of both lengths.
    private static func matches(_ text: [UInt8], _ pattern: [UInt8]) -> Bool {
        var (place, next) = (0, 0)
        var star: (next: Int, place: Int)?
        while place < text.count {
            if next < pattern.count, pattern[next] == UInt8(ascii: "*") {
                star = (next + 1, place)
                next += 1
            } else if next < pattern.count, pattern[next] == UInt8(ascii: "?") || pattern[next] == text[place] {
                next += 1
                place += 1
            } else if let last = star {
                star = (last.next, last.place + 1)
                (next, place) = (last.next, last.place + 1)
            } else {
                return false
            }
        }
        return pattern[next...].allSatisfy { $0 == UInt8(ascii: "*") }
    }
}
