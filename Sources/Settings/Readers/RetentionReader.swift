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
        return retention(fields, &diagnostics)
    }

    /// Reads `retention` of the settings, which also has limits for caches and for bots without a file.
    static func serviceRetention(
        _ node: YAMLNode?, _ diagnostics: inout Diagnostics
    ) -> (Retention, CacheLimits)? {
        guard let node, let fields = Fields(node, Keys.serviceRetention, of: "`retention`", &diagnostics) else {
            return nil
        }
        func age(_ key: String) -> Duration? {
            limit(
                fields[key], key, ageRange, { DurationText.parse($0)?.components.seconds },
                { DurationText.print(.seconds($0)) }, "time: a whole number and h or d, as in `14d`", &diagnostics
            )?.value.map { .seconds($0) }
        }
        let bytes = limit(
            fields["caches"], "caches", bytesRange, RetentionText.bytes, RetentionText.print(bytes:),
            "size: a whole number and MB, GB, TB, MiB, GiB or TiB, as in `20GB`", &diagnostics)
        let caches = CacheLimits(
            workspaces: age("workspaces"), caches: bytes?.value.map { ByteCount($0) }, retired: age("retired"))
        return (retention(fields, &diagnostics), caches)
    }

    private static func retention(_ fields: Fields, _ diagnostics: inout Diagnostics) -> Retention {
        Retention(
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

/// A reader and writer of the numbers of `retention` as users write them: `50GB`, `20GiB`, `5M`, `200000`.
package enum RetentionText {
    private static let units: [(name: String, bytes: Int64)] = [
        ("TB", 1_000_000_000_000), ("GB", 1_000_000_000), ("MB", 1_000_000), ("TiB", 1 << 40), ("GiB", 1 << 30),
        ("MiB", 1 << 20),
    ]
    private static let multiples: [(name: String, count: Int64)] = [("M", 1_000_000), ("k", 1000), ("", 1)]

    /// Reads a size of at most nine digits and a unit. Returns `nil` for other text and for sizes that do not fit in 64 bits.
    static func bytes(_ text: String) -> Int64? {
        guard let unit = units.first(where: { text.hasSuffix($0.name) }) else { return nil }
        var digits = text.dropLast(unit.name.count)
        if digits.last == " " { digits.removeLast() }
        return number(digits, times: unit.bytes)
    }

    static func files(_ text: String) -> Int64? {
        multiples.first { text.hasSuffix($0.name) }.flatMap { number(text.dropLast($0.name.count), times: $0.count) }
    }

    private static func number(_ digits: Substring, times unit: Int64) -> Int64? {
        guard (1...9).contains(digits.utf8.count), digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            let number = Int64(digits)
        else { return nil }
        let (value, hasOverflowed) = number.multipliedReportingOverflow(by: unit)
        return hasOverflowed ? nil : value
    }

    /// Returns the size in the unit that gives the smallest whole number; in bytes if no unit divides it.
    package static func print(bytes: Int64) -> String {
        units.filter { bytes % $0.bytes == 0 }.min { bytes / $0.bytes < bytes / $1.bytes }
            .map { "\(bytes / $0.bytes)\($0.name)" } ?? "\(bytes) bytes"
    }

    /// Returns the number in millions or thousands if it is a multiple of those.
    package static func print(files: Int64) -> String {
        multiples.first { files % $0.count == 0 }.map { "\(files / $0.count)\($0.name)" } ?? "\(files)"
    }
}
