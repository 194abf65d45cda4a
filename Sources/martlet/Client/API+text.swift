import API
import Foundation

extension API.IntegrationDetail {
    /// The width of `  archiving`, the longest kind of step, in characters.
    private static let kindWidth = 11

    /// Describes each configuration: verdict, steps, analysis and tests. A blank line precedes each.
    var configurationText: String {
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
            let said = words.compactMap { kind, text in
                text.map {
                    "  \(kind)".padding(toLength: Self.kindWidth, withPad: " ", startingAt: 0) + "  "
                        + Output.visible($0) + "\n"
                }
            }
            let unsandboxed = configuration.isolationReason.map { ["isolation: none: \($0)"] } ?? []
            let notes = unsandboxed + configuration.notes + (configuration.reason.map { [$0] } ?? [])
            let head = "\(configuration.name)\(attempt)  \(configuration.verdict ?? configuration.state)"
            return "\n\(Output.visible(head))\n" + filter
                + others.joined() + Output.table(steps) + said.joined()
                + notes.map { "  \(Output.visible($0))\n" }.joined()
        }.joined()
    }
}
