import Model

/// Host and path of a repository's address, as far as they tell where its forge is.
package struct RepositoryPlace: Hashable, Sendable {
    /// Of an https or http address; else https.
    var scheme = "https"
    /// In lower case, with the port where the scheme is the forge's own.
    var authority: String
    /// Without slashes at its ends and `.git`.
    var path: String

    /// `nil` for a local path, and for a text that is no repository's address.
    package init?(_ repository: String) {
        guard let address = try? RepositoryAddress(repository, isInsecureAllowed: true), let host = address.host else {
            return nil
        }
        if address.kind == .http { scheme = "http" }
        // The port of ssh and git does not say where the forge's pages are.
        let hasOwnPort = address.kind == .http || address.kind == .https
        let name = host + (hasOwnPort ? address.port.map { ":\($0)" } ?? "" : "")
        var rest = address.path[...]
        while rest.hasPrefix("/") { rest = rest.dropFirst() }
        while rest.hasSuffix("/") { rest = rest.dropLast() }
        if rest.hasSuffix(".git") { rest = rest.dropLast(4) }
        guard !rest.isEmpty else { return nil }
        // Where the public forges take ssh through port 443.
        authority =
            [
                "ssh.github.com": "github.com", "altssh.gitlab.com": "gitlab.com",
                "altssh.bitbucket.org": "bitbucket.org",
            ][
                name] ?? name
        path = String(rest)
    }

    /// Whether two addresses are of one repository, however each is reached.
    package func isSame(as other: RepositoryPlace) -> Bool { authority == other.authority && path == other.path }

    /// The host without a port.
    var name: String {
        guard let port = authority.lastIndex(of: ":"), !authority[port...].contains("]") else { return authority }
        return String(authority[..<port])
    }

    /// The repository's name at a forge; `nil` if the address does not tell.
    func project(of forge: StatusTarget.Forge) -> String? {
        guard forge == .bitbucketServer else { return path }
        // https://host/scm/KEY/name.git, ssh://git@host:7999/KEY/name.git, with ~user in place of the key for a user's own.
        var parts = path.split(separator: "/")
        if let scm = parts.firstIndex(of: "scm") { parts = Array(parts[(scm + 1)...]) }
        return parts.count == 2 ? parts.joined(separator: "/") : nil
    }
}

extension StatusTarget.Forge {
    /// The forge at a public host; `nil` for another host.
    static func of(host: String) -> StatusTarget.Forge? {
        switch host {
        case "github.com": .github
        case "gitlab.com": .gitlab
        case "gitea.com": .gitea
        case "codeberg.org": .forgejo
        case "bitbucket.org": .bitbucket
        default: nil
        }
    }

    /// The address of the forge's interface at a host, as it is where its maker's instructions were followed.
    func api(at place: RepositoryPlace) -> String {
        let host = "\(place.scheme)://\(place.authority)"
        switch self {
        case .github: return place.name == "github.com" ? "https://api.github.com" : host + "/api/v3"
        case .gitlab: return host + "/api/v4"
        case .gitea, .forgejo: return host + "/api/v1"
        case .bitbucket: return "https://api.bitbucket.org/2.0"
        case .bitbucketServer: return host + "/rest/api/latest"
        }
    }
}
