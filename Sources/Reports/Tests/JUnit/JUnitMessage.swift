import Model

/// The text of a failure, combined from its attribute and its content.
struct JUnitMessage {
    var text: String?
    var path: String?
    var line: Int?
    var isCrash = false

    init(attribute: String, text content: String, root: SourceRoot) {
        // In SwiftPM's parallel xUnit file, the message is the console output of the test's process.
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
        if attribute == "collection failure", let failure = Self.collection(String(body)) {
            if let printed = failure.place { (path, line) = (root.shown(printed.path), printed.line) }
            parts.insert(failure.text, at: 0)
        }
        let joined = parts.joined(separator: "\n")
        text = joined.isEmpty ? nil : TextLimit.cut(joined, toBytes: Finding.maximumMessageBytes)
    }

    /// Returns the error of a module that pytest could not import, and the last place of its trace (`tests/test_a.py:3: in <module>`). The error
    /// names the module and the reason (`E   ModuleNotFoundError: No module named 'x'`). `nil` if there is no reason.
    private static func collection(_ body: String) -> (text: String, place: PrintedPlace?)? {
        var (module, reason, place): (String?, String?, PrintedPlace?) = (nil, nil, nil)
        for line in body.split(separator: "\n").prefix(1000) {
            if let begin = line.range(ofFirst: "importing test module '"), line.hasSuffix("'.") {
                module = String(line[begin.upperBound...].dropLast(2))
            } else if line.hasPrefix("E   ") {
                reason = reason ?? String(line.dropFirst(4).trimmingPrefix(while: \.isWhitespace))
            } else if reason == nil, let end = line.range(ofFirst: ": in "),
                let printed = PrintedPlace(line[..<end.lowerBound])
            {
                place = printed
            }
        }
        guard let reason else { return nil }
        let name = module.map { "/" + $0 }?.split(separator: "/").last.map(String.init) ?? place?.path ?? "the module"
        return (TextLimit.cut("\(name) could not be imported: \(reason)", toBytes: 1000), place)
    }
}
