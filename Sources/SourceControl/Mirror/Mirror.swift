import Basics
import CLibGit2
package import Model

/// The local copy of one repository, and the only way to its server.
///
/// All calls of a mirror run one after the other on its queue. They use one handle of libgit2 (`KeptRepositories`), never from two threads at once.
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

    /// The path of the bare repository.
    package var path: String { store.path }
    /// The directory of its objects. The `.git` of a workspace refers to it, so jobs must be able to read it.
    package var objects: String { store.path + "/objects" }

    /// Fetches commits that a scan has found at their refs.
    ///
    /// It uses no network if the mirror has them already. If a ref has moved forward, its commit is fetched with it. If the ref was replaced, the
    /// commit is requested by its id, which many servers refuse.
    /// - Throws: `refGone` if the ref was deleted, or was replaced and the server no longer sends the commit; otherwise the errors of `scan`.
    package func fetch(_ wanted: [RefName: CommitID]) async throws(SourceControlError) {
        let others = wanted.keys.filter { $0.branch == nil && $0.tag == nil && $0.description.hasPrefix("refs/") }
        try await fetching(others: Set(others), Array(wanted.values)) { fetch, repository throws(SourceControlError) in
            try fetch.run(wanted, into: repository)
        }
    }

    /// Runs a fetch on the queue, and repeats it once if the mirror is found damaged.
    /// - Parameters:
    ///   - others: Refs to include besides branches and tags.
    ///   - commits: The commits to fetch.
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

    /// Returns whether the mirror has the commit.
    package func contains(_ commit: CommitID) async throws(SourceControlError) -> Bool {
        let store = store
        return try await local(isFresh: true) { repository throws(SourceControlError) in
            try store.contains(commit, in: repository)
        }
    }

    /// Whether the mirror may be damaged, so that it must be verified before an integration uses it. The next fetch verifies it, without network if
    /// there is no damage.
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

    /// Returns a function that creates a session with the server.
    /// - Parameter others: Refs to include besides branches and tags.
    func session(_ others: Set<RefName> = []) -> @Sendable (NetworkControl) -> RemoteSession {
        let mirror = self
        return {
            RemoteSession(
                url: mirror.url, credentials: mirror.credentials, configuration: mirror.configuration,
                store: mirror.store, engine: mirror.engine, listCache: mirror.listCache, others: others, control: $0)
        }
    }

    /// Runs work on the opened repository. If the work finds damage, the mirror is marked for the next fetch.
    /// - Parameters:
    ///   - isKept: Whether objects that were read stay in memory for work that follows at once.
    ///   - isFresh: Whether everything is read again from the disk.
    func local<Value: Sendable>(
        isKept: Bool = false, isFresh: Bool = false,
        _ body: @escaping @Sendable (_ repository: OpaquePointer) throws(SourceControlError) -> Value
    ) async throws(SourceControlError) -> Value {
        let mirror = self
        return try await queue.run { () throws(SourceControlError) in
            try mirror.onQueue(isKept: isKept, isFresh: isFresh, body)
        }
    }

    /// Does the same as `local`, for callers that are on the queue already.
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
    /// Lists the server's branches and tags.
    ///
    /// With `isWanted`, a scan also fetches the commits of refs that have moved since the previous scan, in one pack. Their integrations then need no
    /// fetch. Other calls wait for the queue meanwhile, so a scan is limited:
    /// - It fetches no commits into an empty or damaged mirror.
    /// - It gives up after `NetworkLimits.fetching` and above `NetworkLimits.fetchedBytes`.
    /// - After a failure, the next `RefListCache.shortestPause` scans leave new commits to the integration's fetch. The number doubles with each
    ///   further failure, up to `RefListCache.longestPause`.
    ///
    /// A scan that cannot fetch commits does not fail: the integration's own fetch gets them, or reports the reason.
    /// - Parameters:
    ///   - others: Further refs to list if the server has them. Not all are listed, because a server has up to three for every pull request that
    ///     was ever opened.
    ///   - isWanted: Returns whether to fetch the commit of a listed ref. If `nil`, no commits are fetched.
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
        // Pull requests alone do not count. Otherwise a server that hides its branches for a moment would have them all recorded as deleted.
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
    /// The number of packs above which a mirror is repacked: git's own `gc.autoPackLimit` (git-config(1)). Each fetch adds a pack, and reading an
    /// object searches all packs.
    static let maximumPacks = 50

    /// Joins small packs into larger ones if there are many, with `git repack --geometric`. No object is ever removed. Jobs can read the mirror
    /// meanwhile: git and libgit2 search for packs again if one has disappeared.
    /// - Returns: Whether it was needed and done; `false` also if git is not installed.
    @discardableResult
    package func repack() async throws(SourceControlError) -> Bool {
        guard engine != .library else { return false }
        let (store, kept, listCache) = (store, kept, listCache)
        return try await watch.run(limit: limits.fetch) { control throws(SourceControlError) in
            // The handle may have packs open that are removed.
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
                    message: "git says: \(result.errors.suffix(600)); the next fetch checks what is damaged")
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
