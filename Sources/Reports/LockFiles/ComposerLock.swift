import Encodings

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
