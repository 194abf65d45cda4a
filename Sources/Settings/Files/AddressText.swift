import Model

/// Functions that split addresses of servers: uploads, webhooks, mail, the service's own. `RepositoryAddress` reads those of repositories. Before
/// data is sent, `Transfer` checks the address again with its own parser.
enum AddressText {
    /// The longest address in bytes; longer ones are refused.
    static let maximumLength = RepositoryAddress.maximumLength

    /// Returns the problem with a repository's address, and what to write instead; `nil` if it is valid.
    static func problem(withRepository text: String, isInsecure: Bool) -> String? {
        do throws(RepositoryAddress.Refusal) {
            _ = try RepositoryAddress(text, isInsecureAllowed: isInsecure)
            return nil
        } catch {
            return "`repository` \(error): \(Printable.quoted(RepositoryAddress.shown(text)))"
        }
    }

    static func passwordProblem(_ key: String, _ instead: String) -> String {
        "`\(key)` has a password in it, which pages and logs would show\(instead)"
    }

    struct Parts {
        var scheme: String
        var host: String
        /// The path with its leading slash, if there is one, and with query and fragment.
        var path: String
        var hasPassword: Bool
        /// The user with its password, if there is one; empty if there is no user.
        var user: String
        /// Whether there is a user, with or without a password.
        var hasUser: Bool
    }

    /// Splits `scheme://user:password@host:port/path`. Returns `nil` if there is no `scheme://`.
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

    /// Returns the address for messages: the password, between `:` and `@`, is replaced by `…`.
    static func withoutPassword(_ text: String) -> String {
        guard let mark = text.firstRange(of: "://"), let at = text[mark.upperBound...].lastIndex(of: "@"),
            let colon = text[mark.upperBound..<at].firstIndex(of: ":")
        else { return text }
        return text[..<colon] + ":…" + text[at...]
    }
}

/// A repository's address without private parts, for published data that stays.
package enum PublicAddress {
    /// Returns the address without query, fragment and user, which may be a token; only ssh's user `git` is kept. `git@host:path` becomes
    /// `ssh://git@host/path`.
    /// - Returns: `nil` for a path on this machine, and for a text that is no address.
    package static func of(_ repository: String) -> String? {
        if let parts = AddressText.parts(of: repository) {
            guard parts.scheme != "file", !parts.host.isEmpty else { return nil }
            let user = parts.scheme == "ssh" && parts.user == "git" ? "git@" : ""
            let path = parts.path.prefix { $0 != "?" && $0 != "#" }
            return "\(parts.scheme)://\(user)\(parts.host)\(path)"
        }
        guard !repository.hasPrefix("/"), let colon = repository.firstIndex(of: ":") else { return nil }
        var host = repository[..<colon]
        var user = ""
        if let at = host.lastIndex(of: "@") {
            if host[..<at] == "git" { user = "git@" }
            host = host[host.index(after: at)...]
        }
        let path = repository[colon...].dropFirst().drop { $0 == "/" }
        guard !host.isEmpty, !host.contains("/"), !path.isEmpty else { return nil }
        return "ssh://\(user)\(host)/\(path)"
    }
}
