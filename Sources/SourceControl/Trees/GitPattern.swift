/// A pattern of gitignore(5) or gitattributes(5), which is matched as in git (dir.c and wildmatch.c of git 2.39).
///
/// The time is proportional to the product of the lengths of pattern and path, whatever wildcards a commit's author wrote.
struct GitPattern {
    /// The longest pattern in bytes; a longer one never matches. A path has at most 4095.
    static let maximumLength = 4096

    /// Whether it begins with `!`.
    let isNegative: Bool
    /// Whether it ends with a slash, so that it matches only directories.
    let needsDirectory: Bool
    /// Whether it has no other slash, so that it is compared with the last component.
    private let isName: Bool
    /// The bytes before the first wildcard.
    private let literal: [UInt8]
    /// The remaining tokens; `nil` if the pattern never matches.
    private let rest: [Token]?
    /// The sets that tokens of `rest` refer to.
    private let sets: [ByteSet]

    /// - Parameter text: A line without its end.
    init(_ text: ArraySlice<UInt8>) {
        var text = text
        isNegative = text.first == UInt8(ascii: "!")
        if isNegative { text = text.dropFirst() }
        needsDirectory = text.last == Self.slash
        if needsDirectory { text = text.dropLast() }
        isName = !text.contains(Self.slash)
        // A slash at the beginning only means that the pattern is relative to this directory.
        if !isName, text.first == Self.slash { text = text.dropFirst() }
        literal = Array(text.prefix { !"*?[\\".utf8.contains($0) })
        let pattern = Array(text.dropFirst(literal.count))
        var sets: [ByteSet] = []
        rest = text.count > Self.maximumLength ? nil : Self.tokens(pattern, &sets, crossesSlashes: isName)
        self.sets = sets
    }

    private static let slash = UInt8(ascii: "/")

    /// Returns the most steps that the comparison with a path takes.
    func steps(for path: [UInt8]) -> Int { 1 + (rest?.count ?? 0) * path.count }

    /// Whether the pattern matches a path.
    /// - Parameters:
    ///   - path: The path relative to the root, without a slash at its end.
    ///   - base: The offset in `path` behind the directory of the pattern's file.
    ///   - name: The offset of the last component in `path`.
    func matches(_ path: [UInt8], base: Int, name: Int, isDirectory: Bool) -> Bool {
        guard let rest, isDirectory || !needsDirectory else { return false }
        // A file's lines are only compared with paths beneath its directory.
        var text = path[(isName ? name : base)...]
        guard text.starts(with: literal) else { return false }
        text = text.dropFirst(literal.count)
        // Most patterns and paths end with different bytes.
        if case .byte(let last)? = rest.last, text.last != last { return false }
        return rest.isEmpty ? text.isEmpty : matches(rest, text)
    }

    // MARK: Wildcards

    /// A token has four bytes. A pattern has up to `maximumLength` of them, and a tree up to `RuleBudget.maximumBytes`.
    private enum Token {
        case byte(UInt8)
        /// One byte of the set with this number.
        case one(UInt16)
        /// One byte other than a slash, for wildcards that do not match slashes.
        case notSlash
        /// One byte.
        case any
        /// Any bytes but slashes.
        case star
        /// Any bytes.
        case stars
        /// An empty text, or any bytes and a slash.
        case directories
    }

    /// Compares by following all alternatives at once. It keeps which prefixes of the text the tokens so far can match.
    private func matches(_ tokens: [Token], _ text: ArraySlice<UInt8>) -> Bool {
        let slash = Self.slash
        let text = Array(text)
        var reached = [Bool](repeating: false, count: text.count + 1)
        var next = reached
        reached[0] = true
        for token in tokens {
            var (isAny, isBefore) = (false, false)
            for end in 0...text.count {
                switch token {
                case .byte(let byte): next[end] = end > 0 && reached[end - 1] && text[end - 1] == byte
                case .one(let set):
                    next[end] = end > 0 && reached[end - 1] && sets[Int(set)].contains(text[end - 1])
                case .notSlash: next[end] = end > 0 && reached[end - 1] && text[end - 1] != slash
                case .any: next[end] = end > 0 && reached[end - 1]
                case .star:
                    isBefore = reached[end] || (isBefore && text[end - 1] != slash)
                    next[end] = isBefore
                case .stars:
                    isBefore = isBefore || reached[end]
                    next[end] = isBefore
                case .directories:
                    next[end] = reached[end] || (end > 0 && isBefore && text[end - 1] == slash)
                    isBefore = isBefore || reached[end]
                }
                isAny = isAny || next[end]
            }
            guard isAny else { return false }
            swap(&reached, &next)
        }
        return reached[text.count]
    }

