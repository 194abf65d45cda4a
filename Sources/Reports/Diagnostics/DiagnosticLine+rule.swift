extension DiagnosticLine {
    /// Separates the rule from the text:
    /// - swiftc: `… [#DeprecatedDeclaration]`
    /// - clang and gcc: `… [-Wunused-variable]`, `[-Werror=unused]`, `[-Werror,-Wunused]`
    /// - clang-tidy and clang's analyzer: `… [bugprone-use-after-move]`, `[core.DivideZero]`
    /// - swift-format: `[DoNotUseSemicolons] …`
    static func ruleAndMessage(_ text: Substring) -> (rule: String, message: String) {
        if text.first == "[", let end = text.firstIndex(of: "]") {
            let name = text[text.index(after: text.startIndex)..<end]
            let rest = text[text.index(after: end)...].drop { $0 == " " }
            if isWord(name), name.first?.isUppercase == true, !rest.isEmpty {
                return (TextLimit.cut(String(name), toBytes: TextLimit.nameBytes), String(rest))
            }
        }
        if text.last == "]", let start = text.lastIndex(of: "["), start > text.startIndex,
            text[text.index(before: start)] == " "
        {
            let name = text[text.index(after: start)...].dropLast()
            if let rule = trailingRule(name) {
                let message = text[..<start].trimmingSuffix { $0 == " " }
                return (TextLimit.cut(rule, toBytes: TextLimit.nameBytes), String(message))
            }
        }
        return ("", String(text))
    }

    private static func trailingRule(_ name: Substring) -> String? {
        if name.hasPrefix("#") { return isWord(name.dropFirst()) ? String(name.dropFirst()) : nil }
        // The warning group identifies the rule, whether or not it was made an error.
        let parts = name.split(separator: ",")
            .map { $0.hasPrefix("-Werror=") ? "-W" + $0.dropFirst("-Werror=".count) : String($0) }
            .filter { $0 != "-Werror" && $0 != "-warnings-as-errors" && $0 != "warnings-as-errors" }
        guard let rule = parts.first, parts.allSatisfy({ isWord($0) }) else { return nil }
        // `[Int]` at the end of a message is a type; a rule has a dash or a dot.
        return rule.contains("-") || rule.contains(".") ? rule : nil
    }

    private static func isWord(_ text: some StringProtocol) -> Bool {
        !text.isEmpty
            && text.utf8.allSatisfy {
                (0x30...0x39).contains($0) || (0x41...0x5A).contains($0) || (0x61...0x7A).contains($0)
                    || [0x2B, 0x2D, 0x2E, 0x3D, 0x5F].contains($0)
            }
    }
}
