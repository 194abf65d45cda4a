import JobProtocol

/// Pattern lists (ssh_config(5), "PATTERNS"): separated by commas, with the wildcards `*` and `?`; `!` in front of a pattern excludes.
enum SSHPatterns {
    static func match(_ text: String, _ list: String) -> Bool {
        var isMatched = false
        for pattern in list.split(separator: ",") {
            let isNegated = pattern.hasPrefix("!")
            guard PathPattern.component(Array(pattern.utf8.dropFirst(isNegated ? 1 : 0)), matches: Array(text.utf8))
            else {
                continue
            }
            if isNegated { return false }
            isMatched = true
        }
        return isMatched
    }
}
