import Basics
package import Model

/// A fetched submodule of a commit, whose files are written at its path.
package struct Submodule: Sendable {
    /// The path relative to the root of the whole checkout.
    package let path: String
    package let commit: CommitID
    /// The mirror, which has the commit.
    package let mirror: Mirror
}

extension Mirrors {
    /// The deepest nesting of submodules within submodules.
    package static let maximumSubmoduleDepth = 4
    /// The most submodules of one commit, including those within submodules.
    package static let maximumSubmodules = 200

    /// Fetches the submodules of a commit, and theirs, each with the commit that its parent's tree names.
    ///
    /// The URLs come from `.gitmodules` and must be valid for `SubmoduleAddress`. The bot's own host gets the bot's credentials. Another host gets
    /// none, must have a public address, and is contacted by libgit2, whose connections the service opens. A submodule without a URL, or with `update
    /// = none`, stays an empty directory, as in git. All of them together have the time and byte limits of one fetch.
    /// - Throws: `invalidURL`, `tooLarge` above the limits, or the errors of `Mirror.fetch`. The message names the submodule.
    package func fetchSubmodules(of commit: CommitID, in mirror: Mirror) async throws(SourceControlError) {
        let begun = ContinuousClock.now
        var left = mirror.limits
        _ = try await submodules(of: commit, in: mirror) { module, commit throws(SourceControlError) in
            do throws(SourceControlError) {
                if !module.store.isMarkedDamaged, try await module.contains(commit) { return }
            } catch {
                // The fetch repairs the mirror.
                guard error.code == .mirrorDamaged else { throw error }
            }
            left.fetch = mirror.limits.fetch - (ContinuousClock.now - begun)
            guard left.fetch > .zero else { throw NetworkWatch.error(.late(mirror.limits.fetch)) }
            let before = try await module.packedBytes()
            try await module.limited(left).fetch(commit)
            left.bytes -= max(0, try await module.packedBytes() - before)
            guard left.bytes > 0 else { throw NetworkWatch.error(.tooManyBytes(mirror.limits.bytes)) }
        }
    }

    /// Returns the submodules of a commit, which `fetchSubmodules` has fetched. Does not use the network.
    /// - Throws: `commitMissing` if one is missing; otherwise the same as `fetchSubmodules`.
    package func submodules(of commit: CommitID, in mirror: Mirror) async throws(SourceControlError) -> [Submodule] {
        try await submodules(of: commit, in: mirror) { module, commit throws(SourceControlError) in
            // A mirror that is marked as damaged needs a fetch.
            let isHere = module.store.isMarkedDamaged ? false : try await module.contains(commit)
            guard isHere else {
                throw Mirror.missing(commit, operation: "reading \(module.url)")
            }
        }
    }

    private func submodules(
        of commit: CommitID, in mirror: Mirror,
        _ visit: (_ module: Mirror, _ commit: CommitID) async throws(SourceControlError) -> Void
    ) async throws(SourceControlError) -> [Submodule] {
        var found: [Submodule] = []
        var pending = [(mirror: mirror, commit: commit, prefix: "", depth: 0)]
        while let next = pending.popLast() {
            for link in try await next.mirror.links(of: next.commit) {
                let path = next.prefix + link.path
                guard next.depth < Self.maximumSubmoduleDepth, found.count < Self.maximumSubmodules else {
                    throw SourceControlError(
                        code: .tooLarge, operation: "fetch of the submodule \(path)",
                        message:
                            "at most \(Self.maximumSubmodules) submodules, \(Self.maximumSubmoduleDepth) within each"
                            + " other, are checked out; write submodules: false in the bot file to do without")
                }
                do throws(SourceControlError) {
                    let address = try SubmoduleAddress(link.url, parent: next.mirror.url, root: mirror.url)
                    let module = try self.module(address, of: mirror)
                    try await visit(module, link.commit)
                    found.append(Submodule(path: path, commit: link.commit, mirror: module))
                    pending.append((module, link.commit, path + "/", next.depth + 1))
                } catch {
                    throw SourceControlError(
                        code: error.code, operation: "fetch of the submodule \(path)", message: error.description,
                        underlying: error)
                }
            }
        }
        return found
    }

    private func module(_ address: SubmoduleAddress, of mirror: Mirror) throws(SourceControlError) -> Mirror {
        if address.isOwnHost {
            // A mirror that was fetched with credentials is only used for submodules to which the server would have given its contents.
            return address.takesCredentials || mirror.credentials == nil
                ? self.mirror(of: address.url, credentials: mirror.credentials)
                : self.mirror(of: address.url, credentials: nil, kind: .withoutCredentials)
        }
        if let proxy = ProxyRules.ofThisProcess.proxy(for: address.url) {
            throw SourceControlError(
                code: .unsupported, operation: "reading a submodule's URL",
                message: "behind the proxy \(proxy) it cannot be seen whether another host than the repository's is a "
                    + "public one; add the host to no_proxy")
        }
        return self.mirror(of: address.url, credentials: nil, kind: .publicOnly)
    }
}

extension Mirror {
    /// A submodule in a commit's tree, with its URL.
    struct Link: Sendable {
        let path: String
        let url: String
        let commit: CommitID
    }

    /// Returns the submodules that are both in a commit's tree and in its `.gitmodules`.
    func links(of commit: CommitID) async throws(SourceControlError) -> [Link] {
        try await local { repository throws(SourceControlError) in
            let reading = CommitReading(
                repository: repository, operation: "reading the submodules of \(commit.abbreviated)")
            let bytes: [UInt8]?
            do throws(SourceControlError) {
                bytes = try reading.file(".gitmodules", at: commit, limit: ModulesFile.maximumSize)
            } catch {
                guard error.code == .tooLarge else { throw error }
                return []
            }
            guard let bytes else { return [] }
            let modules = ModulesFile(bytes).modules
            let listing = try TreeListing(of: commit, reading: reading)
            return listing.order.compactMap { path in
                guard let entry = listing.entries[path], entry.kind == .submodule, let id = entry.id.commitID,
                    let module = modules[path], module.update != "none", let url = module.url,
                    let text = String(validating: path, as: UTF8.self)
                else { return nil }
                return Link(path: text, url: url, commit: id)
            }
        }
    }

    /// Returns the same mirror with other limits.
    func limited(_ other: NetworkLimits) -> Mirror {
        var limits = other
        limits.isPublicOnly = self.limits.isPublicOnly
        return Mirror(
            url: url, credentials: credentials, store: store, queue: queue, limits: limits,
            configuration: configuration,
            engine: engine, listCache: listCache, kept: kept)
    }

    /// Returns the size of its packs on the disk, in bytes.
    func packedBytes() async throws(SourceControlError) -> Int64 {
        let (store, operation) = (store, "measuring the mirror of \(url)")
        return try await queue.run { () throws(SourceControlError) in
            try files(operation) { () throws(FileError) in
                guard try Directory(creating: store.path).status("objects/pack") != nil else { return 0 }
                let packs = try Directory(opening: store.path + "/objects/pack")
                var bytes: Int64 = 0
                for entry in try packs.entries() { bytes += try packs.status(entry.name)?.size ?? 0 }
                return bytes
            }
        }
    }

    /// Fetches a commit that another repository names. It first tries the branch or tag whose tip it is, then all branches and tags, then its id.
    /// - Throws: `refGone` if the server does not have it; otherwise the same as `look`.
    package func fetch(_ commit: CommitID) async throws(SourceControlError) {
        try await fetching([commit]) { fetch, repository throws(SourceControlError) in
            try fetch.run(commit, into: repository)
        }
    }
}
