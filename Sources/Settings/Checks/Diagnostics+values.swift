import Model

extension Diagnostics {
    /// The most items of a list.
    static let maximumItems = 1000
    /// The most bytes of one text; a build command may have several lines.
    static let maximumText = 16 << 10

    /// Reads a text of one or more lines; `nil` if none is written, or after an error.
    mutating func text(_ node: YAMLNode?, _ key: String) -> String? {
        guard let node else { return nil }
        guard case .scalar(let text, _) = node.content else {
            error("`\(key)` is a text, not \(node.kind)", at: node.position)
            return nil
        }
        guard text.utf8.count <= Self.maximumText, !text.utf8.contains(0) else {
            error("`\(key)` is longer than \(Self.maximumText) bytes or has a NUL in it", at: node.position)
            return nil
        }
        guard !text.allSatisfy(\.isWhitespace) else {
            error("`\(key)` is empty", at: node.position)
            return nil
        }
        return text
    }

    /// Reads a command: a text with at least one line for the shell to run. A text of only comments would succeed without running a command.
    mutating func command(_ node: YAMLNode?, _ key: String) -> String? {
        guard let node else { return nil }
        guard case .scalar(let written, _) = node.content else {
            error(
                "`\(key)` is a text, not \(node.kind); write commands one a line, as in `\(key): |`", at: node.position)
            return nil
        }
        guard let text = text(node, key) else { return nil }
        let lines = written.split(whereSeparator: \.isNewline).map { $0.drop(while: \.isWhitespace) }
        guard lines.contains(where: { !$0.isEmpty && !$0.hasPrefix("#") }) else {
            error("`\(key)` has only comments, so nothing would run; write a command, or `true`", at: node.position)
            return nil
        }
        return text
    }

    /// Reads a text of one line; `nil` if none is written, or after an error.
    mutating func line(_ node: YAMLNode?, _ key: String) -> String? {
        guard let node, let text = text(node, key) else { return nil }
        guard text.unicodeScalars.allSatisfy({ $0.properties.generalCategory != .control }) else {
            error("`\(key)` has a line break or control character in it", at: node.position)
            return nil
        }
        return text
    }

    mutating func name(_ node: YAMLNode?, _ key: String) -> Name? {
        guard let node, let text = text(node, key) else { return nil }
        guard let name = Name(text) else {
            error(Self.badName(text, key), at: node.position)
            return nil
        }
        return name
    }

    static func badName(_ text: String, _ key: String) -> String {
        let nearest = Name(nearest: text, fallback: "").description
        return
            "\(Printable.quoted(text)) is not a name for `\(key)`: lower-case letters, digits, `.`, `_`, `-`, at most "
            + "\(Name.maximumLength), the first a letter or digit" + (nearest.isEmpty ? "" : "; write `\(nearest)`")
    }

    mutating func duration(_ node: YAMLNode?, _ key: String, within range: ClosedRange<Duration>) -> Duration? {
        quantity(node, key, within: range, DurationText.parse, DurationText.print) { text in
            let unit = Int(text) == nil ? "" : "; a unit is missing, as in `\(text)s`"
            return "duration for `\(key)`: a whole number and s, m, h or d, as in `60s`, `10m`, `2h`, `1d`\(unit)"
        }
    }

    mutating func size(_ node: YAMLNode?, _ key: String, within range: ClosedRange<ByteCount>) -> ByteCount? {
        quantity(node, key, within: range, ByteCountText.parse, ByteCountText.print) { _ in
            "size for `\(key)`: a whole number and KiB, MiB or GiB, as in `64MiB`"
        }
    }

    /// Reads a number with its unit, within a range.
    /// - Parameter form: Returns the end of the message that begins with "TEXT is no": what the value is and how it is written.
    private mutating func quantity<Value>(
        _ node: YAMLNode?, _ key: String, within range: ClosedRange<Value>, _ parse: (String) -> Value?,
        _ print: (Value) -> String, form: (String) -> String
    ) -> Value? {
        guard let node, let text = text(node, key) else { return nil }
        guard let value = parse(text) else {
            error("\(Printable.quoted(text)) is no \(form(text))", at: node.position)
            return nil
        }
        guard range.contains(value) else {
            error(
                "`\(key)` is between \(print(range.lowerBound)) and \(print(range.upperBound)), not \(text)",
                at: node.position)
            return nil
        }
        return value
    }

