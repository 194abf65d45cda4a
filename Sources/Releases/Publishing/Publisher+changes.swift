import Logging
import Model
import SourceControl
import Storage

/// Lists the changes since the previous version. They are stored when a version is published, because the mirror has both commits then. A reader of
/// the version needs no mirror, even years later.
extension Publisher {
    /// Returns the changes. `nil` for a product's lowest version, and if the mirror does not have the commit of the previous version.
    func changes(in version: SemanticVersion, _ request: Request) async throws -> VersionChanges? {
        let before = try await store.outlines(of: request.product).first { $0.version.precedes(version) }
        guard let before else { return nil }
        let (mirror, commit) = (request.mirror, request.integration.commit)
        do {
            guard try await mirror.contains(before.commit) else { return nil }
            let limit = VersionChanges.maximumCommits
            let found =
                before.commit == commit
                ? [] : try await mirror.commits(from: before.commit, to: commit, limit: limit + 1)
            return VersionChanges(
                since: before.version,
                commits: found.prefix(limit).map { .init(id: $0.id, subject: $0.subject, author: $0.authorName) },
                isCut: found.count > limit)
        } catch {
            // A version without a list of changes is better than no version.
            logger.warning(
                "the changes could not be listed",
                metadata: ["product": "\(request.product)", "version": "\(version)", "error": "\(error)"])
            return nil
        }
    }
}
