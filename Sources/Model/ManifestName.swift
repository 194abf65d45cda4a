/// The name of a Swift package's manifest: `Package.swift`, or `Package@swift-5.9.swift` for one kind of compiler.
package struct ManifestName: Hashable, Sendable, Comparable, CustomStringConvertible {
    package static let usual = "Package.swift"
    /// The most manifests of one package that are published.
    package static let maximumCount = 32
    /// The largest manifest that is published, in bytes.
    package static let maximumBytes = 1 << 20

    package let description: String
    /// The numbers of the name, three of them, missing ones 0; nothing for `Package.swift`.
    package let swift: [Int]?

    /// Nothing for a file that SwiftPM takes for no manifest.
    package init?(_ name: String) {
        description = name
        if name == Self.usual {
            swift = nil
            return
        }
        guard name.hasPrefix("Package@swift-"), name.hasSuffix(".swift"),
            let numbers = Self.numbers(name.dropFirst("Package@swift-".count).dropLast(".swift".count))
        else { return nil }
        swift = numbers
    }

    /// Reads `5`, `5.9` or `5.9.1`, as three numbers.
    package static func numbers(_ text: some StringProtocol) -> [Int]? {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard (1...3).contains(parts.count), text.utf8.count <= 24 else { return nil }
        let numbers = parts.compactMap { part in
            part.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) } ? Int(part) : nil
        }
        guard numbers.count == parts.count else { return nil }
        return numbers + Array(repeating: 0, count: 3 - numbers.count)
    }

    /// `Package.swift` first, then from the oldest Swift on.
    package static func < (left: ManifestName, right: ManifestName) -> Bool {
        let (old, new) = (left.swift ?? [], right.swift ?? [])
        return old == new ? left.description < right.description : old.lexicographicallyPrecedes(new)
    }

    /// The tools version that a manifest's first line says: `5.9` of `// swift-tools-version: 5.9`. One that says none is of Swift 3.1
    /// (SwiftPM's "Swift Tools Version", section "Missing").
    package static func toolsVersion(of manifest: some Sequence<UInt8>) -> String {
        let line = String(decoding: manifest.prefix { $0 != 0x0A && $0 != 0x0D }.prefix(256), as: UTF8.self)
        var rest = line.drop { $0 == " " || $0 == "\t" }
        let word = "swift-tools-version"
        guard rest.hasPrefix("//") else { return "3.1" }
        rest = rest.dropFirst(2).drop { $0 == " " || $0 == "\t" }
        guard rest.prefix(word.count).lowercased() == word else { return "3.1" }
        rest = rest.dropFirst(word.count).drop { $0 == " " || $0 == "\t" || $0 == ":" }
        let version = rest.prefix { ("0"..."9").contains($0) || $0 == "." }
        return numbers(version) == nil ? "3.1" : String(version)
    }
}
