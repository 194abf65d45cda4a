import API

extension API.SilencedIssue {
    /// Two lines: the issue; then the user, the end of the silence and the reason.
    var text: String {
        let place = [issue?.path, issue?.line.map(String.init)].compactMap(\.self).joined(separator: ":")
        let what =
            issue.map { issue in
                let message = issue.message.split(whereSeparator: \.isNewline).first.map(String.init) ?? ""
                return (place.isEmpty ? "" : place + ": ") + "\(issue.category): \(message)"
                    + (issue.resolved ? ", resolved in " : ", in ") + issue.integration
            } ?? "no branch has it"
        let until = silence.expires.map { " until \($0)" } ?? ""
        let how = "\(silence.expired ? "was muted" : "muted") by \(silence.person)\(until): \(silence.reason)"
        return Output.visible("\(fingerprint.prefix(12))  \(what)") + "\n    " + Output.visible(how) + "\n"
    }
}
