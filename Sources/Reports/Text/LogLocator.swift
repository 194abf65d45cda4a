import Encodings
package import Model

/// Finds the lines of a log that findings and failing tests are about, in linear time.
///
/// Most findings and tests come from report files, which do not say where the log has them. So the log is searched for the beginning of each message
/// and for each name. A line that also has the file, or a word such as `failed`, is preferred; otherwise the first line counts.
package struct LogLocator {
    /// The most comparisons for one log. A log that was made to need more, for example of lines that almost match, is not searched to its end.
    static let maximumComparisons = 4_000_000
    /// The most bytes of a message or name that are searched for.
    private static let maximumNeedleBytes = 120
    /// The least bytes. Shorter texts are in too many lines.
    private static let anchorBytes = 4
    /// The most bytes of a line that are searched.
    private static let maximumLineBytes = 64 * 1024

    private struct Candidate {
        var place: LogPlace
        var needle: [UInt8]
        /// One of these in the line makes the place certain.
        var hints: [ByteSearch]
        var isCertain = false
    }

    private static let failures = ["fail", "FAIL", "Fail", "rror", "not ok", "panicked", "✘", "✗", "✖"].map {
        ByteSearch($0.utf8)
    }

    private var candidates: [Candidate] = []
    /// The candidates by the last bytes of their needles.
    private var anchors: [UInt32: [Int]] = [:]
    /// A bit for each hash of an anchor, so that most bytes of a log need no look-up.
    private var filter = [UInt64](repeating: 0, count: 1024)
    private var line = 1
    private var begun: [UInt8] = []
    private var comparisons = 0
    private var open = 0

    /// - Parameters:
    ///   - findings: Those that are about a test are left out if the test is in `tests`.
    ///   - tests: Those that passed are left out.
    package init(findings: [Finding], tests: [TestResult]) {
        var known: Set<LogPlace.Key> = []
        func isNew(_ key: LogPlace.Key) -> Bool { known.count < LogPlace.maximumCount && known.insert(key).inserted }
        var places: [(place: LogPlace, text: String, hints: [ByteSearch])] = []
        for test in tests where test.outcome.isFailure || test.outcome == .flaky {
            let key = LogPlace.Key(test: test.fullName)
            guard isNew(key) else { continue }
            places.append((LogPlace(key: key, category: .testFailure, line: 0), test.name, Self.failures))
        }
        let isWarning: (Finding) -> Bool = { $0.category == .warning || $0.category == .analyzerWarning }
        for finding in findings.filter({ !isWarning($0) }) + findings.filter(isWarning) {
            let key = LogPlace.Key(finding)
            guard isNew(key) else { continue }
            let name = finding.path.map { String($0.split(separator: "/").last ?? "") }
            let hint = name.map { name in finding.line.map { "\(name):\($0)" } ?? name }
            // The name of a test without its suite, which a log prints apart from it or in another form.
            let text = finding.isOfTest ? key.subject.split(separator: "/").last.map(String.init) ?? "" : key.subject
            places.append(
                (
                    LogPlace(key: key, category: finding.category, line: 0), text,
                    finding.isOfTest ? Self.failures : hint.map { [ByteSearch($0.utf8)] } ?? []
                ))
        }
        for (place, text, hints) in places {
            let needle = Array(text.utf8.prefix(Self.maximumNeedleBytes))
            guard needle.count >= Self.anchorBytes else { continue }
            let anchor = needle.suffix(Self.anchorBytes).reversed().reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
            anchors[anchor, default: []].append(candidates.count)
            let hash = Self.hash(anchor)
            filter[hash >> 6] |= 1 << UInt64(hash & 63)
            candidates.append(Candidate(place: place, needle: needle, hints: hints))
        }
        open = candidates.count
    }

    /// Whether the rest of the log cannot add anything.
    package var isDone: Bool { open == 0 || comparisons >= Self.maximumComparisons }

    /// Reads the next bytes of the log, split anywhere.
    package mutating func consume(_ bytes: [UInt8]) {
        var start = 0
        while let feed = bytes[start...].firstIndex(of: UInt8(ascii: "\n")) {
            begun += bytes[start..<min(feed, start + max(0, Self.maximumLineBytes - begun.count))]
            endLine()
            start = feed + 1
        }
        begun += bytes[start...].prefix(max(0, Self.maximumLineBytes - begun.count))
    }

    /// Returns the lines that were found, in the log's order.
    package mutating func finish() -> [LogPlace] {
        if !begun.isEmpty { endLine() }
        return candidates.map(\.place).filter { $0.line > 0 }.sorted { $0.line < $1.line }
    }

    private mutating func endLine() {
        defer {
            line += 1
            begun.removeAll(keepingCapacity: true)
        }
        guard !isDone, begun.count >= Self.anchorBytes else { return }
        let text = begun.withUnsafeBytes { LogLine(bytes: $0).withPlainBytes { Array($0) } }
        guard text.count >= Self.anchorBytes else { return }
        var anchor = UInt32(text[0]) << 8 | UInt32(text[1]) << 16 | UInt32(text[2]) << 24
        for end in 3..<text.count {
            anchor = anchor >> 8 | UInt32(text[end]) << 24
            let hash = Self.hash(anchor)
            guard filter[hash >> 6] & (1 << UInt64(hash & 63)) != 0, let numbers = anchors[anchor] else { continue }
            for number in numbers where !candidates[number].isCertain { compare(number, with: text, endingAt: end) }
        }
    }

    private mutating func compare(_ number: Int, with text: [UInt8], endingAt end: Int) {
        comparisons += 1
        let needle = candidates[number].needle
        let start = end + 1 - needle.count
        guard start >= 0, comparisons < Self.maximumComparisons, text[start...end].elementsEqual(needle) else { return }
        if candidates[number].place.line == 0 { candidates[number].place.line = line }
        let hints = candidates[number].hints
        guard hints.isEmpty || text.withUnsafeBytes({ text in hints.contains { $0.isIn(text) } }) else { return }
        candidates[number].place.line = line
        candidates[number].isCertain = true
        open -= 1
    }

    private static func hash(_ anchor: UInt32) -> Int { Int((anchor &* 0x9E37_79B1) >> 16) }
}
