/// A guard that refuses texts that the YAML parser could read only with much time or memory, or in another way than users see them.
///
/// Yams builds every node by recursion and hashes each mapping's keys, and a key may itself be a tree or an alias of one. The depth is therefore
/// limited, and aliases are refused.
enum YAMLGuard {
    /// The most bytes of a file. The largest recipe seen in practice has a few KiB.
    static let maximumSize = 256 << 10
    /// The most levels of braces and brackets.
    static let maximumFlowDepth = 64
    /// The most columns before a line's text. Each level of a block takes one or more.
    static let maximumIndentation = 128

    /// Adds an error for the first refused element.
    /// - Returns: Whether the text may be parsed.
    static func accepts(_ yaml: String, _ diagnostics: inout Diagnostics) -> Bool {
        guard yaml.utf8.count <= maximumSize else {
            diagnostics.error(
                "the file has \(yaml.utf8.count) bytes; at most \(maximumSize) are read", at: .start)
            return false
        }
        if yaml.unicodeScalars.first == "\u{FEFF}" {
            diagnostics.error("the file begins with a byte order mark; save it as UTF-8 without one", at: .start)
            return false
        }
        return acceptsLines(yaml, &diagnostics) && acceptsAliases(yaml, &diagnostics)
    }

    private static func acceptsLines(_ yaml: String, _ diagnostics: inout Diagnostics) -> Bool {
        var position = Position.start
        var depth = 0
        var isLeading = true
        for scalar in yaml.unicodeScalars {
            switch scalar {
            case "\n":
                position = Position(line: position.line + 1, column: 1)
                isLeading = true
                continue
            case "\r":
                diagnostics.error("the line ends with a carriage return; save the file with LF line ends", at: position)
                return false
            case "\u{85}", "\u{2028}", "\u{2029}":
                // YAML 1.1 breaks lines here, but editors do not: the following text would not be where users see it.
                diagnostics.error("an unusual line break (\(Printable.oneLine(String(scalar)))); use LF", at: position)
                return false
            case "[", "{": depth += 1
            case "]", "}": depth = max(0, depth - 1)
            default: break
            }
            if depth > maximumFlowDepth {
                diagnostics.error(
                    "the file has more than \(maximumFlowDepth) levels of braces and brackets; write fewer",
                    at: position)
                return false
            }
            // `- - - x` and `? ? ? x` nest within one line, so these count as indentation too.
            if isLeading, position.column > maximumIndentation {
                diagnostics.error("the text begins after column \(maximumIndentation); indent less", at: position)
                return false
            }
            if isLeading, scalar != " ", scalar != "-", scalar != "?", scalar != "\t", scalar != ":" {
                isLeading = false
            }
            position.column += 1
        }
        return true
    }

    /// Refuses a text in which one name may be both an anchor (`&name`) and an alias (`*name`).
    ///
    /// It checks characters instead of tokens, so quoting cannot deceive it. A false alarm needs `&name` and `*name` of the same name in one file,
    /// each after a blank or bracket.
    private static func acceptsAliases(_ yaml: String, _ diagnostics: inout Diagnostics) -> Bool {
        var anchors: [String: Position] = [:]
        var aliases: [String: Position] = [:]
        var position = Position.start
        var previous: Unicode.Scalar = "\n"
        var scalars = yaml.unicodeScalars[...]
        while let scalar = scalars.popFirst() {
            if scalar == "&" || scalar == "*", !isWithinWord(previous) {
                let name = String(scalars.prefix(while: isNameLetter))
                if !name.isEmpty, scalar == "&", anchors[name] == nil { anchors[name] = position }
                if !name.isEmpty, scalar == "*", aliases[name] == nil { aliases[name] = position }
            }
            position =
                scalar == "\n"
                ? Position(line: position.line + 1, column: 1)
                : Position(line: position.line, column: position.column + 1)
            previous = scalar
        }
        let used = aliases.filter { anchors[$0.key] != nil }
        guard let first = used.min(by: { $0.value < $1.value }) else { return true }
        diagnostics.error(
            "anchors and aliases (&\(first.key), *\(first.key)) are not read; write the value out", at: first.value)
        return false
    }

    /// Returns whether libyaml allows a character in an anchor's name (`IS_ALPHA` in yaml_private.h).
    private static func isNameLetter(_ scalar: Unicode.Scalar) -> Bool {
        ("a"..."z").contains(scalar) || ("A"..."Z").contains(scalar) || ("0"..."9").contains(scalar) || scalar == "_"
            || scalar == "-"
    }

    /// Returns whether no token can begin after this character. Blanks, control characters, brackets, quotes and `,:?-` can precede a token. To be
    /// safe, so can all characters that are not ASCII.
    private static func isWithinWord(_ scalar: Unicode.Scalar) -> Bool {
        scalar.isASCII && scalar.value > 0x20 && !"[]{},:?\"'-".unicodeScalars.contains(scalar)
    }
}

/// A decoder of a file's bytes.
enum UTF8Text {
    /// Returns the text. If the bytes are too many or not UTF-8, it adds an error with the line number and returns `nil`.
    static func decode(_ bytes: [UInt8], _ diagnostics: inout Diagnostics) -> String? {
        guard bytes.count <= YAMLGuard.maximumSize else {
            diagnostics.error(
                "the file has \(bytes.count) bytes; at most \(YAMLGuard.maximumSize) are read", at: .start)
            return nil
        }
        if let text = String(validating: bytes, as: UTF8.self) { return text }
        // This finds the first invalid line. Lines can be checked separately, since LF is never part of another character.
        for (index, line) in bytes.split(separator: 0x0A, omittingEmptySubsequences: false).enumerated()
        where String(validating: line, as: UTF8.self) == nil {
            diagnostics.error("the line is not UTF-8; save the file as UTF-8", at: Position(line: index + 1, column: 1))
            break
        }
        return nil
    }
}
