import Model
import Storage

/// Writes a message as text: its subject, and a body whose first lines state what most readers need.
///
/// Text from outside, such as names, subjects of commits, and the output of tools, is cut and put on one line. It follows two spaces or words of the
/// service, so that it cannot pass for them.
package enum NoticeText {
    /// The most issues that are listed.
    static let maximumIssues = 10
    /// The most characters of a text from outside: a name, and a commit's subject or an issue's message.
    static let maximumName = 60
    static let maximumLine = 160
    /// The most characters of the reason of a result.
    static let maximumReason = 500

    static func subject(of facts: NoticeFacts) -> String {
        let bot = facts.integration.id.bot
        if facts.transition == .released {
            return "[\(bot)] released \(version(facts)) from \(ref(facts)) at \(commit(facts))"
        }
        let what = facts.transition == .newIssue ? "new issue" : facts.transition.rawValue
        let counts =
            facts.transition == .fixed
            ? facts.counts.resolved.counting("issue") + " resolved" : newsInWords(facts)
        return "[\(bot)] \(what): \(ref(facts)) at \(commit(facts))\(author(facts)): \(counts)"
    }

    static func body(of facts: NoticeFacts) -> String {
        var lines = [first(facts)]
        if let subject = facts.integration.subject { lines.append("  \(OneLine.text(subject, maximum: maximumLine))") }
        if facts.transition != .released {
            lines.append(result(facts))
            if let reason = unexplained(facts) { lines.append("Reason: \(reason)") }
            if let suspects = suspects(facts) { lines.append("Introduced by \(suspects)") }
        } else if let version = facts.version {
            lines.append("\(version.files.count.counting("file")), with their checksums:")
        }
        lines.append(facts.page)
        let tests = facts.news.filter { $0.finding.category == .testFailure }
        let others = facts.news.filter { $0.finding.category != .testFailure }
        if facts.transition != .released {
            lines += list("New issues", others, of: facts.counts.newOthers)
            lines += list("Tests that fail now", tests, of: facts.counts.newTests)
            if facts.transition == .fixed { lines += list("Resolved", facts.resolved, of: facts.counts.resolved) }
        }
        if facts.leftOut > 0 {
            lines += [
                "",
                "\(facts.leftOut.counting("author")) of these are not told: a message has \(Notice.maximumRecipients) recipients.",
            ]
        }
        lines += [
            "", "-- ",
            "Martlet sends this as `\(facts.notice)` under `notify` of \(facts.integration.id.bot).yml says.",
        ]
        return lines.joined(separator: "\n") + "\n"
    }

    private static func first(_ facts: NoticeFacts) -> String {
        let place = "\(ref(facts)) at \(commit(facts))\(author(facts))"
        return switch facts.transition {
        case .broke: "\(place) broke \(facts.integration.id)"
        case .fixed:
            "\(place) fixed \(facts.integration.id)"
                + (facts.brokenBy.map { $0.number == facts.integration.id.number ? "" : ", broken since #\($0.number)" }
                    ?? "")
        case .newIssue: "\(place) brought \(newsInWords(facts)) in \(facts.integration.id)"
        case .released: "\(version(facts)) was published from \(ref(facts)) at \(commit(facts))\(author(facts))"
        }
    }

    private static func result(_ facts: NoticeFacts) -> String {
        let verdict = facts.integration.state.verdict?.rawValue ?? "running again"
        guard let counts = facts.integration.summary?.counts else { return "Result: \(verdict)" }
        let parts = [
            counts.errors.counting("error"), counts.analyzerWarnings.counting("analyzer warning"),
            counts.warnings.counting("warning"),
            facts.integration.summary?.tally?.sentence
                ?? "\(counts.testFailures) of \(counts.tests.counting("test")) failed",
        ]
        return "Result: \(verdict): \(parts.joined(separator: ", "))"
    }

    /// Returns the reason of a result that no error and no failing test explains, such as products that cannot be archived; `nil` otherwise.
    private static func unexplained(_ facts: NoticeFacts) -> String? {
        guard let verdict = facts.integration.state.verdict, !verdict.isPublishable,
            let reason = facts.integration.reason
        else { return nil }
        let counts = facts.integration.summary?.counts
        guard (counts?.errors ?? 0) == 0, (counts?.testFailures ?? 0) == 0 else { return nil }
        return OneLine.text(reason, maximum: maximumReason)
    }

    /// Returns each suspected author once, with the highest confidence; `nil` if there is none.
    private static func suspects(_ facts: NoticeFacts) -> String? {
        var shown: [String] = []
        for isSure in [true, false] {
            for issue in facts.news {
                guard let found = issue.introducedBy, (found.confidence == .high) == isSure else { continue }
                let person = "\(OneLine.text(found.author, maximum: maximumName)) in \(short(found.commit))"
                guard !shown.contains(where: { $0.hasPrefix(person) }) else { continue }
                shown.append("\(person) (\(isSure ? "sure" : "likely"))")
            }
        }
        guard !shown.isEmpty else { return nil }
        let more = shown.count > 3 ? " and \(shown.count - 3) more" : ""
        return shown.prefix(3).joined(separator: ", ") + more
    }

    private static func list(_ title: String, _ issues: [Issue], of count: Int) -> [String] {
        guard count > 0 else { return [] }
        let shown = issues.prefix(maximumIssues)
        var lines = ["", "\(title) (\(count)):"]
        for issue in shown {
            let finding = issue.finding
            let place = finding.path.map {
                OneLine.text($0, maximum: maximumLine) + (finding.line.map { ":\($0)" } ?? "")
            }
            let name = finding.category == .testFailure ? OneLine.text(finding.rule, maximum: maximumLine) : nil
            let message = OneLine.text(finding.message, maximum: maximumLine)
            lines.append(
                "  " + [name, place, message].compactMap { $0 }.filter { !$0.isEmpty }.joined(separator: ": "))
        }
        if count > shown.count { lines.append("  and \(count - shown.count) more") }
        return lines
    }

    private static func newsInWords(_ facts: NoticeFacts) -> String { facts.counts.new.counting("new issue") }

    private static func ref(_ facts: NoticeFacts) -> String {
        OneLine.text(facts.integration.ref.shortName, maximum: maximumName)
    }

    private static func commit(_ facts: NoticeFacts) -> String { short(facts.integration.commit) }

    private static func short(_ commit: CommitID) -> String { String(commit.description.prefix(7)) }

    private static func author(_ facts: NoticeFacts) -> String {
        facts.integration.author.map { " by \(OneLine.text($0, maximum: maximumName))" } ?? ""
    }

    private static func version(_ facts: NoticeFacts) -> String {
        facts.version.map { "\($0.product) \($0.version)" } ?? "a version"
    }
}

/// Reduces text from outside to one line of a message.
package enum OneLine {
    /// Returns the text with each run of blanks and hidden characters (`isHiddenInText`) replaced by one space. A longer text is cut, with `…` at its
    /// end.
    /// - Parameter maximum: The most characters.
    static func text(_ text: String, maximum: Int) -> String {
        var scalars = String.UnicodeScalarView()
        // This is enough for the characters that remain, even with many combining marks.
        for scalar in text.unicodeScalars.prefix(maximum * 8) {
            let isBlank = scalar.isHiddenInText || scalar.properties.generalCategory == .spaceSeparator
            if !isBlank {
                scalars.append(scalar)
            } else if let last = scalars.last, last != " " {
                scalars.append(" ")
            }
        }
        while scalars.last == " " { scalars.removeLast() }
        let line = String(scalars)
        return line.count <= maximum ? line : line.prefix(maximum - 1) + "…"
    }
}
