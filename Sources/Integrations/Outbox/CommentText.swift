import Model
import Storage

/// What a bot says at a pull request: its result, and what is new, in Markdown.
///
/// What a job printed is in a block of code, where it is neither markup nor calls anybody.
enum CommentText {
    /// Issues that are listed; the page has all of them.
    static let maximumIssues = 20
    /// Characters of one of them.
    static let maximumLine = 240

    /// By this a comment is known as the bot's, where its number is not.
    static func mark(_ bot: Name) -> String { "<!-- martlet:\(bot) -->" }

    /// - Parameters:
    ///   - sentence: As the status says.
    ///   - issues: The new ones, the first of them.
    ///   - count: How many there are.
    ///   - url: The integration's page.
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

    /// A text of one line as code, whatever it holds.
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
