import Archives
import Logging
import Model
import SourceControl
import Storage

/// What changed since the version before. It is written down when a version is published: then the mirror has both commits, and
/// whoever looks at the version years later needs no mirror.
extension Publisher {
    /// Nothing for a product's lowest version, and where the mirror does not have the commit of the one before (any more).
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
            // A version without a list of changes is better than none.
            logger.warning(
                "what changed could not be listed",
                metadata: ["product": "\(request.product)", "version": "\(version)", "error": "\(error)"])
            return nil
        }
    }
}
