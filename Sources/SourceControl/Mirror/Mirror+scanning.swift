package import Model

extension Mirror {
    /// Asks the server for its branches and tags.
    ///
    /// With `isWanted`, a scan also brings the commits of refs that have moved since the scan before, in the same turn of the queue and in one pack
    /// for all of them, so that an integration of them finds its commit here. A scan is short all the same, since others wait for their turn:
    /// - It brings nothing into an empty or damaged mirror.
    /// - It gives up after `NetworkLimits.bringing` and above `NetworkLimits.fetchedBytes`.
    /// - After it has failed, the next scans with something to bring leave it to the fetch: `RefListCache.shortestPause`, then twice as many after each
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
