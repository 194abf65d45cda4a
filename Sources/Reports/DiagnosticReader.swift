package import Model

/// Reads the diagnostics of compilers, linkers, SwiftPM and Make from a log.
///
/// Known forms: swiftc in both styles, clang, clang-tidy, gcc and swift-format
/// (`PATH:LINE:COLUMN: error|fatal error|warning: TEXT`), tools that name themselves (`ld.lld: error: …`,
/// `clang: error: …`), SwiftPM without a place (`error: …`), GNU ld and gold (`…: undefined reference to …`), Make
/// (`make: *** …`). Notes and remarks are no findings. Looked at against Swift 6.3.1, clang 21 and gcc 4 to 14.
package enum DiagnosticReader {
    /// The most errors, and the most warnings, that are taken from one log.
    package static let maximumFindings = 10_000

    /// The log's diagnostics in their order; one that is printed several times is there once.
    ///
    /// Errors that only tell that something else failed (`linker command failed`, `fatalError`, `make: *** … Error 1`) are
    /// given only where nothing else explains the failure, and then only the first. Lines in which XCTest reports a
    /// failure are left out. Linear in the log's length.
    package static func findings(
        in log: [UInt8], root: SourceRoot, category: DiagnosticCategory = .asPrinted
    ) -> [Finding] {
        var collector = DiagnosticCollector(root: root)
        LogScan.forEachLine(in: log, containing: needles) { line in
            collector.take(line.text)
        }
        return collector.findings(category: category)
    }

    private static let needles: [StaticString] = [
        "error:", "warning:", "undefined reference to", "multiple definition of", "ld: ", ">>> referenced by", ": *** ",
        "ld returned ",
    ]
}
