import CLibGit2
import Model

/// Fetches wanted commits into a mirror, on its queue.
struct Fetch {
    let store: MirrorStore
    let session: RemoteSession

    func run(_ wanted: [RefName: CommitID], into repository: OpaquePointer) throws(SourceControlError) {
        var missing = try missing(of: wanted, in: repository)
        let isAnew = store.hasLostHolds
        guard !missing.isEmpty || isAnew else {
            if let list = session.listCache.unwritten { try writeRefs(list.refs, in: repository) }
            return
        }
        try store.removeTemporaryPacks("fetch of \(session.url)")
        // After damage, objects are not linked again from the local files.
        let isLinked = isAnew ? false : try linkObjects()
        let seen: Seen
        do throws(SourceControlError) {
            seen = try fetch(wanted, isAnew: isAnew, known: isLinked ? nil : known(wanted), into: repository)
        } catch {
            // A ref of the last scan no longer exists. A new list shows which one.
            guard error.code == .refGone else { throw error }
            seen = try fetch(wanted, isAnew: isAnew, known: nil, into: repository)
        }
        // A deleted ref counts as missing even if its objects were linked from a local path.
        missing = try self.missing(of: missing, in: repository).merging(
            missing.filter { seen.gone.contains($0.key) }
        ) { $1 }
        for (ref, commit) in missing.sorted(by: { $0.key < $1.key }) {
            try fetch(commit, of: ref, seen, into: repository)
        }
        if isAnew { try fetchRest(into: repository) }
    }

    /// Fetches all branches and tags, and the commits that integrations hold, after the mirror was found damaged. A branch that the server cannot
    /// send does not prevent the others.
    private func fetchRest(into repository: OpaquePointer) throws(SourceControlError) {
        do throws(SourceControlError) {
            try session.run(in: repository, operation: "fetch of", isWhole: true, isAnew: true) {
                server throws(SourceControlError) in
                try server.download(Self.everything)
                try writeRefs(server.list.refs, in: repository)
            }
        } catch {
            if session.control.stopped != nil { throw error }
        }
        try store.restoreHolds(in: repository) { commit throws(SourceControlError) in
            do throws(SourceControlError) {
                try session.run(in: repository, operation: "fetch of") { server throws(SourceControlError) in
                    try server.download(["\(commit)"])
                }
                return true
            } catch {
                if session.control.stopped != nil { throw error }
                return Self.saysGone(error)
            }
        }
    }

    private static let everything = ["+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*"]

    private func writeRefs(
        _ refs: [RefName: RemoteSession.AdvertisedRef], in repository: OpaquePointer
    ) throws(SourceControlError) {
        try store.writeRefs(refs, in: repository)
        session.listCache.recordWritten(refs)
    }

    /// The wanted refs in the server's list.
    private struct Seen {
        /// Those that it does not list.
        var gone: Set<RefName>
        /// Those that it lists at the wanted commit, if the list was requested just now.
        var same: Set<RefName>
    }

    /// Downloads the listed refs whose objects the mirror does not have.
    private func fetch(
        _ wanted: [RefName: CommitID], isAnew: Bool, known: RemoteSession.Advertisement?,
        into repository: OpaquePointer
    ) throws(SourceControlError) -> Seen {
        let isWhole = store.isEmpty
        return try session.run(in: repository, operation: "fetch of", isWhole: isWhole, isAnew: isAnew, known: known) {
            server throws(SourceControlError) in
            let refs = server.list.refs
            let isHere = try store.objects(in: repository, server.operation)
            let asked = wanted.keys.filter { ref in refs[ref].map { isAnew || !isHere($0.id) } ?? false }.sorted()
            let specifications = asked.count > Self.maximumRefspecs ? Self.everything : asked.map { "+\($0):\($0)" }
            if !specifications.isEmpty { try server.download(specifications) }
            try writeRefs(refs, in: repository)
            let heads = server.isListedNow ? server.list.commits : [:]
            return Seen(
                gone: Set(wanted.keys.filter { refs[$0] == nil }),
                same: Set(wanted.keys.filter { heads[$0] == wanted[$0] }))
        }
    }

