/// Reads a report file, recognised by its content.
package enum ReportReader {
    package static func read(_ bytes: [UInt8], fileName: String, root: SourceRoot) -> ReportContent {
        .unreadable("not yet")
    }
}
