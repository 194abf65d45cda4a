import API
import Foundation
import Model

extension API.IntegrationDetail {
    /// The width of `  archiving`, the longest kind of step, in characters.
    private static let kindWidth = 11

    /// Describes each configuration: verdict, steps, analysis and tests. A blank line precedes each.
    func configurationText(on terminal: Terminal) -> String {
        configurations.map { configuration in
            let all = configuration.attempts
            let attempt = all.count > 1 ? " (attempt \(configuration.attempt) of \(all.count))" : ""
            let filter = configuration.testFilter.map { "  only tests \(Output.visible($0))\n" } ?? ""
            let others = all.filter { $0.attempt != configuration.attempt }.map { other in
                let reason = other.reason.map { ": \(Output.visible($0))" } ?? ""
                return Output.visible("  attempt \(other.attempt)  \(other.verdict ?? other.state)") + "\(reason)\n"
            }
            // A step has no end if its supervisor was lost.
            let unended = configuration.verdict == nil ? "…" : "no end"
            let steps = configuration.steps.map { step in
                let end =
                    step.limit ?? step.signal.map { "signal \($0)" } ?? step.exit.map { $0 == 0 ? "" : "exit \($0)" }
                    ?? ""
                // Padded to the longest kind, so that the columns are aligned.
                let kind = "  \(step.step)".padding(toLength: Self.kindWidth, withPad: " ", startingAt: 0)
                let duration = step.duration.map(Output.duration) ?? unended
                return [kind, step.name, duration] + (end.isEmpty ? [] : [end])
            }
            let words = [("analysis", configuration.analysis), ("tests", configuration.tested)]
            let remarks = words.compactMap { kind, text in
                text.map {
                    "  \(kind)".padding(toLength: Self.kindWidth, withPad: " ", startingAt: 0) + "  "
                        + Output.visible($0) + "\n"
                }
            }
            let unsandboxed = configuration.isolationReason.map { ["isolation: none: \($0)"] } ?? []
            let notes = unsandboxed + configuration.notes + (configuration.reason.map { [$0] } ?? [])
            let result = terminal.paint(result: configuration.verdict ?? configuration.state)
            return "\n\(Output.visible("\(configuration.name)\(attempt)"))  \(result)\n" + filter
                + others.joined() + Output.table(steps) + remarks.joined()
                + notes.map { "  \(Output.visible($0))\n" }.joined()
        }.joined()
    }
}

extension API.Coverage {
    /// A row such as `coverage debug`, `81.2 %`, `812 of 1000 lines in 12 files`, `+0.3 points against kit#40`.
    var row: [String] {
        let now = Model.Coverage.Share(covered: lines.covered, total: lines.total)
        let old = linesBefore.map { Model.Coverage.Share(covered: $0.covered, total: $0.total) }
        let change = CoverageDelta.File(path: "", before: old, after: now).pointsText
        return [
            "coverage \(configuration)", now.text,
            "\(lines.covered) of \(lines.total) lines in \(files.counting("file"))",
        ] + (change.flatMap { change in before.map { ["\(change) points against \($0)"] } } ?? [])
    }
}

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
