import Model

/// A line of the Test Anything Protocol, without its indentation.
enum TAPLine: Equatable {
    case version(Int)
    /// `1..N` with a reason after `#`; the reason is `nil` if no test is skipped.
    case plan(first: Int, last: Int, skip: String?)
    case point(TAPPoint)
    case bailOut(String)
    case comment(String)
    /// A line with only `{` or `}`.
    case opening, closing
    case yamlStart
    /// `pragma +strict` or `pragma -strict`.
    case pragma(isStrict: Bool)
    case other

    /// Returns a line's level, with four spaces per level, and its number of spaces. The level is `nil` if the spaces are no multiple of four.
    static func depth(_ line: String) -> (level: Int?, spaces: Int) {
        let spaces = line.utf8.prefix { $0 == 0x20 }.count
        return (spaces % 4 == 0 ? spaces / 4 : nil, spaces)
    }

    init(_ text: Substring) {
        let text = text.trimmingSuffix(while: \.isWhitespace)
        if text.hasPrefix("#") {
            self = .comment(String(text.dropFirst().trimmingPrefix(while: \.isWhitespace)))
        } else if let point = TAPPoint(text) {
            self = .point(point)
        } else if let plan = Self.plan(text) {
            self = plan
        } else if text.hasPrefix("Bail out!") {
            self = .bailOut(String(text.dropFirst("Bail out!".count).trimmingPrefix(while: \.isWhitespace)))
        } else if text.utf8.count < 40, text.lowercased().hasPrefix("tap version "),
            let number = Int(text.dropFirst("tap version ".count))
        {
            self = .version(number)
        } else {
            switch text {
            case "{": self = .opening
            case "}": self = .closing
            case "---": self = .yamlStart
            case "pragma +strict": self = .pragma(isStrict: true)
            case "pragma -strict": self = .pragma(isStrict: false)
            default: self = .other
            }
        }
    }

    private static func plan(_ text: Substring) -> TAPLine? {
        guard let dots = text.range(ofFirst: ".."), let first = number(text[..<dots.lowerBound]) else { return nil }
        let rest = text[dots.upperBound...]
        let digits = rest.prefix { $0.isASCII && $0.isNumber }
        guard let last = number(digits) else { return nil }
        let after = rest.dropFirst(digits.count).drop { $0 == " " || $0 == "\t" }
        guard after.isEmpty || after.first == "#" else { return nil }
        return .plan(first: first, last: last, skip: TAPPoint.reason("skip", in: after.dropFirst()))
    }

    static func number(_ text: Substring) -> Int? {
        guard (1...9).contains(text.utf8.count), text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            return nil
        }
        return Int(text)
    }
}

/// A test point: `ok 3 - adds # SKIP not here`.
struct TAPPoint: Equatable {
    var isOK: Bool
    var number: Int?
    var name: String
    /// The reasons why the test is skipped, or still to be done; `nil` without the directive.
    var skip: String?
    var todo: String?
    var duration: Duration?
    /// Whether its children follow in braces.
    var opensChildren: Bool

    init?(_ text: Substring) {
        var rest = text
        isOK = !rest.hasPrefix("not ok")
        guard rest.hasPrefix(isOK ? "ok" : "not ok") else { return nil }
        rest = rest.dropFirst(isOK ? 2 : 6)
        // `okay` is not a result.
        guard rest.isEmpty || rest.first == " " || rest.first == "\t" else { return nil }
        rest = rest.drop { $0 == " " || $0 == "\t" }
        let digits = rest.prefix { $0.isASCII && $0.isNumber }
        if let found = TAPLine.number(digits), rest.dropFirst(digits.count).first.map({ $0 == " " }) ?? true {
            number = found
            rest = rest.dropFirst(digits.count).drop { $0 == " " }
        }
        if rest == "-" || rest.hasPrefix("- ") { rest = rest.dropFirst().drop { $0 == " " } }
        opensChildren = rest == "{" || rest.hasSuffix(" {")
        if opensChildren { rest = rest.dropLast().trimmingSuffix { $0 == " " } }
        for hash in Self.hashes(in: rest).reversed() {
            let directive = rest[rest.index(after: hash)...]
            // A time may precede the directive, and the directive's reason may contain another `#12`.
            let found = (Self.reason("skip", in: directive), Self.reason("todo", in: directive), Self.time(directive))
            guard (found.0 ?? found.1) != nil || found.2 != nil else { continue }
            if skip == nil, todo == nil { (skip, todo) = (found.0, found.1) }
            duration = duration ?? found.2
            rest = rest[..<hash].trimmingSuffix { $0 == " " }
        }
        name = TextLimit.cut(Self.unescaped(rest), toBytes: TextLimit.nameBytes)
    }

    /// Returns the positions of the last twenty `#` characters after a blank, each of which may begin a directive. `GET /list#todos` has none.
    private static func hashes(in text: Substring) -> [Substring.Index] {
        var found: [Substring.Index] = []
        var isAfterBlank = true
        for index in text.utf8.indices {
            let byte = text.utf8[index]
            if byte == UInt8(ascii: "#"), isAfterBlank { found.append(index) }
            isAfterBlank = byte == 0x20 || byte == 0x09
        }
        return found.suffix(20)
    }

    /// Returns the text after the word in any case: ` SKIP not here` gives `not here`. `nil` if the word is missing.
    static func reason(_ word: StaticString, in directive: Substring) -> String? {
        let text = directive.drop { $0 == " " || $0 == "\t" }
        let count = word.utf8CodeUnitCount
        guard text.utf8.count >= count, text.prefix(count).lowercased() == "\(word)" else { return nil }
        // `SKIPPED why` and `skipped: why` are used as well. `skipped frames` and `skiplinks` belong to a test's name.
        var rest = text.dropFirst(count)
        if rest.hasPrefix("PED") || rest.hasPrefix("ped:") || rest == "ped" { rest = rest.dropFirst(3) }
        if rest.first == ":" { rest = rest.dropFirst() }
        guard rest.isEmpty || rest.first == " " || rest.first == "\t" else { return nil }
        return TextLimit.cut(String(rest.drop { $0 == " " || $0 == "\t" }), toBytes: 1000)
    }

    /// Returns the duration in ` time=43.094ms`, as node-tap writes it; `nil` for other texts.
    private static func time(_ directive: Substring) -> Duration? {
        let text = directive.drop { $0 == " " }
        guard text.hasPrefix("time="), text.hasSuffix("ms"), text.utf8.count < 40 else { return nil }
        guard let value = Double(text.dropFirst(5).dropLast(2)), value >= 0, value < 1e12 else { return nil }
        return .milliseconds(value)
    }

    private static func unescaped(_ text: Substring) -> String {
        guard text.utf8.contains(UInt8(ascii: "\\")) else { return String(text) }
        var plain = ""
        var isEscaped = false
        for character in text {
            if character == "\\", !isEscaped {
                isEscaped = true
                continue
            }
            // Only `\\` and `\#` are escapes.
            if isEscaped, character != "#", character != "\\" { plain.append("\\") }
            plain.append(character)
            isEscaped = false
        }
        return isEscaped ? plain + "\\" : plain
    }
}
