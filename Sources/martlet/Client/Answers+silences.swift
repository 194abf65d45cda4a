/// A silence of a bot.
struct MuteAnswer: Decodable {
    struct Issue: Decodable {
        var integration: String
        var resolved: Bool
        var category: String
        var message: String
        var path: String?
        var line: Int?
    }

    var fingerprint: String
    var reason: String
    var person: String
    var expires: String?
    var expired: Bool
    /// `nil` if no branch's newest integration has the issue.
    var issue: Issue?

    /// Two lines: the issue; then the user, the end of the silence and the reason.
    var text: String {
        let place = [issue?.path, issue?.line.map(String.init)].compactMap(\.self).joined(separator: ":")
        let what =
            issue.map { issue in
                let message = issue.message.split(whereSeparator: \.isNewline).first.map(String.init) ?? ""
                return (place.isEmpty ? "" : place + ": ") + "\(issue.category): \(message)"
                    + (issue.resolved ? ", resolved in " : ", in ") + issue.integration
            } ?? "no branch has it"
        let until = expires.map { " until \($0)" } ?? ""
        let how = "\(expired ? "was muted" : "muted") by \(person)\(until): \(reason)"
        return Output.visible("\(fingerprint.prefix(12))  \(what)") + "\n    " + Output.visible(how) + "\n"
    }
}
