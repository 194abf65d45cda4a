/// What a file that is kept or published may be called.
package enum PublishedName {
    /// What a version's directory holds beside its files.
    package static let reserved: Set<String> = [
        "manifest.json", "provenance.json", "SHA256SUMS", "SHA256SUMS.sig", "yanked.json",
    ]

    /// Longest name in bytes: NAME_MAX of the file systems we know.
    package static let maximumLength = 255

    /// Whether a text is one path component that every tool takes: 1–255 bytes, no `/` or `\`, no control character, no
    /// leading `.` or `-`. Without control characters and backslashes `SHA256SUMS` needs no escapes.
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
