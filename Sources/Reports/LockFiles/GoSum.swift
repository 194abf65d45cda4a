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