    /// Fetches refs of a new list, in one pack. An error is not thrown: the integration that needs the commit fetches it and reports the error. If
    /// the mirror is damaged, it is marked.
    /// - Parameter isWanted: Called for each ref that has moved since the last call. The default branch counts as moved until it is fetched: jobs
    ///   need it, but the integration of another branch does not fetch it if the mirror has its own commit.
    /// - Throws: Only `canceled`.
    func fetchNew(
        from server: RemoteSession.Conversation, into repository: OpaquePointer, _ isWanted: (RefName) -> Bool
    ) throws(SourceControlError) {
        let refs = server.list.refs
        let seen = session.listCache.exchangeSeen(.init(refs: refs, unfetched: server.list.defaultBranch))
        let moved = refs.filter { ref, advertised in
            (advertised != seen.refs[ref] || ref == seen.unfetched) && isWanted(ref)
        }
        do throws(SourceControlError) {
            if !moved.isEmpty {
                let isHere = try store.objects(in: repository, server.operation)
                let asked = moved.filter { !isHere($0.value.id) }.keys.sorted()
                if !asked.isEmpty {
                    guard try fetchNew(asked, of: server, into: repository) else { return }
                }
            }
            session.listCache.recordFetched()
        } catch {
            if session.control.stopped == .canceled { throw error }
            let found = session.explained(error, operation: server.operation, address: session.url.description)
            // The next fetch repairs the mirror. If the mirror cannot be marked, that fetch detects the damage itself.
            if session.control.stopped == nil, found.code == .mirrorDamaged { try? store.markDamaged() }
            session.listCache.recordFailedFetch()
        }
    }

    /// Fetches refs in one pack, if the mirror's state and the pause allow it.
    /// - Returns: `false` if the refs are left to the integration's fetch.
    private func fetchNew(
        _ asked: [RefName], of server: RemoteSession.Conversation, into repository: OpaquePointer
    ) throws(SourceControlError) -> Bool {
        // This precedes the check for an empty mirror, because it may empty it.
        try LocalObjects.discardPart(of: store, server.operation)
        guard asked.count <= Self.maximumRefspecs, !store.isEmpty, !store.isMarkedDamaged, !store.hasLostHolds,
            session.listCache.mayFetch()
        else { return false }
        let packs = try store.removeTemporaryPacks(server.operation).packs
        session.control.restrict(to: session.control.limits.fetching, bytes: session.control.limits.fetchedBytes)
        try server.download(asked.map { "+\($0):\($0)" })
        try writeRefs(server.list.refs, in: repository)
        session.listCache.recordPackCount(packs + 1)
        return true
    }

    /// The most refs that are requested by name. For more, all branches and tags are requested by pattern.
    private static let maximumRefspecs = 1000

    /// Returns the last scan's list if it has all wanted refs at the wanted commits; otherwise `nil`.
    private func known(_ wanted: [RefName: CommitID]) -> RemoteSession.Advertisement? {
        guard let list = session.listCache.list else { return nil }
        let heads = list.commits
        return wanted.allSatisfy { heads[$0.key] == $0.value } ? list : nil
    }

    /// Links the objects of a repository on this machine into an empty mirror.
    /// - Returns: Whether objects were linked.
    private func linkObjects() throws(SourceControlError) -> Bool {
        guard session.url.kind == .path, store.isEmpty, session.engine != .library else { return false }
        return try LocalObjects(from: session.url.path, to: store).link("fetch of \(session.url)")
    }

