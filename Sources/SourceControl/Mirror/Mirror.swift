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

extension Mirror {
    /// Asks the server for its branches and tags.
    ///
    /// With `isWanted`, a scan also brings the commits of refs that have moved since the scan before, in the same turn of the queue and in one pack
    /// for all of them, so that an integration of them finds its commit here. A scan is short all the same, since others wait for their turn:
    /// - It brings nothing into an empty or damaged mirror.
    /// - It gives up after `NetworkLimits.bringing` and above `NetworkLimits.fetchedBytes`.
    /// - After it has failed, the next scans with something to bring leave it to the fetch: `RefListCache.shortestPause`, then twice as many after
    ///   each
    ///   further failure, up to `RefListCache.longestPause`.
    ///
    /// A scan that cannot bring what it wants is no failure: the integration's own fetch brings it, or reports why it cannot.
    /// - Parameters:
    ///   - others: Further refs that are listed where the server has them; a server lists three for every pull request
    ///     that there ever was.
    ///   - isWanted: Whether the commit of a listed ref is to be brought; `nil`: nothing is downloaded.
    /// - Throws: `empty` for a repository without branches and tags, `repositoryNotFound`, `credentialsMissing`,
    ///   `credentialsRefused`, `serverUntrusted`, `redirected`, `unreachable`, `timedOut`, `canceled`.
    package func scan(
        others: Set<RefName> = [], fetching isWanted: (@Sendable (RefName, Listing) -> Bool)? = nil
    ) async throws(SourceControlError) -> Listing {
        let (mirror, session) = (self, session(others))
        return try await watch.run(limit: limits.scan) { control throws(SourceControlError) in
            let session = session(control)
            return try mirror.onQueue(isKept: isWanted != nil, isFresh: true) { repository throws(SourceControlError) in
                try session.run(in: repository, operation: "look at") { server throws(SourceControlError) in
                    let listing = try Self.listing(server, others)
                    session.listCache.record(server.list)
                    if let isWanted {
                        let fetch = Fetch(store: mirror.store, session: session)
                        try fetch.fetchNew(from: server, into: repository) { isWanted($0, listing) }
                    }
                    return listing
                }
            }
        }
    }

    /// Whether the mirror has more packs than `repack` leaves, as of the last scan that fetched something.
    package var hasManyPacks: Bool { listCache.packs > Self.maximumPacks }

    private static func listing(
        _ server: RemoteSession.Conversation, _ others: Set<RefName>
    ) throws(SourceControlError) -> Listing {
        let all = server.list.commits
        let heads = all.filter { !others.contains($0.key) }
        // Pull requests alone are none: who hides its branches for a moment would have them all deleted.
        guard !heads.isEmpty else {
            throw SourceControlError(
                code: .empty, operation: server.operation,
                message: "the repository has neither branches nor tags; push a commit to it")
        }
        return Listing(
            heads: heads, others: all.filter { others.contains($0.key) }, defaultBranch: server.list.defaultBranch)
    }
}

extension Mirror {
    /// Packs above which a mirror is repacked: git's own `gc.autoPackLimit` (git-config(1)). Each fetch adds one, and each object
    /// that is read is looked for in all.
    static let maximumPacks = 50

    /// Joins small packs into larger ones when there are many, by `git repack --geometric`; nothing is ever dropped, held or
    /// not. Jobs that read the mirror meanwhile go on: git and libgit2 look for packs again when one is gone.
    /// - Returns: Whether it was needed and done; false also where git is not installed.
    @discardableResult
    package func repack() async throws(SourceControlError) -> Bool {
        guard engine != .library else { return false }
        let (store, kept, listCache) = (store, kept, listCache)
        return try await watch.run(limit: limits.fetch) { control throws(SourceControlError) in
            // It may hold packs open that go.
            kept.drop(store)
            guard let program = try GitProgram.installed() else { return false }
            let operation = "repacking the mirror \(store.name)"
            let count = try files(operation) { () throws(FileError) in
                let objects = try Directory(creating: store.path + "/objects")
                guard try objects.status("pack") != nil else { return 0 }
                return try objects.entries("pack").count { $0.name.hasSuffix(".pack") }
            }
            listCache.recordPackCount(min(count, Self.maximumPacks))
            guard count > Self.maximumPacks else { return false }
            try store.removeTemporaryPacks(operation)
            let scratch = try GitScratch(program, store: store, operation: operation)
            let result = try scratch.run(
                ["repack", "--geometric=2", "-d", "-q", "--no-write-bitmap-index"], operation, control: control,
                isQuiet: true)
            try scratch.remove(operation)
            guard try MirrorStore.isFine(result, operation) else {
                try store.markDamaged()
                throw SourceControlError(
                    code: .mirrorDamaged, operation: operation,
                    message: "git says: \(result.errors.suffix(600)); the next fetch looks what is damaged")
            }
            return true
        }
    }
}

/// The refs of a repository at one moment, according to its server.
package struct Listing: Sendable, Hashable {
    /// Branches and tags whose names are UTF-8. For an annotated tag, the value is the object that it points to. A server does not state whether that
    /// is a commit; if it is a blob or a tree, the fetch detects that.
    package let heads: [RefName: CommitID]
    /// The further refs that were requested by name and exist, such as a pull request's head.
    package let others: [RefName: CommitID]
    /// The branch that HEAD names, if it exists. Otherwise the only branch, if there is exactly one; `nil` otherwise.
    package let defaultBranch: RefName?

    package init(heads: [RefName: CommitID], others: [RefName: CommitID] = [:], defaultBranch: RefName?) {
        self.heads = heads
        self.others = others
        self.defaultBranch = defaultBranch ?? Self.onlyBranch(of: heads)
    }

    /// Returns the only branch; `nil` if there are more or none. After `git init --bare`, HEAD may name a branch that is never pushed, and a clone's
    /// HEAD may be detached.
    private static func onlyBranch(of heads: [RefName: CommitID]) -> RefName? {
        var only: RefName?
        for ref in heads.keys where ref.branch != nil {
            guard only == nil else { return nil }
            only = ref
        }
        return only
    }
}
