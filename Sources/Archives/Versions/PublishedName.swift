/// The rules for names of stored and published files.
package enum PublishedName {
    /// The names in a version's directory that are reserved for its descriptions.
    package static let reserved: Set<String> = [
        "manifest.json", "provenance.json", "SHA256SUMS", "SHA256SUMS.sig", "yanked.json",
    ]

    /// The size limit of a name in bytes: NAME_MAX of common file systems.
    package static let maximumLength = 255

    /// Whether a text is a path component that every tool accepts: 1–255 bytes, no `/` or `\`, no control character, no
    /// leading `.` or `-`. Without control characters and backslashes, `SHA256SUMS` needs no escapes.
    package static func isComponent(_ name: String) -> Bool {
        guard let first = name.utf8.first, first != UInt8(ascii: "."), first != UInt8(ascii: "-") else { return false }
        guard name.utf8.count <= maximumLength else { return false }
        return name.unicodeScalars.allSatisfy {
            $0.value >= 0x20 && !(0x7f...0x9f).contains($0.value) && $0 != "/" && $0 != "\\"
        }
    }

    /// Whether a file of this name may be published.
    package static func isPublishable(_ name: String) -> Bool { isComponent(name) && !reserved.contains(name) }
}
