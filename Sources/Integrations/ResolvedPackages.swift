import Archives
import FoundationEssentials

/// The dependencies that a Swift package's `Package.resolved` pins (its versions 1 to 3).
enum ResolvedPackages {
    static let fileName = "Package.resolved"
    /// A larger file is not read, and the version not published, since its inputs would not be said.
    static let maximumBytes = 4 << 20

    private struct File: Decodable {
        struct Pin: Decodable {
            struct State: Decodable {
                var revision: String?
                var version: String?
            }

            var identity: String?
            var location: String?
            var repositoryURL: String?
            var state: State
        }

        struct Object: Decodable { var pins: [Pin] }

        var pins: [Pin]?
        var object: Object?
    }

    /// Nothing of a file that cannot be read: then it pinned nothing for the build either.
    static func inputs(_ bytes: [UInt8]) -> [Provenance.Input] {
        guard let file = try? JSONDecoder().decode(File.self, from: Data(bytes)) else { return [] }
        return (file.pins ?? file.object?.pins ?? []).compactMap { pin in
            let location = withoutSecret(pin.location ?? pin.repositoryURL ?? "")
            if let revision = pin.state.revision, !location.isEmpty {
                return Provenance.Input(
                    uri: "git+\(location)", digest: ["gitCommit": revision], name: pin.identity)
            }
            // Of a registry: SwiftPM pins its version and keeps the digest elsewhere.
            guard let identity = pin.identity, let version = pin.state.version else { return nil }
            return Provenance.Input(uri: "pkg:swift/\(identity)@\(version)", digest: [:], name: identity)
        }
    }

    /// A statement is shown to everyone, for ever: a user part may be a token, unless it is the `git` that ssh wants.
    private static func withoutSecret(_ location: String) -> String {
        guard let scheme = location.firstRange(of: "://") else { return location }
        let authority = location[scheme.upperBound...].prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        guard let at = authority.lastIndex(of: "@"), authority[..<at] != "git" else { return location }
        return String(location[..<scheme.upperBound]) + location[location.index(after: at)...]
    }
}
