import Model
import Storage

/// Writes a bot's comment at a pull request in Markdown: its result, and the new issues.
///
/// The output of a job is in a block of code, so that it can be neither markup nor a mention of a user.
enum CommentText {
    /// The most issues that are listed; the page has all of them.
    static let maximumIssues = 20
    /// The most characters of one of them.
    static let maximumLine = 240

    /// Returns a mark by which a comment is recognized as the bot's if its number is unknown.
    static func mark(_ bot: Name) -> String { "<!-- martlet:\(bot) -->" }

    /// Returns the text of a comment.
    /// - Parameters:
    ///   - sentence: The text of the status.
    ///   - issues: The new issues, or the first ones of them.
    ///   - count: The number of all new issues.
    ///   - url: The URL of the integration's page.
    static func text(
        of id: IntegrationID, commit: CommitID, sentence: String, issues: [Issue], count: Int, url: String
    ) -> String {
        var text = "\(mark(id.bot))\n**[\(id.bot)#\(id.number)](\(url))** of \(commit.abbreviated): \(code(sentence))\n"
        guard count > 0 else { return text + "\nThere are no new issues.\n" }
        let lines = issues.prefix(maximumIssues).map(line)
        let fence = String(repeating: "`", count: max(3, lines.map(longestRun).max().map { $0 + 1 } ?? 3))
        text += "\n\(count.counting("new issue")):\n\n\(fence)text\n\(lines.joined(separator: "\n"))\n\(fence)\n"
        if count > lines.count { text += "\nand \(count - lines.count) more\n" }
        return text
    }

    private static func line(_ issue: Issue) -> String {
        let finding = issue.finding
        let place = [finding.path, finding.line.map(String.init)].compactMap(\.self).joined(separator: ":")
        let message = finding.message.split(whereSeparator: \.isNewline).first.map(String.init) ?? ""
        let line = ((place.isEmpty ? "" : place + ": ") + "\(finding.category.rawValue): \(message)").inOneBlankedLine
        return line.count <= maximumLine ? line : line.prefix(maximumLine - 1) + "…"
    }

    /// Returns a text in one line as Markdown code, whatever it contains.
    private static func code(_ text: String) -> String {
        let line = text.inOneBlankedLine
        let fence = String(repeating: "`", count: longestRun(line) + 1)
        return line.contains("`") ? "\(fence) \(line) \(fence)" : fence + line + fence
    }

    private static func longestRun(_ text: String) -> Int {
        var (run, longest) = (0, 0)
        for byte in text.utf8 {
            run = byte == UInt8(ascii: "`") ? run + 1 : 0
            longest = max(longest, run)
        }
        return longest
    }
}
