/// The file name of a Swift package's manifest: `Package.swift`, or `Package@swift-5.9.swift` for one compiler version.
package struct ManifestName: Hashable, Sendable, Comparable, CustomStringConvertible {
    package static let usual = "Package.swift"
    /// The largest number of manifests of one package that are published.
    package static let maximumCount = 32
    /// The largest manifest that is published, in bytes.
    package static let maximumBytes = 1 << 20

    package let description: String
    /// The three numbers of the name, with 0 for missing ones; `nil` for `Package.swift`.
    package let swift: [Int]?

    /// Creates a manifest's name.
    /// - Returns: `nil` if SwiftPM does not read a file of this name as a manifest.
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

    /// Parses `5`, `5.9` or `5.9.1` as three numbers.
    /// - Returns: `nil` if the text is not such a version, or is longer than 24 bytes.
    package static func numbers(_ text: some StringProtocol) -> [Int]? {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard (1...3).contains(parts.count), text.utf8.count <= 24 else { return nil }
        let numbers = parts.compactMap { part in
            part.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) } ? Int(part) : nil
        }
        guard numbers.count == parts.count else { return nil }
        return numbers + Array(repeating: 0, count: 3 - numbers.count)
    }

    /// Orders `Package.swift` first, then by Swift version from the oldest.
    package static func < (left: ManifestName, right: ManifestName) -> Bool {
        let (old, new) = (left.swift ?? [], right.swift ?? [])
        return old == new ? left.description < right.description : old.lexicographicallyPrecedes(new)
    }

    /// Returns the tools version that a manifest declares: `5.9` for `// swift-tools-version: 5.9`, always with a minor number, because SwiftPM
    /// requires one.
    ///
    /// The declaration is in the first line that is not blank; from 6.0 on it may be in any line. A manifest without a declaration has the version
    /// 3.1 (SwiftPM's "Swift Tools Version", section "Missing").
    package static func toolsVersion(of manifest: some Collection<UInt8>) -> String {
        let lines = String(decoding: manifest, as: UTF8.self).split(whereSeparator: \.isNewline)
        var isFirst = true
        for line in lines {
            guard let text = line.firstIndex(where: { $0 != " " && $0 != "\t" }).map({ line[$0...] }) else { continue }
            if let version = written(in: text), isFirst || (version.first ?? 0) >= 6 {
                return version.map(String.init).joined(separator: ".")
            }
            isFirst = false
        }
        return "3.1"
    }

    /// Returns the two or three numbers that a line of a manifest declares; `nil` if it declares none.
    private static func written(in line: Substring) -> [Int]? {
        let word = "swift-tools-version"
        guard line.hasPrefix("//") else { return nil }
        var rest = line.dropFirst(2).drop { $0 == " " || $0 == "\t" }
        guard rest.prefix(word.count).lowercased() == word else { return nil }
        rest = rest.dropFirst(word.count).drop { $0 == " " || $0 == "\t" || $0 == ":" }
        let text = rest.prefix { ("0"..."9").contains($0) || $0 == "." }
        return numbers(text).map { Array($0.prefix(max(2, text.split(separator: ".").count))) }
    }
}
