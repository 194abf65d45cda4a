import API
import Model

extension API.TestHistory {
    /// The command's output: configurations, outcomes, the last failures.
    var text: String {
        let now = configurations.map { configuration in
            let percent = configuration.durations?.trend.map { Int(clamping: ($0 * 100).rounded()) } ?? 0
            return [
                configuration.name, configuration.outcome,
                configuration.failing > 1
                    ? "for \(configuration.failing) integrations" : "as of \(configuration.integration)",
                configuration.durations.map { "median \(Self.took($0.median)), p95 \(Self.took($0.p95))" } ?? "",
                percent.magnitude < 10 ? "" : "\(percent > 0 ? "+" : "−")\(percent.magnitude) % lately",
            ]
        }
        let past = items.map { entry in
            [
                entry.integration, Self.short(entry.ref), String(entry.commit.prefix(8)), entry.configuration,
                entry.outcome,
                entry.duration.map(Self.took) ?? "", Self.first(entry.message),
            ]
        }
        let failed = failures.map { entry in
            let place = [entry.path, entry.line.map(String.init)].compactMap(\.self).joined(separator: ":")
            return [
                entry.integration, "\(entry.configuration), attempt \(entry.attempt)", entry.outcome, place,
                Self.first(entry.message),
            ]
        }
        return "\(Output.visible(Tests.fullName(suite, name)))\n\n" + Self.table(now) + "\n" + Self.table(past)
            + (failed.isEmpty ? "" : "\nlast failures\n" + Self.table(failed))
    }

    /// Formats rows as a table without padding for empty cells at the end of a row.
    private static func table(_ rows: [[String]]) -> String {
        Output.table(rows.map { Array($0.reversed().drop(while: \.isEmpty).reversed()) })
    }

    private static func first(_ message: String?) -> String {
        message?.split(whereSeparator: \.isNewline).first.map(String.init) ?? ""
    }

    private static func short(_ ref: String) -> String { RefName(ref).shortName }

    /// Returns a duration; below a second in milliseconds, because most tests are quick.
    private static func took(_ seconds: Double) -> String {
        seconds < 1 ? "\(Int(clamping: (seconds * 1000).rounded())) ms" : Output.duration(seconds)
    }
}
