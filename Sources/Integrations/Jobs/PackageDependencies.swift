/// Determines from the text of its manifest whether a Swift package may depend on others.
///
/// A manifest is a program of the repository, which must not run outside a sandbox. But a manifest without `.package(…)` has no dependency, so
/// dependencies need not be resolved. If the text appears elsewhere, such as in a comment, that costs half a second.
enum PackageDependencies {
    /// The largest manifest that is searched, in bytes. A larger one is presumed to have dependencies.
    static let maximumBytes = 1 << 20

    /// Whether one of a package's manifests may have a dependency.
    static func mayExist(inManifests texts: [[UInt8]]) -> Bool { texts.contains(where: mayExist) }

    /// Whether a manifest may have a dependency. Blanks and backticks around a name are skipped, because the compiler ignores them, too.
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
