/// A version by Semantic Versioning 2.0.0 (semver.org), with pre-release and build metadata. Precedence ignores build metadata.
package struct SemanticVersion: Hashable, Sendable, Comparable, CustomStringConvertible {
    package let major: VersionNumber
    package let minor: VersionNumber
    package let patch: VersionNumber
    package let prerelease: [String]
    package let build: [String]

    /// The size limit of a version's text in bytes, because a version becomes a directory's name.
    package static let maximumLength = 128

    package init(_ major: VersionNumber, _ minor: VersionNumber, _ patch: VersionNumber) {
        self.major = major
        self.minor = minor
        self.patch = patch
        prerelease = []
        build = []
    }

    /// Parses a version by the grammar of semver.org, "Backus–Naur Form Grammar for Valid SemVer Versions".
    /// - Returns: `nil` if the text is not a version, or is longer than `maximumLength`.
    package init?(_ text: some StringProtocol) {
        guard text.utf8.count <= Self.maximumLength else { return nil }
        var core = text[...]
        var prereleaseText: Substring?
        var buildText: Substring?
        if let plus = core.firstIndex(of: "+") {
            buildText = Substring(core[core.index(after: plus)...])
            core = core[..<plus]
        }
        if let hyphen = core.firstIndex(of: "-") {
            prereleaseText = Substring(core[core.index(after: hyphen)...])
            core = core[..<hyphen]
        }
        let numbers = core.split(separator: ".", omittingEmptySubsequences: false)
        guard numbers.count == 3 else { return nil }
        let values = numbers.compactMap { VersionNumber($0) }
        guard values.count == 3 else { return nil }
        func identifiers(_ text: Substring?) -> [String]? {
            guard let text else { return [] }
            let parts = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
            return parts.allSatisfy(Self.isIdentifier) ? parts : nil
        }
        guard let prerelease = identifiers(prereleaseText), let build = identifiers(buildText) else { return nil }
        guard prerelease.allSatisfy({ !Self.isAllDigits($0) || VersionNumber($0) != nil }) else { return nil }
        (major, minor, patch) = (values[0], values[1], values[2])
        self.prerelease = prerelease
        self.build = build
    }

    /// Parses a git tag: a version, or `v` and a version.
    /// - Returns: `nil` if the tag is neither.
    package init?(tag: String) {
        self.init(tag.hasPrefix("v") ? String(tag.dropFirst()) : tag)
    }

    package var isPrerelease: Bool { !prerelease.isEmpty }

    package var description: String {
        "\(major).\(minor).\(patch)" + (prerelease.isEmpty ? "" : "-" + prerelease.joined(separator: "."))
            + (build.isEmpty ? "" : "+" + build.joined(separator: "."))
    }

    /// Orders versions by precedence (section 11). Versions that differ only in build metadata have the same precedence: `precedes(_:)` is false for
    /// both. They are ordered by the metadata like pre-releases, with numbers as numbers, so that `latest` is +10 rather than +9.
    package static func < (left: SemanticVersion, right: SemanticVersion) -> Bool {
        if left.precedes(right) { return true }
        if right.precedes(left) { return false }
        return precedes(left.build, right.build)
    }

    /// Whether this version has the lower precedence (section 11).
    package func precedes(_ other: SemanticVersion) -> Bool {
        if (major, minor, patch) != (other.major, other.minor, other.patch) {
            return (major, minor, patch) < (other.major, other.minor, other.patch)
        }
        if prerelease.isEmpty || other.prerelease.isEmpty { return !prerelease.isEmpty && other.prerelease.isEmpty }
        return Self.precedes(prerelease, other.prerelease)
    }

    /// Compares lists of identifiers. If one list is the beginning of the other, the shorter one is first.
    private static func precedes(_ left: [String], _ right: [String]) -> Bool {
        for (left, right) in zip(left, right) where left != right {
            switch (isAllDigits(left), isAllDigits(right)) {
            case (true, true):
                // The numbers may not fit an Int. Without leading zeros, which build metadata may have, the longer number is the greater one.
                let (shortLeft, shortRight) = (left.drop { $0 == "0" }, right.drop { $0 == "0" })
                if shortLeft == shortRight { return left.utf8.count < right.utf8.count }
                return shortLeft.utf8.count == shortRight.utf8.count
                    ? shortLeft < shortRight : shortLeft.utf8.count < shortRight.utf8.count
            case (true, false): return true
            case (false, true): return false
            case (false, false): return left.utf8.lexicographicallyPrecedes(right.utf8)
            }
        }
        return left.count < right.count
    }

    private static func isAllDigits(_ text: some StringProtocol) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    }

    private static func isIdentifier(_ text: String) -> Bool {
        !text.isEmpty
            && text.utf8.allSatisfy {
                (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
                    || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0)
                    || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) || $0 == UInt8(ascii: "-")
            }
    }
}
