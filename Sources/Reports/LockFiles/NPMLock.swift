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
