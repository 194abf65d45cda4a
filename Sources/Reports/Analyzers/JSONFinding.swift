import Encodings
import Model

/// A reader of findings that linters write in JSON, each tool in its own format.
enum JSONFinding {
    /// Returns whether an object is a report of findings, or the first line of one with a finding per line.
    static func isReport(_ value: JSON) -> Bool {
        value["comments"].elements != nil || (value["results"].elements != nil && value["errors"].elements != nil)
            || value["Issues"].elements != nil || !value["Report"]["Linters"].isNothing || isItem(value)
    }

    /// Returns the findings of shellcheck (`json`, `json1`), ruff (`json`, `json-lines`), SwiftLint, eslint, golangci-lint, semgrep and Code
    /// Climate's reports, as analyzer warnings.
    ///
    /// An empty list is a clean report with a note, because the list does not show what was checked.
    static func read(_ bytes: [UInt8], root: SourceRoot) -> ReportContent {
        var list = FindingList(root: root)
        let start = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
        if let value = try? JSON.parse(bytes[start...]) {
            // `try?` is used because a text that is no single value may have one value per line.
            return read(value, &list)
        }
        if bytes[start...].first(where: { $0 > 0x20 }) == UInt8(ascii: "{") {
            let problem = JSONLines.forEach(in: Array(bytes[start...])) { value in
                if !add(value, &list), list.problems.isEmpty { list.problems.append(Self.unknownItem) }
            }
            return list.content(unreadable: problem)
        }
        do {
            _ = try JSON.parse(bytes[start...])
            return .unreadable("no JSON")
        } catch {
            return .unreadable(error.text)
        }
    }

    private static let unknownItem = "an item of the list is not a finding of a known tool"

    private static func read(_ value: JSON, _ list: inout FindingList) -> ReportContent {
        var notes: [String] = []
        if value.isObject {
            if isItem(value) {
                _ = add(value, &list)
                return list.content(unreadable: nil)
            }
            let errors = value["errors"].elements ?? []
            // semgrep: there are warnings for files that it could read only in part.
            let warning = errors.first { isWarning($0) }
            if let error = errors.first(where: { !isWarning($0) }) {
                list.problems.append("the analyzer reports that it failed: " + Self.text(of: error))
            } else if let warning {
                notes.append("the analyzer warns: " + Self.text(of: warning))
            }
            // golangci-lint
            if let said = value["Report"]["Error"].string, !said.isEmpty {
                list.problems.append("the analyzer reports that it failed: " + TextLimit.cut(said, toBytes: 500))
            }
        }
        let items =
            value.elements ?? value["comments"].elements ?? value["results"].elements ?? value["Issues"].elements
        for item in items ?? [] where !add(item, &list) {
            return list.content(unreadable: unknownItem)
        }
        var content = list.content(unreadable: nil)
        content.notes = notes
        if items?.isEmpty != false, content.problems.isEmpty { content.notes.append("the list of findings is empty") }
        return content
    }

    private static func isWarning(_ error: JSON) -> Bool {
        ["warn", "warning", "info"].contains(error["level"].string?.lowercased())
    }

    private static func text(of error: JSON) -> String {
        TextLimit.cut(error["message"].string ?? error["long_msg"].string ?? "no text", toBytes: 500)
    }

    private static func isItem(_ item: JSON) -> Bool {
        item["messages"].elements != nil && item["filePath"].string != nil
            || item["rule_id"].string != nil && item["reason"].string != nil
            || item["message"].string != nil && (item["file"].string ?? item["filename"].string) != nil
            || item["check_id"].string != nil && item["path"].string != nil
            || item["FromLinter"].string != nil
            || item["check_name"].string != nil && !item["location"].isNothing
    }

    /// Adds an item's findings.
    /// - Returns: Whether the item has a known form.
    private static func add(_ item: JSON, _ list: inout FindingList) -> Bool {
        guard item.isObject, isItem(item) else { return false }
        if let messages = item["messages"].elements, let path = item["filePath"].string {
            // eslint
            for message in messages {
                list.add(
                    message["message"].string ?? "", rule: message["ruleId"].string, path: path,
                    line: message["line"].int, column: message["column"].int)
            }
            let counted = item["errorCount"].int ?? 0
            if counted > 0, messages.isEmpty {
                list.addOnce(
                    problem: "the report contradicts itself: it counts \(counted.counting("error")) and has none")
            }
        } else if let rule = item["rule_id"].string {
            // SwiftLint
            list.add(
                item["reason"].string ?? "", rule: rule, path: item["file"].string, line: item["line"].int,
                column: item["character"].int)
        } else if let rule = item["check_id"].string {
            // semgrep
            if item["extra"]["is_ignored"].bool == true { return true }
            list.add(
                item["extra"]["message"].string ?? "", rule: rule, path: item["path"].string,
                line: item["start"]["line"].int, column: item["start"]["col"].int)
        } else if let linter = item["FromLinter"].string {
            // golangci-lint
            list.add(
                item["Text"].string ?? "", rule: linter, path: item["Pos"]["Filename"].string,
                line: item["Pos"]["Line"].int, column: item["Pos"]["Column"].int)
        } else if let rule = item["check_name"].string {
            // Code Climate, GitLab's code quality
            let location = item["location"]
            let begin = location["positions"]["begin"]
            list.add(
                item["description"].string ?? "", rule: rule, path: location["path"].string,
                line: location["lines"]["begin"].int ?? location["lines"]["begin"]["line"].int ?? begin["line"].int,
                column: begin["column"].int)
        } else {
            // ruff's rules are words, shellcheck's are numbers.
            let code = item["code"].string ?? item["code"].int.map { "SC\($0)" }
            list.add(
                item["message"].string ?? "", rule: code, path: item["file"].string ?? item["filename"].string,
                line: item["line"].int ?? item["location"]["row"].int,
                column: item["column"].int ?? item["location"]["column"].int)
        }
        return true
    }
}
