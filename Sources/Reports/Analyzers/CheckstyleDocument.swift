import Model

/// Checkstyle's XML, which most linters write, too: shellcheck, SwiftLint, eslint, ktlint, PHP_CodeSniffer, golangci-lint.
final class CheckstyleDocument: XMLTestsHandler {
    private var list: FindingList
    private var file: String?
    private var exception: String?

    init(root: SourceRoot) { list = FindingList(root: root) }

    func begin(_ element: String, _ attributes: [String: String], depth: Int) throws(XMLText.Refusal) {
        switch element {
        case "file": file = attributes["name"]
        case "error":
            // Checkstyle's severity `ignore` means that no action is needed.
            guard attributes["severity"] != "ignore" else { return }
            list.add(
                attributes["message"] ?? "", rule: attributes["source"], path: file,
                line: attributes["line"].flatMap { Int($0) }, column: attributes["column"].flatMap { Int($0) })
        case "exception": exception = ""
        default: break
        }
    }

    func consume(_ text: String) {
        guard var said = exception else { return }
        TextLimit.append(text, to: &said, limit: 500)
        exception = said
    }

    func end(_ element: String, depth: Int) {
        if element == "exception", let said = exception {
            exception = nil
            let text = said.trimmingPrefix(while: \.isWhitespace).trimmingSuffix(while: \.isWhitespace)
            if list.problems.isEmpty { list.problems.append("checkstyle could not read \(file ?? "a file"): \(text)") }
        } else if element == "file" {
            file = nil
        }
    }

    func content(problem: String?) -> ReportContent { list.content(unreadable: problem) }
}
