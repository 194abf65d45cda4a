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
