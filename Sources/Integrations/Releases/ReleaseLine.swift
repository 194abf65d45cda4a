package import Model

/// The MAJOR.MINOR that a release branch's name states: `release/1.4` → 1.4.
package struct ReleaseLine: Hashable, Sendable, CustomStringConvertible {
    package let major: VersionNumber
    package let minor: VersionNumber

    package init(major: VersionNumber, minor: VersionNumber) {
        self.major = major
        self.minor = minor
    }

    /// Reads the part after the last slash: `1.4`, `v1.4`, or `1`, whose minor is 0. `nil` for anything else, and for numbers with leading zeros,
    /// which Semantic Versioning forbids.
    package init?(branch: String) {
        var last = branch.split(separator: "/", omittingEmptySubsequences: false).last ?? ""
        if last.hasPrefix("v") { last = last.dropFirst() }
        let parts = last.split(separator: ".", omittingEmptySubsequences: false)
        guard let first = parts.first, parts.count <= 2,
            let line = SemanticVersion("\(first).\(parts.count == 2 ? parts[1] : "0").0"), line.prerelease.isEmpty,
            line.build.isEmpty
        else { return nil }
        self.init(major: line.major, minor: line.minor)
    }

    package var description: String { "\(major).\(minor)" }
}
