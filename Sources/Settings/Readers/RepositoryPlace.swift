package import Model

/// The host and path of a repository's address, from which the forge's address is derived.
package struct RepositoryPlace: Hashable, Sendable {
    /// The scheme of an https or http address; https for other addresses.
    package private(set) var scheme = "https"
    /// The host in lower case, with the port if the address is https or http.
    package var authority: String
    /// The path without slashes at its ends and without `.git`.
    package var path: String

    /// Reads an address. Fails for a local path, and for a text that is no repository's address.
    package init?(_ repository: String) {
        guard let address = try? RepositoryAddress(repository, isInsecureAllowed: true), let host = address.host else {
            return nil
        }
        if address.kind == .http { scheme = "http" }
        // The port of ssh and git does not determine the address of the forge's pages.
        let hasOwnPort = address.kind == .http || address.kind == .https
        let name = host + (hasOwnPort ? address.port.map { ":\($0)" } ?? "" : "")
        var rest = address.path[...]
        while rest.hasPrefix("/") { rest = rest.dropFirst() }
        while rest.hasSuffix("/") { rest = rest.dropLast() }
        if rest.hasSuffix(".git") { rest = rest.dropLast(4) }
        guard !rest.isEmpty else { return nil }
        // These hosts of the public forges accept ssh on port 443.
        authority =
            [
                "ssh.github.com": "github.com", "altssh.gitlab.com": "gitlab.com",
                "altssh.bitbucket.org": "bitbucket.org",
            ][
                name] ?? name
        path = String(rest)
    }

    /// Returns whether two addresses mean the same repository, even if they use different protocols.
    package func isSame(as other: RepositoryPlace) -> Bool { authority == other.authority && path == other.path }

    /// The host without a port.
    package var name: String {
        guard let port = authority.lastIndex(of: ":"), !authority[port...].contains("]") else { return authority }
        return String(authority[..<port])
    }

    /// Returns the repository's name at a forge; `nil` if the address does not contain it.
    package func project(of forge: StatusForge) -> String? {
        guard forge == .bitbucketServer else { return path }
        // The paths are https://host/scm/KEY/name.git or ssh://git@host:7999/KEY/name.git, with ~user instead of the key for a user's own repository.
        var parts = path.split(separator: "/")
        if let scm = parts.firstIndex(of: "scm") { parts = Array(parts[(scm + 1)...]) }
        return parts.count == 2 ? parts.joined(separator: "/") : nil
    }
}

extension StatusForge {
    /// Returns the address of the forge's API at a host, for a forge installed by its maker's instructions.
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
