/// The repository that a delivery names. It is a claim: it is compared with the bots' configured URLs, and never used as an address.
package struct NamedRepository: Sendable, Equatable {
    /// The host and path of every address in the body (`key(of:)`).
    var keys: Set<String> = []
    /// The owner and the name in lower case, such as `acme/kit`.
    var path: String?

    init(urls: [String?] = [], path: String? = nil) {
        keys = Set(urls.compactMap { $0.flatMap(Self.key) })
        self.path = path.map { $0.lowercased() }
    }

    /// The text for users.
    package var description: String { path ?? keys.min() ?? "that it names" }

    /// Returns what all addresses of one repository have in common. `https://me@Git.example:8443/acme/Kit.git/`,
    /// `ssh://git@git.example:2222/acme/kit` and `git@git.example:acme/kit.git` all become `git.example/acme/kit`. It is in lower case, because
    /// forges compare names without regard to case. `nil` if the text is no address with a host, such as a local path.
    package static func key(of url: String) -> String? {
        guard url.utf8.count <= ForgeJSONReader.maximumStringBytes else { return nil }
        var rest = url[...]
        var isPlain = false
        if let scheme = rest.firstRange(of: "://") {
            rest = rest[scheme.upperBound...]
        } else {
            isPlain = true
        }
        let end = rest.firstIndex { $0 == "/" || (isPlain && $0 == ":") } ?? rest.endIndex
        guard end > rest.startIndex, end < rest.endIndex else { return nil }
        var host = rest[..<end]
        if let user = host.lastIndex(of: "@") { host = host[host.index(after: user)...] }
        // Without a scheme, only the form of scp is an address; anything else is a path.
        if isPlain, rest[end] != ":" { return nil }
        // In an IPv6 address in brackets, the last colon may be within the brackets.
        if let port = host.lastIndex(of: ":"), !host[port...].contains("]") { host = host[..<port] }
        let name = path(String(rest[end...].dropFirst()))
        return host.isEmpty || name.isEmpty ? nil : "\(host.lowercased())/\(name)"
    }

    /// Whether one of its addresses is the bot's configured URL.
    package func isAt(_ url: String) -> Bool { Self.key(of: url).map { keys.contains($0) } ?? false }

    /// Whether the owner and the name match those of the bot's configured URL. A forge can use another host name than the bot's file, and a local
    /// path has no host.
    package func hasPath(of url: String) -> Bool {
        guard let path, path.contains("/") else { return false }
        let configured = Self.key(of: url) ?? Self.path(url)
        return configured.hasSuffix("/" + path)
    }

    private static func path(_ text: String) -> String {
        var path = text.lowercased()[...]
        while path.hasPrefix("/") { path = path.dropFirst() }
        while path.hasSuffix("/") { path = path.dropLast() }
        if path.hasSuffix(".git") { path = path.dropLast(4) }
        return String(path)
    }
}
