/// A finder of the beginnings and ends of pytest's sessions in a console. Lines between them are output of its tests.
struct PytestSessions: Sendable {
    /// The number of sessions that have begun and not ended. A test of a plugin can run a session within another.
    private var depth = 0
    /// The number of tests that the last session has collected; `nil` before it is printed.
    private var collected: Int?
    /// Whether a session has begun after the last end.
    private var isOpen = false
    private var hasAny = false

    private static let begin: Needles = ["= test session starts ="]
    private static let needles: Needles = ["= test session starts =", "collected ", " in ", "Results ("]

    /// Reads a line. Most lines are ignored.
    mutating func consume(_ line: LogLine) {
        guard line.contains(hasAny ? Self.needles : Self.begin) else { return }
        let text = line.text
        // If a test ended the previous process, the text follows that process's last output in one line.
        if text.range(ofFirst: "= test session starts =") != nil {
            (depth, hasAny, isOpen, collected) = (depth + 1, true, true, nil)
        } else if Self.isEnd(text) {
            (depth, isOpen) = (max(0, depth - 1), false)
        } else if isOpen, let count = Self.collected(text) {
            collected = count
        }
    }

    /// Whether a session is running, so that other tools' lines are its tests' output.
    var isWithin: Bool { depth > 0 }

    /// Whether there were sessions, and all of them ended.
    var areComplete: Bool { hasAny && depth == 0 }

    /// The problem if the last session collected tests and did not print their results, because a test ended the process; `nil` if there is none.
    ///
    /// A forked process can print its parent's buffered output again, so a session may seem to begin twice.
    var problem: String? {
        isOpen && collected ?? 0 > 0 ? "the output of pytest ends before its tests do" : nil
    }

    /// Returns the count in `collected 3 items / 2 deselected / 1 selected`, which follows `collecting ... ` with `-v`; `nil` for other lines.
    private static func collected(_ text: String) -> Int? {
        let words = text.trimmingPrefix("collecting ... ")
        guard words.hasPrefix("collected ") else { return nil }
        return TAPLine.number(words.dropFirst("collected ".count).prefix { $0 != " " })
    }

    /// Returns whether a line ends a session: `3 passed, 1 warning in 0.12s (0:00:12)`, `no tests ran in 0.01s`, or `Results (0.12s):` of
    /// pytest-sugar and pytest-pretty.
    private static func isEnd(_ text: String) -> Bool {
        if text.hasPrefix("Results (") { return true }
        guard text.first == "=", text.last == "=", text.utf8.count < 1000, let range = text.range(ofLast: " in ") else {
            return false
        }
        return text[range.upperBound...].first?.isNumber == true
    }
}
