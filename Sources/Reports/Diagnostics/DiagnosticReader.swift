package import Model

/// A reader of the diagnostics of compilers, linkers, SwiftPM and Make from a log.
///
/// It recognizes the following forms, which were tested with Swift 6.3.1, clang 21 and gcc 4 to 14. Notes and remarks are no findings.
/// - swiftc in both styles, clang, clang-tidy, gcc and swift-format: `PATH:LINE:COLUMN: error|fatal error|warning: TEXT`
/// - tools that print their name: `ld.lld: error: …`, `clang: error: …`
/// - rustc, which prints the place in the next line
/// - SwiftPM without a place: `error: …`
/// - GNU ld and gold: `…: undefined reference to …`
/// - Make: `make: *** …`
package struct DiagnosticReader: Sendable {
    /// The most errors, and the most warnings, that are read from one log.
    package static let maximumFindings = 10_000

    private let category: DiagnosticCategory
    private var collector: DiagnosticCollector

    package init(root: SourceRoot, category: DiagnosticCategory = .asPrinted) {
        self.category = category
        collector = DiagnosticCollector(root: root)
    }

    /// Reads a line. Most lines are ignored.
    package mutating func consume(_ line: LogLine) {
        if line.contains(Self.needles) { collector.consume(line.text) }
    }

    /// See `findings(in:root:category:)`.
    package func finish() -> [Finding] { collector.findings(category: category) }

    /// Returns the log's diagnostics in their order, each once.
    ///
    /// Some errors only report that something else failed (`linker command failed`, `fatalError`, `make: *** … Error 1`). The first of them is
    /// returned if there is no other error. Lines in which XCTest reports a failure are left out. The running time is linear in the log's length.
    package static func findings(
        in log: [UInt8], root: SourceRoot, category: DiagnosticCategory = .asPrinted
    ) -> [Finding] {
        var reader = DiagnosticReader(root: root, category: category)
        LogLines.forEach(in: log) { reader.consume($0) }
        return reader.finish()
    }

    private static let needles: Needles = [
        "error:", "warning:", "error[", "--> ", "undefined reference to", "multiple definition of", "ld: ",
        ">>> referenced by", ": *** ",
        "ld returned ",
    ]
}

/// How a diagnostic's category is chosen.
package enum DiagnosticCategory: Sendable, Hashable {
    /// Errors become errors, and warnings become warnings.
    case asPrinted
    /// All diagnostics become analyzer warnings: for the output of an analysis step.
    case analyzer
}
