/// A selection of versions, as users write it: `1.4.2`, `latest`, `latest-pre`, `~1.4`, `^1`.
package enum VersionRange: Hashable, Sendable {
    case exactly(SemanticVersion)
    /// The highest version that is not a pre-release.
    case latest
    /// The highest version, including pre-releases.
    case latestPrerelease
    /// The versions from the first up to but excluding the second, without pre-releases.
    case between(SemanticVersion, SemanticVersion)

    /// Parses a selection.
    ///
    /// - `~1.4` is ≥ 1.4.0 < 1.5.0, `~1` is ≥ 1.0.0 < 2.0.0, and `~1.4.2` is ≥ 1.4.2 < 1.5.0.
    /// - `^1.4` is ≥ 1.4.0 < 2.0.0. With a leading 0 the first number that is not 0 must stay the same (npm's `semver`,
    ///   "Caret Ranges").
    /// - Returns: `nil` for other texts.
    package init?(_ text: String) {
        if text == "latest" {
            self = .latest
        } else if text == "latest-pre" {
            self = .latestPrerelease
        } else if let version = SemanticVersion(text) {
            self = .exactly(version)
        } else if let sign = text.first, sign == "~" || sign == "^" {
            let parts = text.dropFirst().split(separator: ".", omittingEmptySubsequences: false)
            let numbers = parts.compactMap { VersionNumber($0) }
            guard (1...3).contains(parts.count), numbers.count == parts.count,
                text.utf8.count <= SemanticVersion.maximumLength
            else { return nil }
            let (major, minor) = (numbers[0], numbers.count > 1 ? numbers[1] : 0)
            let patch = numbers.count > 2 ? numbers[2] : 0
            let low = SemanticVersion(major, minor, patch)
            let high: SemanticVersion
            if sign == "~" {
                high = numbers.count == 1 ? .init(major.next, 0, 0) : .init(major, minor.next, 0)
            } else if major > 0 || numbers.count == 1 {
                high = .init(major.next, 0, 0)
            } else if minor > 0 || numbers.count == 2 {
                high = .init(0, minor.next, 0)
            } else {
                high = .init(0, 0, patch.next)
            }
            self = .between(low, high)
        } else {
            return nil
        }
    }

    /// Returns the highest version in the selection; `nil` if there is none.
    package func highest(of versions: some Sequence<SemanticVersion>) -> SemanticVersion? {
        switch self {
        case .exactly(let version): versions.first { $0 == version }
        case .latest: versions.filter { !$0.isPrerelease }.max()
        case .latestPrerelease: versions.max()
        case .between(let low, let high):
            versions.filter { !$0.isPrerelease && !$0.precedes(low) && $0.precedes(high) }.max()
        }
    }
}
