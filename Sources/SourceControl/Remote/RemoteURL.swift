package import Model

/// The location from which a mirror is fetched: the address of a repository (`RepositoryAddress`), or a local directory.
package struct RemoteURL: Sendable, Hashable, CustomStringConvertible {
    /// The protocols. `ssh` includes the form `user@host:path`; `path` is an absolute path on this machine.
    package typealias Kind = RepositoryAddress.Kind

    /// The URL with scheme and host in lower case.
    package let description: String
    package let kind: Kind
    /// The account in the URL; `nil` if it names none.
    package let user: String?
    /// The host; `nil` for a local path.
    package let host: String?
    /// The port in the URL; `nil` for the protocol's default.
    package let port: Int?
    /// The path that the server receives. For a local path it is that path.
    package let path: String

    /// Creates a URL for a directory of this machine that is never fetched from. Any path is valid.
    init(directory: String) {
        (description, kind, user, host, port, path) = (directory, .path, nil, nil, nil, directory)
    }

    /// - Parameter isInsecureAllowed: Whether `http://` and `git://` are accepted, which anyone between the machines can read and change.
    /// - Throws: `invalidURL` for every address that `RepositoryAddress` refuses.
    package init(_ text: String, isInsecureAllowed: Bool) throws(SourceControlError) {
        let address: RepositoryAddress
        do throws(RepositoryAddress.Refusal) {
            address = try RepositoryAddress(text, isInsecureAllowed: isInsecureAllowed)
        } catch {
            throw SourceControlError(
                code: .invalidURL, operation: "reading the repository's URL",
                message: "\"\(RepositoryAddress.shown(text))\" \(error)")
        }
        (description, kind, user) = (address.description, address.kind, address.user)
        (host, port, path) = (address.host, address.port, address.path)
    }

    /// Scheme, host and port, which are the scope of credentials. `nil` for a local path.
    var origin: String? { host.map { "\(kind.rawValue)://\($0)" + (port.map { ":\($0)" } ?? "") } }

    /// A readable name: the last component of the path without `.git`.
    package var name: Name {
        let last = path.split(separator: "/").last.map(String.init) ?? ""
        return Name(nearest: last.hasSuffix(".git") ? String(last.dropLast(4)) : last, fallback: "repository")
    }
}
