/// Reads a report file, recognised by its content and not by its name.
package enum ReportReader {
    /// The largest file that is read, as large as a job may leave.
    package static let maximumBytes = 64 * 1024 * 1024

    /// JUnit XML, SARIF, or Swift Testing's event stream. Anything else, and an empty file, is a problem that names the file:
    /// a report that cannot be read is never a good one.
    package static func read(_ bytes: [UInt8], fileName: String, root: SourceRoot) -> ReportContent {
        var content = read(bytes, root: root)
        let name = TextLimit.cut(fileName, toBytes: 200)
        content.problems = content.problems.map { problem in
            let prefix = "report unreadable: "
            return problem.hasPrefix(prefix)
                ? prefix + name + ": " + problem.dropFirst(prefix.count) : name + ": " + problem
        }
        content.notes = content.notes.map { name + ": " + $0 }
        return content
    }

    private static func read(_ bytes: [UInt8], root: SourceRoot) -> ReportContent {
        guard bytes.count <= maximumBytes else {
            return .unreadable("\(bytes.count) bytes, more than \(maximumBytes)")
        }
        // Byte order marks, NULs of UTF-16 and white space say nothing of the format.
        let blank: Set<UInt8> = [0xEF, 0xBB, 0xBF, 0xFE, 0xFF, 0x00, 0x20, 0x09, 0x0A, 0x0D]
        guard let start = bytes.firstIndex(where: { !blank.contains($0) }) else {
            return .unreadable("the file is empty")
        }
        switch bytes[start] {
        case UInt8(ascii: "<"): return JUnitReader.read(bytes, root: root)
        case UInt8(ascii: "{"):
            return isEventStream(bytes[start...])
                ? EventStreamReader.read(bytes, root: root) : SARIFReader.read(bytes, root: root)
        default: return .unreadable("neither JUnit XML, nor SARIF, nor Swift Testing's event stream")
        }
    }

    /// Whether the first line is a record of an event stream; a cut one is told by its keys.
    private static func isEventStream(_ bytes: ArraySlice<UInt8>) -> Bool {
        let end = bytes.firstIndex(of: 0x0A) ?? bytes.endIndex
        let line = bytes[..<end]
        if line.count <= EventStreamReader.maximumLineBytes, let record = try? JSON.parse(line) {
            // `try?`: a first line that is no JSON is decided by what follows.
            return !record["kind"].isNothing && record["runs"].isNothing
        }
        let beginning = String(decoding: line.prefix(200), as: UTF8.self)
        return beginning.contains("\"kind\"") && beginning.contains("\"payload\"")
    }
}
