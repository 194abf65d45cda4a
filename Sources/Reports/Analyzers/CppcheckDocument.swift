import Model

/// cppcheck's XML, version 2 (`--xml`).
final class CppcheckDocument: XMLTestsHandler {
    private struct Open {
        var rule: String
        var message: String
        var place: (path: String, line: Int?, column: Int?)?
    }

    private var list: FindingList
    private var open: Open?

    init(root: SourceRoot) { list = FindingList(root: root) }

    func begin(_ element: String, _ attributes: [String: String], depth: Int) throws(XMLText.Refusal) {
        switch element {
        case "results" where depth == 1:
            guard attributes["version"] == "2" || attributes["version"] == "3" else {
                throw XMLText.Refusal(text: "cppcheck's XML of another version than 2")
            }
        case "error":
            open = Open(
                rule: attributes["id"] ?? "", message: attributes["msg"] ?? attributes["verbose"] ?? "", place: nil)
            // Messages of severity `information`, such as headers that cppcheck does not find, are not about code.
            if attributes["severity"] == "information" { open = nil }
        case "location":
            // The first location is the primary one.
            guard open != nil, open?.place == nil, let file = attributes["file"] else { return }
            open?.place = (
                file, attributes["line"].flatMap { Int($0) }, attributes["column"].flatMap { Int($0) }
            )
        default: break
        }
    }

    func consume(_ text: String) {}

    func end(_ element: String, depth: Int) {
        guard element == "error", let found = open else { return }
        open = nil
        list.add(
            found.message, rule: found.rule, path: found.place?.path, line: found.place?.line,
            column: found.place?.column)
    }

    func content(problem: String?) -> ReportContent { list.content(unreadable: problem) }
}