    mutating func truth(_ node: YAMLNode?, _ key: String) -> Bool? {
        guard let node, let text = text(node, key) else { return nil }
        switch text {
        case "true": return true
        case "false": return false
        default:
            error("`\(key)` is `true` or `false`, not \(Printable.quoted(text))", at: node.position)
            return nil
        }
    }

    mutating func word<Word: CaseIterable & RawRepresentable<String>>(
        _ node: YAMLNode?, _ key: String, of type: Word.Type = Word.self
    ) -> Word? {
        guard let node, let text = text(node, key) else { return nil }
        if let word = Word(rawValue: text) { return word }
        let words = Word.allCases.map(\.rawValue)
        error(
            "`\(key)` is one of \(words.map { "`\($0)`" }.joined(separator: ", ")), not \(Printable.quoted(text))"
                + Suggestion.hint(for: text, in: words), at: node.position)
        return nil
    }

    mutating func number(_ node: YAMLNode?, _ key: String, within range: ClosedRange<Int>) -> Int? {
        guard let node, let text = text(node, key) else { return nil }
        if let number = Int(text), range.contains(number) { return number }
        error(
            "`\(key)` is a whole number from \(range.lowerBound) to \(range.upperBound), not \(Printable.quoted(text))",
            at: node.position)
        return nil
    }

    /// Returns the items of a list, or the single value written instead of a list.
    mutating func items(_ node: YAMLNode?, _ key: String, allowsOne: Bool = true) -> [YAMLNode]? {
        guard let node else { return nil }
        switch node.content {
        case .sequence(let items) where items.count <= Self.maximumItems: return items
        case .sequence:
            error("`\(key)` has more than \(Self.maximumItems) items", at: node.position)
            return nil
        case .scalar where allowsOne: return [node]
        case .scalar, .mapping:
            error("`\(key)` is a list, not \(node.kind)", at: node.position)
            return nil
        }
    }

    /// Reads a list of one-line texts, or a single one; `nil` if none is written.
    mutating func texts(_ node: YAMLNode?, _ key: String) -> [String]? {
        guard let items = items(node, key) else { return nil }
        var texts: [String] = []
        for item in items {
            if let text = line(item, key) { texts.append(text) }
        }
        return texts
    }
}

/// A reader and writer of sizes as users write them: a whole number and a unit, `512KiB`, `64MiB`, `1GiB`.
enum ByteCountText {
    private static let units: [(name: String, bytes: Int64)] = [("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)]

    /// Reads a size of at most nine digits, so that the number of bytes cannot overflow. A space before the unit is allowed. Returns `nil` for other
    /// text.
    static func parse(_ text: String) -> ByteCount? {
        guard let unit = units.first(where: { text.hasSuffix($0.name) }) else { return nil }
        var digits = text.dropLast(unit.name.count)
        if digits.last == " " { digits.removeLast() }
        guard (1...9).contains(digits.utf8.count), digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            let number = Int64(digits)
        else { return nil }
        return ByteCount(number * unit.bytes)
    }

    /// Returns the size in the largest unit that leaves a whole number. A fraction of a KiB is dropped, since it cannot be written.
    static func print(_ size: ByteCount) -> String {
        for unit in units where size.bytes != 0 && size.bytes % unit.bytes == 0 {
            return "\(size.bytes / unit.bytes)\(unit.name)"
        }
        return "\(size.bytes / 1024)KiB"
    }
}

/// A reader and writer of durations as users write them: a whole number and a unit, `60s`, `10m`, `2h`, `1d`.
package enum DurationText {
    private static let units: [(letter: Character, seconds: Int64)] = [
        ("d", 86_400), ("h", 3600), ("m", 60), ("s", 1),
    ]

    /// Reads a duration of at most nine digits, so that the number of seconds cannot overflow. Returns `nil` for other text.
    package static func parse(_ text: String) -> Duration? {
        guard let last = text.last, let unit = units.first(where: { $0.letter == last }) else { return nil }
        let digits = text.dropLast()
        guard (1...9).contains(digits.utf8.count), digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            let number = Int64(digits)
        else { return nil }
        return .seconds(number * unit.seconds)
    }

    /// Returns the duration in the largest unit that leaves a whole number. A fraction of a second is dropped, since it cannot be written.
    package static func print(_ duration: Duration) -> String {
        let seconds = duration.components.seconds
        for unit in units where seconds != 0 && seconds % unit.seconds == 0 {
            return "\(seconds / unit.seconds)\(unit.letter)"
        }
        return "\(seconds)s"
    }
}
