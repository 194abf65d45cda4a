import Model

/// The text of a failure, made of its attribute and its content.
struct JUnitMessage {
    var text: String?
    var path: String?
    var line: Int?
    var isCrash = false

    init(attribute: String, text content: String, root: SourceRoot) {
        // SwiftPM's parallel xUnit file has the console of the test's process for a message.
        if attribute.hasPrefix("Test Suite '") {
            let found = XCTestConsoleReader.tests(in: Array(attribute.utf8), root: root)
            if let test = found.first(where: \.outcome.isFailure) {
                (text, path, line, isCrash) = (test.message, test.path, test.line, test.outcome == .crashed)
                return
            }
        }
        let body = content.trimmingPrefix(while: \.isWhitespace).trimmingSuffix(while: \.isWhitespace)
        var parts = [attribute, String(body)].filter { !$0.isEmpty }
        // Most tools repeat the attribute at the beginning of the content.
        if parts.count == 2, parts[1].hasPrefix(parts[0]) { parts.removeFirst() }
        let joined = parts.joined(separator: "\n")
        text = joined.isEmpty ? nil : TextLimit.cut(joined, toBytes: Finding.maximumMessageBytes)
    }
}