    /// Fetches a commit that no scan has found, because another repository names it.
    func run(_ commit: CommitID, into repository: OpaquePointer) throws(SourceControlError) {
        let isAnew = store.hasLostHolds
        if try store.contains(commit, in: repository), !isAnew { return }
        if !isAnew { _ = try linkObjects() }
        let isWhole = store.isEmpty
        try session.run(in: repository, operation: "fetch of", isWhole: isWhole, isAnew: isAnew) {
            server throws(SourceControlError) in
            let refs = server.list.refs
            let isHere = try store.objects(in: repository, server.operation)
            let tip = refs.first { ($0.value.peeled ?? $0.value.id) == commit.description }?.key
            let specifications = tip.map { ["+\($0):\($0)"] } ?? Self.everything
            if isAnew || !isHere(commit.description) { try server.download(specifications) }
            try writeRefs(refs, in: repository)
        }
        if isAnew { try fetchRest(into: repository) }
        if try store.contains(commit, in: repository) { return }
        var reason: SourceControlError?
        do throws(SourceControlError) {
            try session.run(in: repository, operation: "fetch of") { server throws(SourceControlError) in
                try server.download(["\(commit)"])
            }
        } catch {
            guard session.control.stopped == nil, Self.saysGone(error) else { throw error }
            reason = error
        }
        guard try store.contains(commit, in: repository) else {
            throw SourceControlError(
                code: .refGone, operation: "fetch of \(session.url)",
                message: "it does not have the commit \(commit); push it there", underlying: reason)
        }
    }

    /// Returns whether an error means that the server refuses a commit's id, and has not failed in another way.
    private static func saysGone(_ error: SourceControlError) -> Bool {
        [.refGone, .other, .unsupported, .invalidRevision].contains(error.code)
    }

    /// Fails if a ref points to an object of another type.
    /// - Throws: `notACommit` if the mirror has the object and it is not a commit.
    private func refuseOther(_ id: CommitID, of ref: RefName, in repository: OpaquePointer) throws(SourceControlError) {
        let isHere = try store.objects(in: repository, "fetch of \(session.url)")(id.description)
        guard isHere, try !store.contains(id, in: repository) else { return }
        throw SourceControlError(
            code: .notACommit, operation: "fetch of \(session.url)",
            message:
                "\(ref) leads to \(id.abbreviated), which is a file or a directory, not a commit; Martlet does not build it"
        )
    }

    private func missing(of wanted: [RefName: CommitID], in repository: OpaquePointer) throws(SourceControlError)
        -> [RefName: CommitID]
    {
        var missing: [RefName: CommitID] = [:]
        let listed = session.listCache.list?.refs ?? [:]
        let isHere = try store.objects(in: repository, "fetch of \(session.url)")
        for (ref, commit) in wanted {
            // The object of an annotated tag can be missing although the mirror has the commit.
            let tag = listed[ref].flatMap { $0.peeled == commit.description ? $0.id : nil }
            if try !store.contains(commit, in: repository) || !(tag.map(isHere) ?? true) { missing[ref] = commit }
        }
        return missing
    }

    /// Fetches a commit by its id, because its ref no longer points to it.
    private func fetch(_ commit: CommitID, of ref: RefName, _ seen: Seen, into repository: OpaquePointer)
        throws(SourceControlError)
    {
        let isGone = seen.gone.contains(ref)
        var reason: SourceControlError?
        try refuseOther(commit, of: ref, in: repository)
        if !isGone {
            do throws(SourceControlError) {
                try session.run(in: repository, operation: "fetch of") { server throws(SourceControlError) in
                    try server.download(["\(commit)"])
                }
            } catch {
                guard session.control.stopped == nil, Self.saysGone(error) else { throw error }
                reason = error
            }
            if try store.contains(commit, in: repository) { return }
            try refuseOther(commit, of: ref, in: repository)
        }
        if seen.same.contains(ref) {
            throw SourceControlError(
                code: .unreachable, operation: "fetch of \(session.url)",
                message:
                    "the server lists \(ref) at \(commit.abbreviated) but did not send it; Martlet tries again later",
                underlying: reason)
        }
        let what =
            isGone ? "was deleted" : "was replaced and its commit \(commit.abbreviated) is no longer available"
        throw SourceControlError(
            code: .refGone, operation: "fetch of \(session.url)",
            message: "\(ref) \(what); nothing needs to be done: Martlet integrates the commit that it points to now",
            underlying: reason)
    }
}
