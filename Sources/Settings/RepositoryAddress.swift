/// Holds addresses to the kinds that are allowed. `SourceControl` and `Transfer` check again, by their own parsers,
/// before anything goes out.
enum RepositoryAddress {
    /// Longer ones are refused.
    static let maximumLength = 2048

    /// What is wrong with a repository's address, and what to write; nothing when it is fine.
    static func problem(with text: String, isInsecure: Bool) -> String? {
        let shown = Printable.quoted(withoutPassword(text))
        if text.utf8.count > maximumLength { return "`repository` is longer than \(maximumLength) bytes" }
        if text.hasPrefix("-") { return "`repository` begins with a hyphen: \(shown)" }
        if text.contains(where: \.isWhitespace) { return "`repository` has a blank in it: \(shown)" }
        if text.hasPrefix("/") {
            return text.split(separator: "/").contains("..") ? "`repository` has `..` in it: \(shown)" : nil
        }
        guard let parts = parts(of: text) else {
            if isSCPLike(text) { return nil }
            return "\(shown) is no repository's address; write https://host/path.git, ssh://user@host/path.git, "
                + "user@host:path.git or an absolute path"
        }
        switch parts.scheme {
        case "https", "ssh": break
        case "http", "git":
            if !isInsecure {
                return
                    "\(parts.scheme):// can be read and changed on its way; use https or ssh, or add `insecure: true`"
            }
        case "file": return "write the absolute path alone, without `file://`"
        default: return "the scheme `\(parts.scheme)` is not read; use https, ssh or an absolute path"
        }
        if parts.hasPassword { return passwordProblem("repository", "; keep it in git's or ssh's own configuration") }
        if parts.host.isEmpty || parts.host.hasPrefix("-") { return "`repository` names no host: \(shown)" }
        if parts.path.allSatisfy({ $0 == "/" }) { return "`repository` names no path on its host: \(shown)" }
        return nil
    }

    static func passwordProblem(_ key: String, _ instead: String) -> String {
        "`\(key)` has a password in it, which pages and logs would show\(instead)"
    }

    struct Parts {
        var scheme: String
        var host: String
        /// With its leading slash, if there is one; query and fragment too.
        var path: String
        var hasPassword: Bool
        /// With its password, if there is one; empty where there is none.
        var user: String
        /// With or without a password.
        var hasUser: Bool
    }

    /// Splits `scheme://user:password@host:port/path`; nothing when there is no `scheme://`.
    static func parts(of text: String) -> Parts? {
        guard let mark = text.firstRange(of: "://") else { return nil }
        let scheme = text[..<mark.lowerBound].lowercased()
        guard let first = scheme.utf8.first, (0x61...0x7A).contains(first),
            scheme.utf8.allSatisfy({
                (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || "+-.".utf8.contains($0)
            })
        else { return nil }
        let rest = text[mark.upperBound...]
        let end = rest.firstIndex { $0 == "/" || $0 == "?" || $0 == "#" } ?? rest.endIndex
        let authority = rest[..<end]
        let at = authority.lastIndex(of: "@")
        let host = at.map { authority[authority.index(after: $0)...] } ?? authority
        let user = at.map { authority[..<$0] } ?? ""
        return Parts(
            scheme: scheme, host: String(host), path: String(rest[end...]), hasPassword: user.contains(":"),
            user: String(user), hasUser: at != nil)
    }

    /// `user@host:path`, git's short form of ssh.
    private static func isSCPLike(_ text: String) -> Bool {
        guard let colon = text.firstIndex(of: ":"), !text.hasPrefix(":") else { return false }
        let host = text[..<colon]
        let path = text[text.index(after: colon)...]
        return !host.contains("/") && !path.isEmpty && !path.hasPrefix("-") && !host.hasSuffix("@")
            && !host.contains("@-")
    }

    /// The address with what stands between `:` and `@` taken out, fit for messages.
    static func withoutPassword(_ text: String) -> String {
        guard let mark = text.firstRange(of: "://"), let at = text[mark.upperBound...].lastIndex(of: "@"),
            let colon = text[mark.upperBound..<at].firstIndex(of: ":")
        else { return text }
        return text[..<colon] + ":…" + text[at...]
    }
}
