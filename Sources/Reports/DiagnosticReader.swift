package import Model

/// Reads the diagnostics of compilers, linkers, SwiftPM and Make from a log.
///
/// Known forms: swiftc in both styles, clang, clang-tidy, gcc and swift-format
/// (`PATH:LINE:COLUMN: error|fatal error|warning: TEXT`), tools that name themselves (`ld.lld: error: …`,
/// `clang: error: …`), rustc, whose place is in the line beneath, SwiftPM without a place (`error: …`), GNU ld and gold (`…: undefined reference to …`), Make
/// (`make: *** …`). Notes and remarks are no findings. Looked at against Swift 6.3.1, clang 21 and gcc 4 to 14.
package struct DiagnosticReader: Sendable {
    /// The most errors, and the most warnings, that are taken from one log.
    package static let maximumFindings = 10_000

    private let category: DiagnosticCategory
    private var collector: DiagnosticCollector

    package init(root: SourceRoot, category: DiagnosticCategory = .asPrinted) {
        self.category = category
        collector = DiagnosticCollector(root: root)
    }

    /// Reads a line. Most lines are ignored.
    package mutating func take(_ line: LogLine) {
        if line.contains(Self.needles) { collector.take(line.text) }
    }

    /// See `findings(in:root:category:)`.
    package func finish() -> [Finding] { collector.findings(category: category) }

    /// The log's diagnostics in their order; one that is printed several times is there once.
    ///
    /// Errors that only tell that something else failed (`linker command failed`, `fatalError`, `make: *** … Error 1`) are
    /// given only where nothing else explains the failure, and then only the first. Lines in which XCTest reports a
    /// failure are left out. Linear in the log's length.
    package static func findings(
        in log: [UInt8], root: SourceRoot, category: DiagnosticCategory = .asPrinted
    ) -> [Finding] {
        var reader = DiagnosticReader(root: root, category: category)
        LogLines.forEach(in: log) { reader.take($0) }
        return reader.finish()
    }

    private static let needles: Needles = [
        "error:", "warning:", "error[", "--> ", "undefined reference to", "multiple definition of", "ld: ",
        ">>> referenced by", ": *** ",
        "ld returned ",
    ]
}
