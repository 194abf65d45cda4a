import Encodings

/// The lock files in which package managers record the packages that a build uses, and the packages that they pin.
package enum LockFile {
    /// The most bytes of a file whose pins are read. The largest known ones (a `package-lock.json` of some thousand packages) have about 2 MiB.
    package static let maximumBytes = 8 << 20
    /// The most pins of one file that are read; further ones are counted.
    package static let maximumPins = 5000

    /// The packages that a lock file pins.
    package struct Pins: Hashable, Sendable {
        /// The packages, each once, in the order of the file. Those of a JSON file are ordered by name.
        package var packages: [LockedPackage] = []
        /// The number of further pins.
        package var dropped = 0
        /// Why the file may pin more packages: a sentence that states what could not be read. `nil` if everything was read.
        package var problem: String?

        package init(problem: String? = nil) { self.problem = problem }
    }

    private static let readers: [String: @Sendable ([UInt8], inout PinList) throws(JSON.Failure) -> Void] = [
        "Package.resolved": SwiftLock.read,
        "package-lock.json": NPMLock.read, "npm-shrinkwrap.json": NPMLock.read,
        "yarn.lock": YarnLock.read, "pnpm-lock.yaml": PNPMLock.read,
        "Cargo.lock": CargoLock.read,
        "go.sum": GoSum.read,
        "poetry.lock": PythonLock.read, "uv.lock": PythonLock.read, "Pipfile.lock": PipfileLock.read,
        "requirements.txt": RequirementsFile.read,
        "Gemfile.lock": GemfileLock.read,
        "composer.lock": ComposerLock.read,
    ]

    /// The names of lock files.
    package static var names: Set<String> { Set(readers.keys) }

    /// Returns the packages that a file pins with a digest; empty for a file of any other name. The time is linear in the file's size.
    package static func pins(in bytes: [UInt8], called name: String) -> Pins {
        guard let read = readers[name] else { return Pins() }
        var list = PinList()
        do throws(JSON.Failure) {
            try read(bytes, &list)
        } catch {
            list.pins.problem = error.text
        }
        return list.pins
    }
}

/// A collector of pins, each once, up to the limit.
struct PinList {
    var pins = LockFile.Pins()
    private var known: Set<LockedPackage> = []

    mutating func add(_ package: LockedPackage?) {
        guard let package, !known.contains(package) else { return }
        // From here on a repeated pin is counted again, since the set of known pins is limited, too.
        guard pins.packages.count < LockFile.maximumPins else { return pins.dropped += 1 }
        known.insert(package)
        pins.packages.append(package)
    }
}

/// A reader of `Cargo.lock`, versions 1 to 4 (doc.rust-lang.org/cargo, "Cargo.toml vs Cargo.lock"), as cargo writes it.
enum CargoLock {
    static func read(_ bytes: [UInt8], into list: inout PinList) {
        var (name, version, isInPackage) = ("", "", false)
        for line in LockLines.of(bytes) {
            if line.hasPrefix("[") {
                isInPackage = line == "[[package]]"
                (name, version) = ("", "")
            } else if let old = checksum(line) {
                list.add(old)
            } else if isInPackage {
                if let text = LockLines.own("name", of: line) { name = text }
                if let text = LockLines.own("version", of: line) { version = text }
                guard let text = LockLines.own("checksum", of: line) else { continue }
                let digest = LockedDigest.hexadecimal(text, algorithm: "sha256")
                list.add(LockedPackage(.cargo, name, version, digest: digest))
            }
        }
    }

    /// Returns the package in a line of version 1's `[metadata]`: `"checksum NAME VERSION (SOURCE)" = "HEX"`. `nil` for other lines.
    private static func checksum(_ line: String) -> LockedPackage? {
        guard line.hasPrefix("\"checksum ") else { return nil }
        let words = line.split(separator: " ")
        guard words.count == 6 else { return nil }
        let digest = LockedDigest.hexadecimal(LockLines.unquoted(words[5]), algorithm: "sha256")
        return LockedPackage(.cargo, String(words[1]), String(words[2]), digest: digest)
    }
}

/// A reader of `composer.lock` (getcomposer.org). It uses the archive's SHA-1 if a registry states one, and the commit that it was made from.
/// Packagist states only the commit.
enum ComposerLock {
    static func read(_ bytes: [UInt8], into list: inout PinList) throws(JSON.Failure) {
        let file = try JSON.parse(bytes)
        for entry in (file["packages"].elements ?? []) + (file["packages-dev"].elements ?? []) {
            var digest = LockedDigest.hexadecimal(entry["dist"]["shasum"].string ?? "", algorithm: "sha1")
            if entry["source"]["type"].string == "git" {
                digest.merge(LockedDigest.commit(entry["source"]["reference"].string ?? "")) { first, _ in first }
            }
            list.add(
                LockedPackage(
                    .composer, entry["name"].string ?? "", entry["version"].string ?? "", digest: digest))
        }
    }
}

/// A reader of the section `CHECKSUMS` of `Gemfile.lock` (bundler.io), which contains digests since Bundler 2.6.
enum GemfileLock {
    static func read(_ bytes: [UInt8], into list: inout PinList) {
        var isInChecksums = false
        for line in LockLines.of(bytes) {
            guard line.hasPrefix(" ") else {
                isInChecksums = line == "CHECKSUMS"
                continue
            }
            // The form is `  NAME (VERSION[-PLATFORM]) sha256=HEX[,…]`.
            let words = line.split(separator: " ")
            guard isInChecksums, words.count == 3, words[1].hasPrefix("("), words[1].hasSuffix(")") else { continue }
            let version = words[1].dropFirst().dropLast().split(separator: "-", maxSplits: 1)
            guard let number = version.first else { continue }
            let digest = words[2].split(separator: ",").reduce(into: [String: String]()) { all, text in
                all.merge(LockedDigest.named(text)) { first, _ in first }
            }
            list.add(
                LockedPackage(
                    .gem, String(words[0]), String(number),
                    qualifier: version.count > 1 ? ("platform", String(version[1])) : nil, digest: digest))
        }
    }
}

/// A reader of the modules in `go.sum` (go.dev/ref/mod, "go.sum files"). Digests of a `go.mod` file alone are left out, since builds use the modules.
enum GoSum {
    static func read(_ bytes: [UInt8], into list: inout PinList) {
        for line in LockLines.of(bytes) {
            let words = line.split(separator: " ")
            guard words.count == 3, !words[1].hasSuffix("/go.mod") else { continue }
            let digest = LockedDigest.directory(words[2])
            list.add(LockedPackage(.golang, String(words[0]), String(words[1]), digest: digest))
        }
    }
}

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
