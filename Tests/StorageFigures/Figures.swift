import Foundation

/// Prints measured times.
enum Figures {
    /// - Parameter baseline: The time of which the median is printed as a multiple.
    static func say(_ what: String, _ taken: [Duration], goal: Duration? = nil, beside baseline: [Duration]? = nil) {
        let sorted = taken.sorted()
        guard let longest = sorted.last else { return }
        let (median, p95) = (sorted[(sorted.count - 1) / 2], sorted[(sorted.count * 95 + 99) / 100 - 1])
        var line = "figure  \(pad(what, 52)) p50 \(text(median)) p95 \(text(p95)) max \(text(longest))"
        if sorted.count >= 1000 { line += " p99.9 \(text(sorted[sorted.count * 999 / 1000]))" }
        if let baseline, let commit = baseline.sorted().dropFirst(baseline.count / 2).first, commit > .zero {
            line += " ratio \(hundredths(median / commit))"
        }
        if let goal { line += "  goal p95 \(text(goal)): \(p95 <= goal ? "met" : "missed")" }
        print(line)
        fflush(nil)
    }

    static func text(_ duration: Duration) -> String { hundredths(duration / .milliseconds(1)) + " ms" }

    static func hundredths(_ value: Double) -> String { String(format: "%.2f", value) }

    static func bytes(_ count: Int) -> String { String(format: "%.1f MB", Double(count) / 1e6) }

    private static func pad(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.count))
    }
}
