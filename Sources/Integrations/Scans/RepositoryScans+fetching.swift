import Logging
import Model
import SourceControl
import Storage

extension RepositoryScans {
    /// Returns whether an integration of a listed ref may be queued, so that the scan fetches its commit. That is the case for branches and tags that
    /// a bot watches, and for pull requests that run without approval. The default branch is fetched, too, because jobs compare theirs with it
    /// (`JobHistory`).
    /// - Parameter open: The open pull requests whose heads the scan asks for.
    nonisolated func wanted(
        by bots: [BotSpecification], _ open: [PullRequestRecord]
    ) -> @Sendable (RefName, Listing) -> Bool {
        let isSandboxed = registry.isolation == .sandbox
        return { ref, listing in
            let branch = listing.defaultBranch
            if ref == branch || bots.contains(where: { $0.watches(ref, defaultBranch: branch) }) { return true }
            guard isSandboxed, let head = listing.others[ref] ?? listing.heads[ref] else { return false }
            return open.contains { pull in
                guard pull.place == ref else { return false }
                // The same decision as in the ledger (`ScanApplication`).
                let source =
                    ref.branch != nil ? ref : listing.heads.first { $0.key.branch != nil && $0.value == head }?.key
                let seen = SeenPullRequest(number: pull.number, base: pull.base, head: head, source: source)
                return bots.contains { $0.answer(to: seen, defaultBranch: branch) == .integrates }
            }
        }
    }

    /// Repacks mirrors with many packs, which scans have created, until the task is canceled. A failure does not affect the scans.
    func repackCrowded() async {
        for await mirror in crowded where mirror.hasManyPacks {
            do {
                try await mirror.repack()
            } catch {
                if error.code == .canceled { continue }
                logger.warning(
                    "a mirror could not be repacked", metadata: ["mirror": "\(mirror.path)", "error": "\(error)"])
            }
        }
    }
}
