import Foundation

extension IntegrationAnswer {
    /// Of `  archiving`.
    private static let kindWidth = 11

    /// Each configuration with its verdict, its steps and what was analyzed and tested; a blank line before each.
    var configurationText: String {
        (configurations ?? []).map { configuration in
            let attempt = configuration.attempt > 1 ? " (attempt \(configuration.attempt))" : ""
            let steps = configuration.steps.map { step in
                let end =
                    step.limit ?? step.signal.map { "signal \($0)" } ?? step.exit.map { $0 == 0 ? "" : "exit \($0)" }
                    ?? ""
                // As wide as the longest, so that what stands below is in line.
                let kind = "  \(step.step)".padding(toLength: Self.kindWidth, withPad: " ", startingAt: 0)
                return [kind, step.name, step.duration.map(Output.duration) ?? "…"] + (end.isEmpty ? [] : [end])
            }
            let said = [("analysis", configuration.analysis), ("tests", configuration.tested)].map { kind, text in
                "  \(kind)".padding(toLength: Self.kindWidth, withPad: " ", startingAt: 0) + "  "
                    + Output.visible(text ?? "") + "\n"
            }
            let notes = (configuration.notes ?? []) + (configuration.reason.map { [$0] } ?? [])
            return "\n\(configuration.name)\(attempt)  \(configuration.verdict ?? configuration.state)\n"
                + Output.table(steps) + said.joined() + notes.map { "  \(Output.visible($0))\n" }.joined()
        }.joined()
    }
}
