import Model

/// A reader of `retention` of the settings or of a bot file.
enum RetentionReader {
    static let integrationsRange: ClosedRange<Int64> = 1...1_000_000
    /// The range of ages in seconds, from one hour to ten years.
    static let ageRange: ClosedRange<Int64> = 3600...(3650 * 86_400)
    /// The range of sizes, from a megabyte to a petabyte.
    static let bytesRange: ClosedRange<Int64> = 1_000_000...1_000_000_000_000_000
    static let filesRange: ClosedRange<Int64> = 100...1_000_000_000

    static func retention(_ node: YAMLNode?, _ diagnostics: inout Diagnostics) -> Retention? {
        guard let node, let fields = Fields(node, Keys.retention, of: "`retention`", &diagnostics) else { return nil }
        return Retention(
            integrations: limit(
                fields["integrations"], "integrations", integrationsRange, Int64.init, { "\($0)" },
                "number of integrations, such as `100`", &diagnostics),
            age: limit(
                fields["age"], "age", ageRange, { DurationText.parse($0)?.components.seconds },
                { DurationText.print(.seconds($0)) }, "time: a whole number and h or d, as in `90d`", &diagnostics),
            bytes: limit(
                fields["bytes"], "bytes", bytesRange, RetentionText.bytes, RetentionText.print(bytes:),
                "size: a whole number and MB, GB, TB, MiB, GiB or TiB, as in `50GB`", &diagnostics),
            files: limit(
                fields["files"], "files", filesRange, RetentionText.files, RetentionText.print(files:),
                "number of files: a whole number, with k or M for thousands or millions, as in `5M`", &diagnostics))
    }

    private static func limit(
        _ node: YAMLNode?, _ key: String, _ range: ClosedRange<Int64>, _ parse: (String) -> Int64?,
        _ print: (Int64) -> String, _ form: String, _ diagnostics: inout Diagnostics
    ) -> Retention.Limit? {
        guard let node, let text = diagnostics.line(node, key) else { return nil }
        if text == "off" { return .off }
        guard let value = parse(text) else {
            diagnostics.error(
                "`\(key)` of `retention` is `off` or a \(form), not \(Printable.quoted(text))", at: node.position)
            return nil
        }
        guard range.contains(value) else {
            diagnostics.error(
                "`\(key)` of `retention` is `off` or between \(print(range.lowerBound)) and \(print(range.upperBound)), "
                    + "not \(text)", at: node.position)
            return nil
        }
        return .most(value)
    }

    /// Returns the limits in one line: `{ integrations: 100, age: 90d }`.
    static func text(_ retention: Retention) -> String {
        let written: [(String, Retention.Limit?, (Int64) -> String)] = [
            ("integrations", retention.integrations, { "\($0)" }),
            ("age", retention.age, { DurationText.print(.seconds($0)) }),
            ("bytes", retention.bytes, RetentionText.print(bytes:)),
            ("files", retention.files, RetentionText.print(files:)),
        ]
        let parts = written.compactMap { key, limit, print in
            limit.map { "\(key): \($0.value.map(print) ?? "off")" }
        }
        return parts.isEmpty ? "{}" : "{ \(parts.joined(separator: ", ")) }"
    }
}
