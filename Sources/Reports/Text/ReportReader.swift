import Model

/// A reader of a report file. The format is recognized by its content and not by its name.
package enum ReportReader {
    /// The largest file that is read, in bytes. A job may leave files of that size.
    package static let maximumBytes = 64 * 1024 * 1024

    /// Reads any format that `ReportFormat` recognizes. Any other file, and an empty one, gives a problem that names the file: a report that cannot
    /// be read never counts as a success.
    package static func read(_ bytes: [UInt8], fileName: String, root: SourceRoot) -> ReportContent {
        var content = read(bytes, root: root).bounded()
        let name = TextLimit.cut(fileName, toBytes: TextLimit.fileNameBytes)
        content.problems = content.problems.map { problem in
            let prefix = "report unreadable: "
            return problem.hasPrefix(prefix)
                ? prefix + name + ": " + problem.dropFirst(prefix.count) : name + ": " + problem
        }
        content.notes = content.notes.map { name + ": " + $0 }
        if content.format == .automakeResult {
            // automake names the file after its test.
            let test = name.hasSuffix(".trs") ? String(name.dropLast(4)) : name
            for index in content.tests.indices where content.tests[index].suite.isEmpty {
                if content.tests[index].name.isEmpty {
                    content.tests[index].name = test
                } else {
                    content.tests[index].suite = test
                }
            }
        }
        return content
    }

    /// Returns the name of a file's format, for tools that inspect many files; `nil` for an unknown format.
    package static func format(of bytes: [UInt8]) -> String? { ReportFormat(of: bytes).map { "\($0)" } }

    private static func read(_ whole: [UInt8], root: SourceRoot) -> ReportContent {
        // A byte order mark is not part of the first line.
        let bytes = whole.starts(with: [0xEF, 0xBB, 0xBF]) ? Array(whole.dropFirst(3)) : whole
        guard bytes.count <= maximumBytes else {
            return .unreadable("\(bytes.count) bytes, more than \(maximumBytes)")
        }
        guard let format = ReportFormat(of: bytes) else {
            return .unreadable(bytes.contains { $0 > 0x20 } ? ReportFormat.unknown : "the file is empty")
        }
        var content = format.read(bytes, root: root)
        content.subject = content.subject ?? format.subject
        content.format = format
        content.tool = content.tool ?? format.tool
        return content
    }
}