    /// Reads the tokens of a pattern.
    /// - Parameters:
    ///   - sets: The array to which the sets of the tokens are appended.
    ///   - crossesSlashes: Whether wildcards also match slashes, as in a pattern without a slash.
    /// - Returns: `nil` if the pattern never matches, because a set has no end or an unknown class.
    private static func tokens(_ pattern: [UInt8], _ sets: inout [ByteSet], crossesSlashes: Bool) -> [Token]? {
        var (tokens, place): ([Token], Int) = ([], 0)
        while place < pattern.count {
            switch pattern[place] {
            case UInt8(ascii: "*"):
                let start = place
                while place < pattern.count, pattern[place] == UInt8(ascii: "*") { place += 1 }
                let isDouble = place - start > 1 && (start == 0 || pattern[start - 1] == slash)
                let after = pattern[place...].prefix(2)
                if crossesSlashes {
                    tokens.append(.stars)
                } else if isDouble, after.first == slash {
                    tokens.append(.directories)
                    place += 1
                } else if isDouble, after.isEmpty || after.elementsEqual("\\/".utf8) {
                    tokens.append(.stars)
                } else {
                    tokens.append(.star)
                }
            case UInt8(ascii: "?"):
                tokens.append(crossesSlashes ? .any : .notSlash)
                place += 1
            case UInt8(ascii: "["):
                guard let (set, end) = ByteSet.read(pattern, at: place + 1) else { return nil }
                tokens.append(.one(UInt16(sets.count)))
                sets.append(crossesSlashes ? set : set.subtracting(slash))
                place = end
            case UInt8(ascii: "\\"):
                guard place + 1 < pattern.count else { return nil }
                tokens.append(.byte(pattern[place + 1]))
                place += 2
            case let byte:
                tokens.append(.byte(byte))
                place += 1
            }
        }
        return tokens
    }
}

/// A set of bytes, which `[…]` in a pattern denotes.
struct ByteSet {
    private var words: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)

    private init(_ holds: (UInt8) -> Bool) {
        for byte in UInt8.min...UInt8.max where holds(byte) { insert(byte) }
    }

    func contains(_ byte: UInt8) -> Bool {
        let bit = UInt64(1) << UInt64(byte & 63)
        switch byte >> 6 {
        case 0: return words.0 & bit != 0
        case 1: return words.1 & bit != 0
        case 2: return words.2 & bit != 0
        default: return words.3 & bit != 0
        }
    }

    private mutating func insert(_ byte: UInt8) {
        let bit = UInt64(1) << UInt64(byte & 63)
        switch byte >> 6 {
        case 0: words.0 |= bit
        case 1: words.1 |= bit
        case 2: words.2 |= bit
        default: words.3 |= bit
        }
    }

    func subtracting(_ byte: UInt8) -> ByteSet { ByteSet { $0 != byte && contains($0) } }

    /// Reads a set after its opening bracket, as wildmatch.c does.
    /// - Returns: The set, and the offset behind the closing bracket. `nil` if there is no closing bracket, or a class is unknown.
    static func read(_ pattern: [UInt8], at start: Int) -> (ByteSet, end: Int)? {
        var (set, place) = (ByteSet { _ in false }, start)
        func at(_ place: Int) -> UInt8 { place < pattern.count ? pattern[place] : 0 }
        let isNegated = at(place) == UInt8(ascii: "!") || at(place) == UInt8(ascii: "^")
        if isNegated { place += 1 }
        // The first byte belongs to the set, even if it is the closing bracket.
        var (before, isFirst): (UInt8, Bool) = (0, true)
        while isFirst || at(place) != UInt8(ascii: "]") {
            isFirst = false
            var byte = at(place)
            if byte == 0 { return nil }
            if byte == UInt8(ascii: "\\") {
                place += 1
                byte = at(place)
                if byte == 0 { return nil }
                set.insert(byte)
            } else if byte == UInt8(ascii: "-"), before != 0, at(place + 1) != 0, at(place + 1) != UInt8(ascii: "]") {
                place += 1
                if at(place) == UInt8(ascii: "\\") { place += 1 }
                let last = at(place)
                if last == 0 { return nil }
                if before <= last { for member in before...last { set.insert(member) } }
                byte = 0
            } else if byte == UInt8(ascii: "["), at(place + 1) == UInt8(ascii: ":") {
                var end = place + 2
                while at(end) != 0, at(end) != UInt8(ascii: "]") { end += 1 }
                if at(end) == 0 { return nil }
                if end - 1 < place + 2 || at(end - 1) != UInt8(ascii: ":") {
                    // This is not a class, so the bracket is a member of the set.
                    set.insert(byte)
                } else {
                    let name = String(decoding: pattern[(place + 2)..<(end - 1)], as: UTF8.self)
                    guard let isMember = classes[name] else { return nil }
                    for member in 1..<UInt8(0x80) where isMember(member) { set.insert(member) }
                    place = end
                    byte = 0
                }
            } else {
                set.insert(byte)
            }
            before = byte
            place += 1
        }
        return (isNegated ? ByteSet { !set.contains($0) } : set, place + 1)
    }

    private static let classes: [String: @Sendable (UInt8) -> Bool] = [
        "alnum": { isAlpha($0) || isDigit($0) }, "alpha": isAlpha, "blank": { $0 == 0x20 || $0 == 0x09 },
        "cntrl": { $0 < 0x20 || $0 == 0x7f }, "digit": isDigit, "graph": { (0x21...0x7e).contains($0) },
        "lower": { (0x61...0x7a).contains($0) }, "print": { (0x20...0x7e).contains($0) },
        "punct": { (0x21...0x7e).contains($0) && !isAlpha($0) && !isDigit($0) },
        "space": { [0x20, 0x09, 0x0a, 0x0d].contains($0) }, "upper": { (0x41...0x5a).contains($0) },
        "xdigit": { isDigit($0) || (0x41...0x46).contains($0) || (0x61...0x66).contains($0) },
    ]

    private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }
    private static func isAlpha(_ byte: UInt8) -> Bool { (0x41...0x5a).contains(byte & 0xdf) }
}
