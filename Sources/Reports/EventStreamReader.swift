/// Reads one kind of report.
package enum EventStreamReader {
    package static func read(_ bytes: [UInt8], root: SourceRoot) -> ReportContent { .unreadable("not yet") }
}
