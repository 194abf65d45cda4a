package import Archives
package import Model
package import Releases

extension VersionStore {
    /// Returns the version that a range selects; `nil` if there is none. `latest` and ranges ignore yanked versions; an exact version may be yanked.
    package func resolve(_ range: VersionRange, product: Name) async throws(ArchiveError) -> SemanticVersion? {
        let yanked = try await yanked(product: product)
        let versions = try await versions(of: product)
        if case .exactly = range { return range.highest(of: versions) }
        return range.highest(of: versions.filter { yanked[$0] == nil })
    }
}
