import Model

/// A reader of the output of Hspec, which Haskell's test suites write to their console.
struct HspecConsole: SummaryReader {
    private var run: SummedRun
    /// The lines since `Failures:`. They count only if a summary follows.
    private var held: [String] = []
    private var heldBytes = 0
    /// The number of lines since the time was printed; the summary follows it.
    private var sinceTime = Int.max

    private static let maximumHeldBytes = 4 << 20

    init(root: SourceRoot) { run = SummedRun(tool: "Hspec", root: root) }

    var isWithin: Bool { !held.isEmpty || sinceTime < 3 }

    mutating func consume(_ text: String) {
        sinceTime = sinceTime == Int.max ? Int.max : sinceTime + 1
        if text.hasPrefix("Finished in ") {
            // RSpec's line has more text: `(files took 0.1 seconds to load)`.
            guard text.hasSuffix(" seconds") else { return clear() }
            sinceTime = 0
        } else if sinceTime < 3, text.has(" example"), text.first?.isNumber == true {
            let counts = SummedRun.counts(text[...])
            guard let all = counts["example"] else { return }
            readFailures()
            run.end(all: all, failed: counts["failure", default: 0], skipped: counts["pending", default: 0])
            sinceTime = .max
        } else if text == "Failures:" {
            clear()
            held.append(text)
        } else if !held.isEmpty, heldBytes + text.utf8.count <= Self.maximumHeldBytes {
            // Each text also needs some memory of its own.
            heldBytes += text.utf8.count + 16
            held.append(text)
        }
    }

    private mutating func clear() { (held, heldBytes) = ([], 0) }

    /// Reads lines such as `  test/Spec.hs:8:23: ` and `  1) add adds`, and the lines below them.
    private mutating func readFailures() {
        var place: PrintedPlace?
        var current: Int?
        for text in held.dropFirst() {
            let rest = text.trimmingPrefix(while: \.isWhitespace).trimmingSuffix { $0 == ":" || $0 == " " }
            if text.hasPrefix("  "), !text.hasPrefix("   "), !rest.contains(" "), let found = PrintedPlace(rest) {
                place = found
            } else if text.hasPrefix("  "), let name = Self.name(text.dropFirst(2)) {
                current = run.add(name, .failed)
                run.locate(current, at: place)
                place = nil
            } else if text.hasPrefix("  To rerun use: ") || text.hasPrefix("Randomized with seed ") {
                current = nil
            } else if !rest.isEmpty {
                run.describe(current, rest)
            }
        }
        clear()
    }

    /// Returns the name in a text such as `1) add adds`; `nil` for other texts.
    private static func name(_ text: Substring) -> Substring? {
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        guard !digits.isEmpty, text.dropFirst(digits.count).hasPrefix(") ") else { return nil }
        return text.dropFirst(digits.count + 2)
    }

    func content() -> ReportContent? { run.content() }
}
