/// A reader of `yarn.lock` of yarn 1 (classic.yarnpkg.com, "yarn.lock").
enum YarnLock {
    static func read(_ bytes: [UInt8], into list: inout PinList) {
        var (name, version) = ("", "")
        var digest: [String: String] = [:]
        func pin() -> LockedPackage? { LockedPackage(.npm, name, version, digest: digest) }
        for line in LockLines.of(bytes) {
            if line.hasPrefix("__metadata:") {
                list.pins.problem = "yarn 2 and later write digests of archives that yarn makes itself"
                return
            }
            if let first = line.utf8.first, first != UInt8(ascii: " "), first != UInt8(ascii: "#") {
                list.add(pin())
                (name, version, digest) = (self.name(of: line), "", [:])
            } else if line.hasPrefix("  version ") {
                version = LockLines.unquoted(line.dropFirst(10))
            } else if line.hasPrefix("  integrity ") {
                digest = LockedDigest.integrity(line.dropFirst(12))
            } else if line.hasPrefix("  resolved "), digest.isEmpty {
                // Before yarn 1.10 the digest was the fragment of the address.
                let address = LockLines.unquoted(line.dropFirst(11))
                guard let mark = address.lastIndex(of: "#") else { continue }
                digest = LockedDigest.hexadecimal(address[address.index(after: mark)...], algorithm: "sha1")
            }
        }
        list.add(pin())
    }

    /// Returns the name of the first pattern in `"a@^1.0", a@^1.1:`; for an alias, the name of the real package.
    private static func name(of line: String) -> String {
        let first = line.prefix { $0 != "," }
        let pattern = LockLines.unquoted(first.hasSuffix(":") ? first.dropLast() : first)
        guard let parts = NodeName.split(pattern) else { return "" }
        guard parts.version.hasPrefix("npm:") else { return parts.name }
        return NodeName.alias(parts.version)?.name ?? String(parts.version.dropFirst(4))
    }
}
