/// Whether a Swift package may depend on others, told from its manifest's text.
///
/// A manifest is a program of the repository, which nobody runs outside a fence; but one that names no `.package(…)` has no
/// dependency, and then nothing needs to be resolved. A text that says so falsely (in a comment, say) costs half a second.
enum PackageDependencies {
    /// Larger manifests are taken to have some, in bytes.
    static let maximumBytes = 1 << 20

    /// Whether one of a package's manifests can have a dependency.
    static func mayExist(inManifests texts: [[UInt8]]) -> Bool { texts.contains(where: mayExist) }

    /// Blanks and the backticks around a name change nothing for the compiler, so they are passed over.
    private static func mayExist(in manifest: [UInt8]) -> Bool {
        let kept = manifest.filter { ![0x20, 0x09, 0x0A, 0x0D, UInt8(ascii: "`")].contains($0) }
        let wanted = Array(".package".utf8)
        guard kept.count >= wanted.count else { return false }
        return kept.indices.dropLast(wanted.count - 1).contains { start in
            kept[start] == wanted[0] && kept[start..<start + wanted.count].elementsEqual(wanted)
        }
    }

    /// Whether a file of a package's root is a manifest: `Package.swift`, `Package@swift-6.0.swift`.
    static func isManifest(_ name: String) -> Bool {
        name == "Package.swift" || (name.hasPrefix("Package@swift-") && name.hasSuffix(".swift"))
    }
}
