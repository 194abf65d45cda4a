import Basics
import CLibGit2
package import Model

/// The local copy of one repository, and the only way to its server.
///
/// All calls of a mirror run one after the other on its queue, on one handle of libgit2 (`KeptRepositories`), which no two threads see at once.
package struct Mirror: Sendable {
    package let url: RemoteURL
    let credentials: Credentials?
    let store: MirrorStore
    let queue: SerialQueue
    let limits: NetworkLimits
    let configuration: GitConfiguration
    let engine: GitEngine
    let listCache: RefListCache
    let kept: KeptRepositories

    /// Where the bare repository lies.
    package var path: String { store.path }
    /// The directory of its objects, which the `.git` of a workspace refers to: what a job must be able to read of it.
    package var objects: String { store.path + "/objects" }

    /// Sees to it that commits are here, each of which a scan has found at its ref.
    ///
    /// Without network when they are here already. When the ref has moved on, the commit comes with it; when it was
    /// replaced, the commit itself is asked for, which many servers refuse.
    /// - Throws: `refGone` when the ref was deleted, or moved so that its commit cannot be had any more; else as `look`.
    package func fetch(_ wanted: [RefName: CommitID]) async throws(SourceControlError) {
        let others = wanted.keys.filter { $0.branch == nil && $0.tag == nil && $0.description.hasPrefix("refs/") }
        try await fetching(others: Set(others), Array(wanted.values)) { fetch, repository throws(SourceControlError) in
            try fetch.run(wanted, into: repository)
        }
    }

    /// Runs a fetch on the queue; once more where the mirror is found damaged.
    /// - Parameters:
    ///   - others: Refs that count beside branches and tags.
    ///   - commits: What is fetched.
    func fetching(
        others: Set<RefName> = [], _ commits: [CommitID],
        _ body: @escaping @Sendable (Fetch, _ repository: OpaquePointer) throws(SourceControlError) -> Void
    ) async throws(SourceControlError) {
        let (mirror, session) = (self, session(others))
        try await watch.run(limit: limits.fetch) { control throws(SourceControlError) in
            try session(control).healing(commits) { session throws(SourceControlError) in
                let fetch = Fetch(store: mirror.store, session: session)
                try LocalObjects.discardPart(of: mirror.store, "fetch of \(mirror.url)")
                try mirror.onQueue(isFresh: true) { repository throws(SourceControlError) in
                    try body(fetch, repository)
                }
            }
        }
    }

    /// Whether the commit is here.
    package func contains(_ commit: CommitID) async throws(SourceControlError) -> Bool {
        let store = store
        return try await local(isFresh: true) { repository throws(SourceControlError) in
            try store.contains(commit, in: repository)
        }
    }

    /// Whether something in the mirror may be damaged, so that it has to be verified before an integration begins with what is in it. The next
    /// fetch does that, without network if all is whole.
    package var isMarkedDamaged: Bool {
        get async {
            let store = store
            return await queue.run { store.isMarkedDamaged }
        }
    }

    static func missing(_ commit: CommitID, operation: String) -> SourceControlError {
        SourceControlError(
            code: .commitMissing, operation: operation, message: "the mirror does not hold \(commit); fetch it first")
    }

    // MARK: Ways to the queue

    var watch: NetworkWatch { NetworkWatch(queue: queue, limits: limits) }

    /// - Parameter others: Refs that count beside branches and tags.
    func session(_ others: Set<RefName> = []) -> @Sendable (NetworkControl) -> RemoteSession {
        let mirror = self
        return {
            RemoteSession(
                url: mirror.url, credentials: mirror.credentials, configuration: mirror.configuration,
                store: mirror.store, engine: mirror.engine, listCache: mirror.listCache, others: others, control: $0)
        }
    }

    /// Runs work on the opened repository. Damage that it finds is remembered for the next fetch.
    /// - Parameters:
    ///   - isKept: Whether the next work, if it comes at once, finds what was read of it in memory.
    ///   - isFresh: Whether nothing is believed that was read before.
    func local<Value: Sendable>(
        isKept: Bool = false, isFresh: Bool = false,
        _ body: @escaping @Sendable (_ repository: OpaquePointer) throws(SourceControlError) -> Value
    ) async throws(SourceControlError) -> Value {
        let mirror = self
        return try await queue.run { () throws(SourceControlError) in
            try mirror.onQueue(isKept: isKept, isFresh: isFresh, body)
        }
    }

    /// As `local`, by who is on the queue already.
    func onQueue<Value>(
        isKept: Bool = false, isFresh: Bool = false,
        _ body: (_ repository: OpaquePointer) throws(SourceControlError) -> Value
    ) throws(SourceControlError) -> Value {
        let repository = try kept.acquire(store, isFresh: isFresh)
        do throws(SourceControlError) {
            let value = try body(repository.pointer)
            kept.release(repository, of: store, isFilled: isKept)
            return value
        } catch {
            if error.code == .mirrorDamaged { try store.markDamaged() }
            throw error
        }
    }
}
