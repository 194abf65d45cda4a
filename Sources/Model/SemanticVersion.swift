/// A version by Semantic Versioning 2.0.0 (semver.org), in full: precedence ignores build metadata.
package struct SemanticVersion: Hashable, Sendable, Comparable, CustomStringConvertible {
    package let major: VersionNumber
    package let minor: VersionNumber
    package let patch: VersionNumber
    package let prerelease: [String]
    package let build: [String]

    /// Longest accepted text in bytes; a version becomes a directory's name.
    package static let maximumLength = 128

    package init(_ major: VersionNumber, _ minor: VersionNumber, _ patch: VersionNumber) {
        self.major = major
        self.minor = minor
        self.patch = patch
        prerelease = []
        build = []
    }

    /// Parses by the grammar of semver.org, "Backus–Naur Form Grammar for Valid SemVer Versions"; nothing else passes.
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
    package init?(tag: String) {
        self.init(tag.hasPrefix("v") ? String(tag.dropFirst()) : tag)
    }

    package var isPrerelease: Bool { !prerelease.isEmpty }

    package var description: String {
        "\(major).\(minor).\(patch)" + (prerelease.isEmpty ? "" : "-" + prerelease.joined(separator: "."))
            + (build.isEmpty ? "" : "+" + build.joined(separator: "."))
    }

    /// Precedence by section 11. Versions that differ in build metadata alone have the same (`precedes(_:)` calls neither first); they are
    /// ordered by it as pre-releases are, numbers as numbers, so that of +9 and +10 people find the later one as `latest`.
    package static func < (left: SemanticVersion, right: SemanticVersion) -> Bool {
        if left.precedes(right) { return true }
        if right.precedes(left) { return false }
        return precedes(left.build, right.build)
    }

    /// Whether this has the lower precedence (section 11).
    package func precedes(_ other: SemanticVersion) -> Bool {
        if (major, minor, patch) != (other.major, other.minor, other.patch) {
            return (major, minor, patch) < (other.major, other.minor, other.patch)
        }
        if prerelease.isEmpty || other.prerelease.isEmpty { return !prerelease.isEmpty && other.prerelease.isEmpty }
        return Self.precedes(prerelease, other.prerelease)
    }

    /// Identifier by identifier; of two that begin alike the shorter one is first.
    private static func precedes(_ left: [String], _ right: [String]) -> Bool {
        for (left, right) in zip(left, right) where left != right {
            switch (isAllDigits(left), isAllDigits(right)) {
            case (true, true):
                // Numbers may be longer than an Int; without leading zeros, which build metadata may have, the longer one is the greater.
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
