import Model

/// Times and numbers in a form for users.
enum PageText {
    /// Returns a duration such as `450 ms`, `12 s`, `4 min 05 s` or `2 h 10 min`.
    static func duration(_ duration: Duration) -> String {
        let milliseconds = max(0, duration.milliseconds)
        let seconds = milliseconds / 1000
        func two(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
        switch seconds {
        case 0: return "\(milliseconds) ms"
        case 1..<10: return "\(seconds).\(milliseconds % 1000 / 100) s"
        case 10..<60: return "\(seconds) s"
        case 60..<3600: return "\(seconds / 60) min \(two(seconds % 60)) s"
        default: return "\(seconds / 3600) h \(two(seconds / 60 % 60)) min"
        }
    }

    /// Returns a duration for an estimate, in one unit: `40 s`, `5 min`, `3 h`, `2 days`.
    static func rough(_ duration: Duration) -> String {
        let seconds = max(0, (duration.milliseconds + 999) / 1000)
        switch seconds {
        case ..<60: return "\(max(1, seconds)) s"
        case ..<5400: return "\((seconds + 30) / 60) min"
        case ..<(2 * 86_400): return "\((seconds + 1800) / 3600) h"
        default: return "\((seconds + 43_200) / 86_400) days"
        }
    }

    /// Returns the age of a time: `just now`, `5 min ago`, `3 h ago`, `2 days ago`, then the date.
    static func age(_ time: Timestamp, now: Timestamp) -> String {
        let seconds = (now - time).milliseconds / 1000
        switch seconds {
        case ..<60: return "just now"
        case ..<3600: return "\(seconds / 60) min ago"
        case ..<86_400: return "\(seconds / 3600) h ago"
        case ..<(2 * 86_400): return "yesterday"
        case ..<(14 * 86_400): return "\(seconds / 86_400) days ago"
        default: return String(time.description.prefix(10))
        }
    }

    /// Returns a time such as `2026-03-01 12:00:00`.
    static func time(_ time: Timestamp) -> String {
        String(time.description.prefix(19)).replacing("T", with: " ")
    }

    /// Returns a number with a comma between each three digits: `1,197`.
    static func number(_ number: Int) -> String { number.grouped }

    /// Returns a number with its noun: `1 error`, `1,197 errors`.
    static func count(_ number: Int, _ one: String, _ many: String? = nil) -> String {
        "\(number.grouped) \(number == 1 ? one : many ?? one + "s")"
    }

    /// Returns a change such as `+2` or `−1`; `nil` for no change.
    static func change(_ number: Int) -> String? {
        number == 0 ? nil : number > 0 ? "+\(number.grouped)" : number.grouped
    }
}
