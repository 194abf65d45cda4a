import Foundation

extension IntegrationAnswer {
    /// Of `  archiving`.
    private static let kindWidth = 11

    /// Each configuration with its verdict, its steps and what was analyzed and tested; a blank line before each.
    var configurationText: String {
        (configurations ?? []).map { configuration in
            let all = configuration.attempts ?? []
            let attempt = all.count > 1 ? " (attempt \(configuration.attempt) of \(all.count))" : ""
            let filter = configuration.testFilter.map { "  only tests \(Output.visible($0))\n" } ?? ""
            let others = all.filter { $0.attempt != configuration.attempt }.map { other in
                let reason = other.reason.map { ": \(Output.visible($0))" } ?? ""
                return Output.visible("  attempt \(other.attempt)  \(other.verdict ?? other.state)") + "\(reason)\n"
            }
            // Of one whose supervisor was lost, nobody knows when.
            let unended = configuration.verdict == nil ? "…" : "no end"
            let steps = configuration.steps.map { step in
                let end =
                    step.limit ?? step.signal.map { "signal \($0)" } ?? step.exit.map { $0 == 0 ? "" : "exit \($0)" }
                    ?? ""
                // As wide as the longest, so that what stands below is in line.
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
            let unfenced = configuration.isolationReason.map { ["isolation: none: \($0)"] } ?? []
            let notes = unfenced + (configuration.notes ?? []) + (configuration.reason.map { [$0] } ?? [])
            let head = "\(configuration.name)\(attempt)  \(configuration.verdict ?? configuration.state)"
            return "\n\(Output.visible(head))\n" + filter
                + others.joined() + Output.table(steps) + said.joined()
                + notes.map { "  \(Output.visible($0))\n" }.joined()
        }.joined()
    }
}
