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
