/// A pattern for branch or tag names. `*` matches any characters except `/`, `**` matches any characters, and `?`
/// matches one character except `/`.
///
/// Matching takes time proportional to pattern length times name length and does not recurse, so hostile names are
/// harmless.
package struct RefPattern: Hashable, Sendable, Codable, CustomStringConvertible {
    package let description: String
    private let tokens: [Token]

    private enum Token { case literal(UInt8), one, run, anyRun }

    package init(_ description: String) {
        self.description = description
        var tokens: [Token] = []
        for byte in description.utf8 {
            switch byte {
            case UInt8(ascii: "*"):
                if case .run? = tokens.last { tokens[tokens.count - 1] = .anyRun } else { tokens.append(.run) }
            case UInt8(ascii: "?"): tokens.append(.one)
            default: tokens.append(.literal(byte))
            }
        }
        self.tokens = tokens
    }

    package static func == (left: RefPattern, right: RefPattern) -> Bool { left.description == right.description }
    package func hash(into hasher: inout Hasher) { hasher.combine(description) }

    /// Whether the pattern matches the whole name.
    package func matches(_ name: String) -> Bool {
        // `reachable[i]`: the first i tokens can match what was read so far.
        var reachable = [Bool](repeating: false, count: tokens.count + 1)
        func close(_ states: inout [Bool]) {
            for (index, token) in tokens.enumerated() where states[index] {
                switch token {
                case .run, .anyRun: states[index + 1] = true
                case .literal, .one: break
                }
            }
        }
        reachable[0] = true
        close(&reachable)
        for byte in name.utf8 {
            var next = [Bool](repeating: false, count: tokens.count + 1)
            let isContinuation = byte & 0xC0 == 0x80
            for (index, token) in tokens.enumerated() where isContinuation && reachable[index + 1] {
                if case .one = token { next[index + 1] = true }
            }
            for (index, token) in tokens.enumerated() where reachable[index] {
                switch token {
                case .literal(let expected): if byte == expected { next[index + 1] = true }
                case .one:
                    // A character counts as its first byte; continuation bytes are read without leaving the following
                    // state.
                    if byte != UInt8(ascii: "/"), !isContinuation { next[index + 1] = true }
                case .run: if byte != UInt8(ascii: "/") { next[index] = true }
                case .anyRun: next[index] = true
                }
            }
            close(&next)
            reachable = next
        }
        return reachable[tokens.count]
    }

    package init(from decoder: any Decoder) throws {
        self.init(try decoder.singleValueContainer().decode(String.self))
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}

extension RefPattern {
    /// Whether the `branches` and `tags` of a bot file select a ref. Without both, every ref is selected. With only one of them, no ref of the other
    /// kind is selected.
    static func isAmong(_ ref: RefName, branches: [RefPattern]?, tags: [RefPattern]?) -> Bool {
        if branches == nil, tags == nil { return true }
        if let branch = ref.branch { return branches?.contains { $0.matches(branch) } ?? false }
        if let tag = ref.tag { return tags?.contains { $0.matches(tag) } ?? false }
        return false
    }
}
