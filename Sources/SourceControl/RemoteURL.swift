package import Model

/// The place that a mirror is fetched from: the address of a repository (`RepositoryAddress`), or a directory of ours.
package struct RemoteURL: Sendable, Hashable, CustomStringConvertible {
    /// The ways to a repository; `ssh` also stands for `user@host:path`, `path` for an absolute one of this machine.
    package typealias Kind = RepositoryAddress.Kind

    /// Longest URL in bytes.
    package static let maximumLength = RepositoryAddress.maximumLength

    /// The URL with scheme and host in lower case.
    package let description: String
    package let kind: Kind
    /// The account in the URL, if it names one.
    package let user: String?
    /// `nil` for a local path.
    package let host: String?
    /// The port in the URL; `nil` for the protocol's own.
    package let port: Int?
    /// As the server gets it; for a local path the path.
    package let path: String

    /// A directory of this machine that is never fetched from: any path will do.
    init(directory: String) {
        (description, kind, user, host, port, path) = (directory, .path, nil, nil, nil, directory)
    }

    /// - Parameter isInsecureAllowed: Whether `http://` and `git://`, which anyone on the way can read and change, pass.
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

    /// Scheme, host and port: the scope of credentials. `nil` for a local path.
    var origin: String? { host.map { "\(kind.rawValue)://\($0)" + (port.map { ":\($0)" } ?? "") } }

    /// A readable name: the last component of the path without `.git`.
    package var name: Name {
        let last = path.split(separator: "/").last.map(String.init) ?? ""
        return Name(nearest: last.hasSuffix(".git") ? String(last.dropLast(4)) : last, fallback: "repository")
    }
}
