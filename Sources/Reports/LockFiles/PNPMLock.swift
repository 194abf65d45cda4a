/// A reader of `pnpm-lock.yaml`, versions 5 to 9 (github.com/pnpm/spec, "lockfile"), as pnpm writes it: the keys of `packages` are indented by two
/// blanks, and `integrity` is in the lines below.
enum PNPMLock {
    static func read(_ bytes: [UInt8], into list: inout PinList) {
        var (isOld, isInPackages) = (false, false)
        var package: (name: String, version: String)?
        for line in LockLines.of(bytes) {
            guard let first = line.utf8.first, first != UInt8(ascii: "#") else { continue }
            if first != UInt8(ascii: " ") {
                if line.hasPrefix("lockfileVersion:") { isOld = major(line) < 6 }
                isInPackages = line == "packages:"
                package = nil
            } else if isInPackages {
                if line.hasPrefix("  "), line.dropFirst(2).first != " ", line.hasSuffix(":") {
                    package = self.package(LockLines.unquoted(line.dropFirst(2).dropLast()), isOld: isOld)
                } else if let found = package, let place = line.range(ofFirst: "integrity: ") {
                    let value = line[place.upperBound...].prefix { $0 != "," && $0 != "}" }
                    let digest = LockedDigest.integrity(LockLines.unquoted(value))
                    list.add(LockedPackage(.npm, found.name, found.version, digest: digest))
                    package = nil
                }
            }
        }
    }

    /// Returns the major version in `lockfileVersion: '9.0'`; 0 if there is none.
    private static func major(_ line: String) -> Int {
        Int(String(line.drop { !$0.isNumber }.prefix { $0.isNumber })) ?? 0
    }

    /// Parses a key: `/@a/b/1.0.0_c@2` until version 5, `/@a/b@1.0.0(c@2)` in 6, `@a/b@1.0.0` in 9. `nil` if the package is from no registry.
    private static func package(_ key: String, isOld: Bool) -> (name: String, version: String)? {
        guard isOld else {
            let plain = key.hasPrefix("/") ? key.dropFirst() : key[...]
            return NodeName.split(plain.prefix { $0 != "(" })
        }
        guard key.hasPrefix("/") else { return nil }
        let parts = key.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
        let count = parts.first?.hasPrefix("@") == true ? 2 : 1
        guard parts.count > count else { return nil }
        return (parts[..<count].joined(separator: "/"), String(parts[count].prefix { $0 != "_" }))
    }
}
