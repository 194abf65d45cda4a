import Encodings

/// A reader of `package-lock.json` and `npm-shrinkwrap.json`, versions 1 to 3 (docs.npmjs.com, "package-lock.json").
enum NPMLock {
    static func read(_ bytes: [UInt8], into list: inout PinList) throws(JSON.Failure) {
        let file = try JSON.parse(bytes)
        guard !file["packages"].isObject else { return readPackages(file["packages"], into: &list) }
        // In version 1, packages contain packages. Their depth is limited by that of JSON.
        var pending = [file["dependencies"]]
        while let packages = pending.popLast() {
            for key in packages.keys.sorted() {
                let entry = packages[key]
                if entry["dependencies"].isObject { pending.append(entry["dependencies"]) }
                guard let version = entry["version"].string else { continue }
                let real = NodeName.alias(version) ?? (key, version)
                list.add(LockedPackage(.npm, real.name, real.version, digest: digest(of: entry)))
            }
        }
    }

    /// Reads packages keyed by their directories: `node_modules/a/node_modules/@b/c`. Other directories are the repository's own.
    private static func readPackages(_ packages: JSON, into list: inout PinList) {
        for key in packages.keys.sorted() {
            guard let place = key.range(ofLast: "node_modules/") else { continue }
            let entry = packages[key]
            list.add(
                LockedPackage(
                    .npm, entry["name"].string ?? String(key[place.upperBound...]), entry["version"].string ?? "",
                    digest: digest(of: entry)))
        }
    }

    private static func digest(of entry: JSON) -> [String: String] {
        entry["integrity"].string.map { LockedDigest.integrity($0) } ?? [:]
    }
}

/// A parser of package names of Node's package managers: `NAME@VERSION`, where a name may begin with an `@`.
enum NodeName {
    static func split(_ text: some StringProtocol) -> (name: String, version: String)? {
        guard let at = text.dropFirst().firstIndex(of: "@") else { return nil }
        return (String(text[..<at]), String(text[text.index(after: at)...]))
    }

    /// Returns the package in `npm:NAME@VERSION`; `nil` for other text.
    static func alias(_ text: some StringProtocol) -> (name: String, version: String)? {
        text.hasPrefix("npm:") ? split(text.dropFirst(4)) : nil
    }
}

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
