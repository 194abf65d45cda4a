/// The repository that a delivery names: a claim, compared with the bots' configured URLs and never used as an address.
struct NamedRepository: Sendable, Equatable {
    /// Host and path of every address that the body has (`key(of:)`).
    var keys: Set<String> = []
    /// Owner and name, `acme/kit`, in lower case.
    var path: String?

    init(urls: [String?] = [], path: String? = nil) {
        keys = Set(urls.compactMap { $0.flatMap(Self.key) })
        self.path = path.map { $0.lowercased() }
    }

    /// How people read it.
    var description: String { path ?? keys.min() ?? "that it names" }

    /// What all addresses of one repository have in common: `https://me@Git.example:8443/acme/Kit.git/`,
    /// `ssh://git@git.example:2222/acme/kit` and `git@git.example:acme/kit.git` are `git.example/acme/kit`. In lower case, since
    /// forges compare names so. Nothing for what is no address of a host, such as a local path.
    static func key(of url: String) -> String? {
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
        // Without a scheme only scp's form is an address, never a path.
        if isPlain, rest[end] != ":" { return nil }
        // Of an address in brackets the last colon is within them.
        if let port = host.lastIndex(of: ":"), !host[port...].contains("]") { host = host[..<port] }
        let name = path(String(rest[end...].dropFirst()))
        return host.isEmpty || name.isEmpty ? nil : "\(host.lowercased())/\(name)"
    }

    /// Whether it is the one at a bot's configured URL, by its address.
    func isAt(_ url: String) -> Bool { Self.key(of: url).map { keys.contains($0) } ?? false }

    /// The same by owner and name alone: a forge can call itself otherwise than the bot's file does, and a local path has no host.
    func hasPath(of url: String) -> Bool {
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
