/// A parser for a line of an allowed-signers file: principals, options, a key, and a comment.
enum AllowedSignersLine {
    struct Problem: Error {
        let sentence: String
    }

    /// Parses a line.
    /// - Returns: `nil` for blank lines, comments and keys of other kinds.
    static func read(_ line: String) throws(Problem) -> AllowedSigners.Signer? {
        var rest = line[...]
        skipBlanks(&rest)
        guard let first = rest.first, first != "#" else { return nil }
        let principals = try word(&rest)
        skipBlanks(&rest)
        var namespaces: String?
        if !isKey(rest) {
            guard !rest.isEmpty else { throw Problem(sentence: "it contains no key") }
            for option in try options(&rest) {
                let parts = option.split(separator: "=", maxSplits: 1).map(String.init)
                guard parts.count == 2, parts[0].lowercased() == "namespaces" else {
                    throw Problem(
                        sentence: "the option \(parts.first ?? "") is not understood here; check with "
                            + "`ssh-keygen -Y verify`, which knows it, or leave it out")
                }
                guard parts[1].count >= 2, parts[1].hasPrefix("\""), parts[1].hasSuffix("\"") else {
                    throw Problem(sentence: "namespaces have quotes around them")
                }
                namespaces = String(parts[1].dropFirst().dropLast())
            }
            skipBlanks(&rest)
        }
        let words = rest.split(maxSplits: 2, whereSeparator: { $0 == " " || $0 == "\t" })
        guard words.count >= 2, isKey(rest) else { throw Problem(sentence: "it contains no key") }
        guard words[0] == SignerKey.algorithm else { return nil }
        guard let key = SignerKey("\(words[0]) \(words[1])") else { throw Problem(sentence: "its key is damaged") }
        return AllowedSigners.Signer(principals: principals, namespaces: namespaces, key: key)
    }

    private static func isKey(_ text: Substring) -> Bool {
        ["ssh-", "ecdsa-", "sk-"].contains { text.hasPrefix($0) }
    }

    private static func skipBlanks(_ rest: inout Substring) { rest = rest.drop { $0 == " " || $0 == "\t" } }

    /// Parses a word that ends at a blank, or a text in quotes.
    private static func word(_ rest: inout Substring) throws(Problem) -> String {
        guard rest.first == "\"" else {
            let word = rest.prefix { $0 != " " && $0 != "\t" }
            rest = rest[word.endIndex...]
            return String(word)
        }
        rest = rest.dropFirst()
        guard let end = rest.firstIndex(of: "\"") else { throw Problem(sentence: "a quote is not closed") }
        let word = rest[..<end]
        rest = rest[rest.index(after: end)...]
        return String(word)
    }

    /// Parses options that are separated by commas, up to a blank outside of quotes.
    private static func options(_ rest: inout Substring) throws(Problem) -> [String] {
        var options = [""]
        var isQuoted = false
        while let character = rest.first, isQuoted || (character != " " && character != "\t") {
            rest = rest.dropFirst()
            if character == "\"" { isQuoted.toggle() }
            if character == ",", !isQuoted { options.append("") } else { options[options.count - 1].append(character) }
        }
        guard !isQuoted else { throw Problem(sentence: "a quote is not closed") }
        return options
    }
}
