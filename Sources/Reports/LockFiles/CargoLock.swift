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
