import Forges
import Integrations
import Model
import Storage

extension Site {
    /// Returns the addresses of a repository's pages at its forge; `nil` if they are unknown.
    /// - Parameter repository: The repository's address. A bot may have had another when it was integrated.
    func links(of repository: String, bot: Name) async -> ForgeLinks? {
        ForgeLinks(of: repository, bot: await operations.overview().bot(bot))
    }
}

/// The links of an integration to the pages of its forge.
struct IntegrationLinks: Sendable {
    private let links: ForgeLinks?
    private let record: IntegrationRecord
    /// The commit of the branch's integration before; `nil` if there is none.
    private let previous: CommitID?

    init(_ links: ForgeLinks?, of record: IntegrationRecord, previous: CommitID?) {
        (self.links, self.record, self.previous) = (links, record, previous)
    }

    /// The page of the commit that users know.
    var commit: String? { links?.commit(record.headCommit) }

    /// The page of the branch, tag or pull request.
    var ref: String? { links?.ref(record.ref) }

    /// The page of the pull request's base.
    var base: String? { record.pull.flatMap { links?.ref($0.base) } }

    /// The page of the changes since the branch's integration before, or of all changes of a pull request.
    var comparison: String? {
        if let pull = record.pull { return links?.comparison(from: pull.baseCommit, to: pull.head) }
        guard let previous, previous != record.commit else { return nil }
        return links?.comparison(from: previous, to: record.commit)
    }

    /// Returns the page of another commit of the repository.
    func commit(_ commit: CommitID) -> String? { links?.commit(commit) }

    /// Returns the page of a file at the commit that users know: a forge does not have the merge that the service made.
    func file(_ path: String?, line: Int?) -> String? {
        path.flatMap { links?.file($0, line: line, at: record.headCommit) }
    }
}
