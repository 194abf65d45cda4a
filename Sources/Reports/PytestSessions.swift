/// Where pytest's sessions begin and end in a console. What is printed in between, its tests have printed.
struct PytestSessions: Sendable {
    /// Sessions that have begun and not ended: a test of a plugin runs a session within another.
    private var depth = 0
    /// How many tests the session that began last has collected; `nil` before it says so.
    private var collected: Int?
    /// Whether a session began after the last end.
    private var isOpen = false
    private var hasAny = false

    private static let begin: Needles = ["= test session starts ="]
    private static let needles: Needles = ["= test session starts =", "collected ", " in ", "Results ("]

    /// Takes a line. Most lines are ignored.
    mutating func take(_ line: LogLine) {
        guard line.contains(hasAny ? Self.needles : Self.begin) else { return }
        let text = line.text
        // Where a test ended the process before, it follows what was printed last.
        if text.range(ofFirst: "= test session starts =") != nil {
            (depth, hasAny, isOpen, collected) = (depth + 1, true, true, nil)
        } else if Self.isEnd(text) {
            (depth, isOpen) = (max(0, depth - 1), false)
        } else if isOpen, let count = Self.collected(text) {
            collected = count
        }
    }

    /// Whether a session runs, so that other tools' lines are its tests' output.
    var isWithin: Bool { depth > 0 }

    /// Whether there were sessions, and each of them ended.
    var areComplete: Bool { hasAny && depth == 0 }

    /// What is wrong if the last session collected tests and no line says how they ended: a test has ended the process. `nil` if they ended.
    ///
    /// A process that was forked can print what its parent had not written yet, so that a session seems to begin twice.
    var problem: String? {
        isOpen && collected ?? 0 > 0 ? "the output of pytest ends before its tests do" : nil
    }

    /// `collected 3 items / 2 deselected / 1 selected`, with `-v` after `collecting ... `
    private static func collected(_ text: String) -> Int? {
        let words = text.trimmingPrefix("collecting ... ")
        guard words.hasPrefix("collected ") else { return nil }
        return TAPLine.number(words.dropFirst("collected ".count).prefix { $0 != " " })
    }

    /// `3 passed, 1 warning in 0.12s (0:00:12)`, `no tests ran in 0.01s`; `Results (0.12s):` of pytest-sugar and pytest-pretty.
    private static func isEnd(_ text: String) -> Bool {
        if text.hasPrefix("Results (") { return true }
        guard text.first == "=", text.last == "=", text.utf8.count < 1000, let range = text.range(ofLast: " in ") else {
            return false
        }
        return text[range.upperBound...].first?.isNumber == true
    }
}
