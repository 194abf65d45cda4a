/// `package-lock.json` and `npm-shrinkwrap.json`, versions 1 to 3 (docs.npmjs.com, "package-lock.json").
enum NPMLock {
    static func read(_ bytes: [UInt8], into list: inout PinList) throws(JSON.Failure) {
        let file = try JSON.parse(bytes)
        guard !file["packages"].isObject else { return readPackages(file["packages"], into: &list) }
        // Version 1: packages within packages, JSON's own depth bounds them.
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

    /// By where each is put: `node_modules/a/node_modules/@b/c`. What lies elsewhere is the repository's own.
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

/// What Node's package managers call a package: `NAME@VERSION`, where a name may begin with an `@` of its own.
enum NodeName {
    static func split(_ text: some StringProtocol) -> (name: String, version: String)? {
        guard let at = text.dropFirst().firstIndex(of: "@") else { return nil }
        return (String(text[..<at]), String(text[text.index(after: at)...]))
    }

    /// What `npm:NAME@VERSION` stands for.
    static func alias(_ text: some StringProtocol) -> (name: String, version: String)? {
        text.hasPrefix("npm:") ? split(text.dropFirst(4)) : nil
    }
}
