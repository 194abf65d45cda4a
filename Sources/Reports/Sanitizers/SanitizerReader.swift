package import Model

/// A reader of the reports of the address, thread, leak, memory and undefined-behavior sanitizers from a console or a file.
package struct SanitizerReader: Sendable {
    /// The most reports that are read from one output.
    package static let maximumReports = 1000

    static let needles: Needles = ["Sanitizer: ", ": runtime error: ", "Sanitizer:DEADLYSIGNAL"]

    private let root: SourceRoot
    private var open: SanitizerReport?
    private var findings: [Finding] = []
    private var places: [Finding: Int] = [:]
    /// The findings of `finish()` that consist only of a first line. A command that succeeded has only printed such a line.
    private(set) var unsupported: Set<Finding> = []

    package init(root: SourceRoot) { self.root = root }

    /// Reads a line. Outside of a report, most lines are ignored.
    package mutating func consume(_ line: LogLine) {
        guard open != nil || line.contains(Self.needles) else { return }
        let text = line.text
        if let report = SanitizerReport(beginning: text) {
            close()
            open = report
        } else if open?.consume(text) == false {
            close()
        }
    }

    private mutating func close() {
        guard let report = open else { return }
        open = nil
        for finding in report.findings(root: root) where findings.count < Self.maximumReports {
            // A defect may be reported repeatedly. Addresses and thread numbers are not part of the text.
            if report.isSupported { unsupported.remove(finding) }
            guard places[finding] == nil else { continue }
            if !report.isSupported { unsupported.insert(finding) }
            places[finding] = findings.count
            findings.append(finding)
        }
    }

    /// Returns the reports in their order as analyzer warnings, each once. The rule is the kind (`AddressSanitizer.heap-use-after-free`), and the
    /// text contains the stacks. The place is that of the frame in the repository that is nearest to the defect.
    package mutating func finish() -> [Finding] {
        close()
        return findings
    }

    /// Returns whether the line begins a report; it is used to recognize a file's format.
    static func isBeginning(_ text: String) -> Bool { SanitizerReport(beginning: text) != nil }

    /// Reads the reports in a file that `log_path` in `ASAN_OPTIONS` names.
    static func read(_ bytes: [UInt8], root: SourceRoot) -> ReportContent {
        var reader = SanitizerReader(root: root)
        LogLines.forEach(in: bytes) { reader.consume($0) }
        let findings = reader.finish()
        return findings.isEmpty
            ? .unreadable("a sanitizer's report without a usable finding") : ReportContent(findings: findings)
    }
}
