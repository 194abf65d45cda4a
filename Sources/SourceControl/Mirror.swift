import Basics
import CLibGit2
package import Model

/// The local copy of one repository, and the only way to its server.
///
/// All calls of a mirror run one after the other on its lane. Each opens the repository anew, unless the one before it has just read
/// what an integration begins with; nothing of libgit2's is seen by two threads at once.
package struct Mirror: Sendable {
    package let url: RemoteURL
    let credentials: Credentials?
    let store: MirrorStore
    let lane: BlockingLane
    let limits: NetworkLimits
    let configuration: GitConfiguration
    let engine: GitEngine
    let memory: ListMemory
    let kept: KeptRepositories

    /// Where the bare repository lies.
    package var path: String { store.path }
    /// The directory of its objects, which the `.git` of a workspace refers to: what a job must be able to read of it.
    package var objects: String { store.path + "/objects" }

    /// Asks the server for its branches and tags; nothing is downloaded.
    /// - Parameter others: Further refs that are listed where the server has them; a server lists three for every pull request
    ///   that there ever was.
    /// - Throws: `empty` for a repository without branches and tags, `repositoryNotFound`, `credentialsMissing`,
    ///   `credentialsRefused`, `serverUntrusted`, `redirected`, `unreachable`, `timedOut`, `canceled`.
    package func look(others: Set<RefName> = []) async throws(SourceControlError) -> Listing {
        let (store, session) = (store, session(others))
        return try await watch.run(limit: limits.look) { control throws(SourceControlError) in
            let repository = try store.open()
            let session = session(control)
            return try session.run(in: repository.pointer, operation: "look at") { server throws(SourceControlError) in
                let list = server.list
                let all = list.commits
                let heads = all.filter { !others.contains($0.key) }
                // Pull requests alone are none: who hides its branches for a moment would have them all deleted.
                guard !heads.isEmpty else {
                    throw SourceControlError(
                        code: .empty, operation: server.operation,
                        message: "the repository has neither branches nor tags; push a commit to it")
                }
                session.memory.note(list)
                return Listing(
                    heads: heads, others: all.filter { others.contains($0.key) },
                    defaultBranch: list.defaultBranch)
            }
        }
    }

    /// Sees to it that commits are here, each of which a look has found at its ref.
    ///
    /// Without network when they are here already. When the ref has moved on, the commit comes with it; when it was
    /// replaced, the commit itself is asked for, which many servers refuse.
    /// - Throws: `refGone` when the ref was deleted, or moved so that its commit cannot be had any more; else as `look`.
    package func fetch(_ wanted: [RefName: CommitID]) async throws(SourceControlError) {
        let others = wanted.keys.filter { $0.branch == nil && $0.tag == nil && $0.description.hasPrefix("refs/") }
        let (store, session) = (store, session(Set(others)))
        try await watch.run(limit: limits.fetch) { control throws(SourceControlError) in
            try session(control).healing(Array(wanted.values)) { session throws(SourceControlError) in
                try Fetch(store: store, session: session).run(wanted)
            }
        }
    }

    /// Whether the commit is here.
    package func contains(_ commit: CommitID) async throws(SourceControlError) -> Bool {
        let store = store
        return try await local { repository throws(SourceControlError) in
            try store.contains(commit, in: repository)
        }
    }

    static func missing(_ commit: CommitID, operation: String) -> SourceControlError {
        SourceControlError(
            code: .commitMissing, operation: operation, message: "the mirror does not hold \(commit); fetch it first")
    }

    // MARK: Ways to the lane

    var watch: NetworkWatch { NetworkWatch(lane: lane, limits: limits) }

    /// - Parameter others: Refs that count beside branches and tags.
    func session(_ others: Set<RefName> = []) -> @Sendable (NetworkControl) -> RemoteSession {
        let mirror = self
        return {
            RemoteSession(
                url: mirror.url, credentials: mirror.credentials, configuration: mirror.configuration,
                store: mirror.store, engine: mirror.engine, memory: mirror.memory, others: others, control: $0)
        }
    }

    /// Runs work on the opened repository. Damage that it finds is remembered for the next fetch.
    /// - Parameter isKept: Whether the next work, if it comes at once, takes the repository as it is.
    func local<Value: Sendable>(
        isKept: Bool = false,
        _ body: @escaping @Sendable (_ repository: OpaquePointer) throws(SourceControlError) -> Value
    ) async throws(SourceControlError) -> Value {
        let mirror = self
        return try await lane.run { () throws(SourceControlError) in try mirror.onLane(isKept: isKept, body) }
    }

    /// As `local`, by who is on the lane already.
    func onLane<Value>(
        isKept: Bool, _ body: (_ repository: OpaquePointer) throws(SourceControlError) -> Value
    ) throws(SourceControlError) -> Value {
        let repository = if let open = kept.take(store.path) { open } else { OpenRepository(try store.open()) }
        do throws(SourceControlError) {
            let value = try body(repository.pointer)
            if isKept { kept.keep(repository, of: store.path) }
            return value
        } catch {
            if error.code == .mirrorDamaged { try store.markDamaged() }
            throw error
        }
    }
}
