import Encodings

/// A reader of the dependencies that a Swift package's `Package.resolved` pins (its versions 1 to 3).
enum SwiftLock {
    static func read(_ bytes: [UInt8], into list: inout PinList) throws(JSON.Failure) {
        let file = try JSON.parse(bytes)
        for pin in file["pins"].elements ?? file["object"]["pins"].elements ?? [] {
            let location = withoutSecret(pin["location"].string ?? pin["repositoryURL"].string ?? "")
            let identity = pin["identity"].string ?? pin["package"].string ?? location
            guard [location, identity].allSatisfy(isPlain) else { continue }
            if let revision = pin["state"]["revision"].string, !location.isEmpty {
                list.add(
                    LockedPackage(uri: "git+\(location)", digest: LockedDigest.commit(revision), name: identity))
            } else if let version = pin["state"]["version"].string, !identity.isEmpty {
                // The package is from a registry. SwiftPM pins its version and stores the digest elsewhere.
                list.add(
                    LockedPackage(
                        uri:
                            "pkg:swift/\(PercentEncoding.encode(path: identity))@\(PercentEncoding.encode(path: version))",
                        digest: [:], name: identity))
            }
        }
    }

    /// Returns whether a text is safe and short enough. Addresses may be longer than names.
    private static func isPlain(_ text: String) -> Bool {
        text.utf8.count <= 2 * LockedPackage.maximumLength && text.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7F }
    }

    /// Returns an address without its user, which may be a token; only ssh's user `git` is kept. Statements are public and permanent.
    private static func withoutSecret(_ location: String) -> String {
        guard let scheme = location.firstRange(of: "://") else { return location }
        let authority = location[scheme.upperBound...].prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        guard let at = authority.lastIndex(of: "@"), authority[..<at] != "git" else { return location }
        return String(location[..<scheme.upperBound]) + location[location.index(after: at)...]
    }
}
