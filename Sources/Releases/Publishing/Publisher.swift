import Archives
import Execution
package import JobProtocol
package import Logging
package import Model
import Settings
package import SourceControl
package import Storage
import Synchronization

/// Publishes versions: each completely or not at all, each once, forever (docs/guide/versions.md).
package final class Publisher: Sendable {
    let store: Store
    let versions: VersionStore
    /// Signs versions and states their provenance; `nil` if versions have neither.
    let attestor: Attestor?
    let clock: WallClock
    let logger: Logger
    /// One slot for each product, since only one version of a product is published at a time.
    private let turns = Mutex<[Name: JobSlots]>([:])

    /// - Parameter attestor: Signs versions and states their provenance; `nil` if versions have neither.
    package init(
        store: Store, versions: VersionStore, attestor: Attestor? = nil, clock: WallClock, logger: Logger
    ) {
        self.store = store
        self.versions = versions
        self.attestor = attestor
        self.clock = clock
        self.logger = logger
    }

    /// The version to be published.
    package struct Request: Sendable {
        package var integration: IntegrationRecord
        package var bot: BotSpecification
        package var product: Name
        package var source: Trigger.VersionSource
        package var mirror: Mirror
        /// The path of each file now, and its record.
        package var files: [(path: String, artifact: Artifact)]
        /// The output of the command that prints the version; empty if no command does.
        package var printed: [UInt8] = []
        /// How the jobs that built the files were isolated from the machine. It is `sandbox` if all of them were sandboxed.
        package var isolation: String
        /// The version's name in the package registry; `nil` if it is not in the registry.
        package var registry: PackageIdentifier?
        /// The job that built the products, as it ran; `nil` if unknown.
        package var job: JobDescription?

        package init(
            integration: IntegrationRecord, bot: BotSpecification, source: Trigger.VersionSource, mirror: Mirror,
            files: [(path: String, artifact: Artifact)], isolation: String, registry: PackageIdentifier? = nil,
            job: JobDescription? = nil
        ) {
            self.integration = integration
            self.bot = bot
            product = bot.product
            self.source = source
            self.mirror = mirror
            self.files = files
            self.isolation = isolation
            self.registry = registry
            self.job = job
        }
    }

    /// The result of publishing. Each of them is a success.
    package enum Publication: Hashable, Sendable {
        case published(SemanticVersion)
        /// The commit was published before.
        case already(SemanticVersion)
        /// The commit was published before, but the package registry does not have it by the requested name. If `registered` is `nil`, the registry
        /// does not have it at all.
        case alreadyElsewhere(SemanticVersion, registered: PackageIdentifier?)
        /// The branch has published a later commit, so this one gets no version.
        case superseded(by: SemanticVersion)
        /// The commit states a version that was published from an earlier commit, so there is no new version.
        case unchanged(SemanticVersion, since: CommitID)

        package var sentence: String {
            switch self {
            case .published(let version): "published \(version)"
            case .already(let version): "already \(version)"
            case .alreadyElsewhere(let version, nil):
                "already \(version), which is not in the package registry; the next version will be"
            case .alreadyElsewhere(let version, let package?):
                "already \(version), which is in the package registry as \(package); the next version has the new name"
            case .superseded(let version): "superseded by \(version)"
            case .unchanged(let version, let commit):
                "no new version: \(version) is published from \(commit.abbreviated), and this commit still states it"
            }
        }

        /// The version of the commit; `nil` if it has none.
        package var version: SemanticVersion? {
            switch self {
            case .published(let version), .already(let version), .alreadyElsewhere(let version, _): version
            case .superseded, .unchanged: nil
            }
        }
    }

    /// Publishes a version.
    /// - Throws: `TriggerError` if the operator or the repository's authors must correct something. Any other error is a fault of the service, and
    ///   the same request can be made again.
    package func publish(_ request: Request) async throws -> Publication {
        let turn = turns.withLock { turns in
            let turn = turns[request.product] ?? JobSlots(count: 1)
            turns[request.product] = turn
            return turn
        }
        if request.registry != nil { try await checkPackage(request) }
        return try await turn.withSlot {
            try await settleEnded(request)
            let stated = try await stated(request)
            if let stated, let commit = try await earlier(stated, request) { return .unchanged(stated, since: commit) }
            let reservation = try await reserve(request, stated)
            switch reservation {
            case .already(let version): return try await already(version, request)
            case .superseded(let version): return .superseded(by: version)
            case .conflict(let sentence): throw TriggerError(sentence)
            case .newestChanged:
                throw TriggerError("other versions of the branch are published faster than this one; run it again")
            case .reserved(let version):
                do {
                    try await complete(version, request)
                } catch let error as CancellationError {
                    throw error
                } catch {
                    await release(version, request)
                    throw error
                }
                return .published(version)
            }
        }
    }

    /// Returns the result for a commit that was published before. A published version never changes, so it cannot be added to the registry later. The
    /// result states that.
    private func already(_ version: SemanticVersion, _ request: Request) async throws -> Publication {
        guard let wanted = request.registry else { return .already(version) }
        let registered = try await store.version(version, of: request.product)?.registry
        return registered == wanted ? .already(version) : .alreadyElsewhere(version, registered: registered)
    }

    /// Releases the number of a version that could not be published, unless all its files are in place. The caller reports the cause. Failures here
    /// are repaired at the product's next publication, or at the next start.
    private func release(_ version: SemanticVersion, _ request: Request) async {
        do {
            guard try await versions.manifest(product: request.product, version: version) == nil else { return }
            try await store.abandon(product: request.product, version: version)
        } catch {
            logger.error(
                "a version's number stays taken until the next publication, or the next start",
                metadata: ["product": "\(request.product)", "version": "\(version)", "error": "\(error)"])
        }
    }

    /// The most queries of the ancestor, which are repeated if another version of the branch appears meanwhile.
    private static let maximumQuestions = 5

    /// Returns the version that the commit itself states; `nil` if the branch or the tag determines it.
    private func stated(_ request: Request) async throws -> SemanticVersion? {
        switch request.source {
        case .branch, .tag: nil
        case .file(let path):
            try await StatedVersion.read(file: path, of: request.integration.commit, in: request.mirror)
        case .command: try StatedVersion.read(request.printed, from: "the command")
        }
    }

    /// Returns the commit in this one's history that the version was published from; `nil` if there is none.
    private func earlier(_ version: SemanticVersion, _ request: Request) async throws -> CommitID? {
        let stored = try await store.version(version, of: request.product)
        guard let stored, stored.state == .published else { return nil }
        let commit = stored.commit
        guard commit != request.integration.commit,
            try await request.mirror.contains(commit),
            try await request.mirror.isAncestor(commit, of: request.integration.commit)
        else { return nil }
        return commit
    }

    private func reserve(_ request: Request, _ stated: SemanticVersion?) async throws -> Reservation {
        let integration = request.integration
        let onDisk = try await versions.versions(of: request.product)
        func versionRequest(_ source: VersionRequest.Source) -> VersionRequest {
            VersionRequest(
                product: request.product, integration: integration.id, commit: integration.commit, ref: integration.ref,
                source: source, onDisk: onDisk, registry: request.registry)
        }
        if let stated { return try await store.reserve(versionRequest(.exactly(stated)), at: clock.now()) }
        switch request.source {
        case .file, .command: throw TriggerError("no version is stated")
        case .tag:
            return try await store.reserve(
                versionRequest(.exactly(try Self.version(ofTag: integration.ref))), at: clock.now())
        case .branch:
            let (branch, line) = try Self.line(of: integration.ref)
            var reservation = Reservation.newestChanged(to: nil)
            for _ in 0..<Self.maximumQuestions {
                let newest = try await store.newestPublished(product: request.product, branch: branch)
                var isAncestor = false
                if let newest, newest.commit != integration.commit, try await request.mirror.contains(newest.commit) {
                    isAncestor = try await request.mirror.isAncestor(integration.commit, of: newest.commit)
                }
                reservation = try await store.reserve(
                    versionRequest(
                        .branch(
                            major: line.major, minor: line.minor, newest: newest?.version, isAncestor: isAncestor)),
                    at: clock.now())
                guard case .newestChanged = reservation else { break }
            }
            return reservation
        }
    }

    /// Returns the version that a tag names.
    static func version(ofTag ref: RefName) throws(TriggerError) -> SemanticVersion {
        guard let tag = ref.tag, let version = SemanticVersion(tag: tag) else {
            throw TriggerError("\(ref.shortName) is not a tag that names a version; tags such as 1.4.0 or v1.4.0 do")
        }
        return version
    }

    /// Returns the branch whose commits are numbered, and the line that its name states.
    static func line(of ref: RefName) throws(TriggerError) -> (branch: String, line: ReleaseLine) {
        guard let branch = ref.branch, let line = ReleaseLine(branch: branch) else {
            throw TriggerError("\(ref.shortName) names no MAJOR.MINOR; name release branches such as release/1.4")
        }
        return (branch, line)
    }

    private func complete(_ version: SemanticVersion, _ request: Request) async throws {
        let integration = request.integration
        var files = request.files.map { file in
            var artifact = file.artifact
            artifact.path = ArtifactName.published(
                artifact.path, product: request.product, commit: integration.commit, version: version)
            return (source: file.path, artifact: artifact)
        }
        let made: VersionManifest
        if let found = try await versions.manifest(product: request.product, version: version) {
            guard found.commit == integration.commit else {
                throw TriggerError("\(request.product) \(version) exists there already, made by \(found.integration)")
            }
            // An earlier try moved these files into place and could not write the row. They are the version.
            made = found
        } else {
            let scratch = versions.scratch()
            var leftOut = try await leftOut(of: integration.id)
            if let package = request.registry {
                let packed = try await packageFiles(package, version, request, in: scratch)
                files += packed.files
                leftOut += packed.leftOut
            }
            let now = clock.now()
            let manifest = VersionManifest(
                product: request.product, version: version, integration: integration.id, commit: integration.commit,
                tree: integration.tree ?? "", ref: integration.ref, publishedAt: now,
                files: files.map(\.artifact),
                isolation: request.isolation, registry: request.registry,
                repository: PublicAddress.of(request.bot.repository),
                changes: try await changes(in: version, request),
                leftOut: leftOut.isEmpty ? nil : leftOut)
            let staged: StagedVersion
            do {
                let attestation = try await attestor?.attestation(for: request, at: now)
                // The key is read for each version, so it may have changed since the start. It is announced before anything is signed with it. An
                // extra line after a kill is harmless, but an unverifiable version stays forever.
                if let key = attestation?.key { try await attestor?.announce(key, in: versions) }
                staged = try await versions.stage(
                    manifest, files: files.map { StagedFile(source: $0.source, artifact: $0.artifact) },
                    attestation: attestation)
            } catch {
                await clear(scratch, of: request)
                throw error
            }
            await clear(scratch, of: request)
            switch try await versions.publish(staged) {
            case .published: made = manifest
            case .already(let existing): made = existing
            }
        }
        try await record(made)
        logger.info("published", metadata: ["product": "\(request.product)", "version": "\(version)"])
    }

    /// Stores a version's row according to its manifest.
    func record(_ manifest: VersionManifest) async throws {
        let owner = try await store.publish(
            PublishedVersion(
                product: manifest.product, version: manifest.version, integration: manifest.integration,
                files: manifest.files, publishedAt: manifest.publishedAt, registry: manifest.registry,
                repository: manifest.repository), at: clock.now())
        warn(of: owner, manifest)
    }

    /// Logs a warning if the version's package belongs to another product. A package belongs to one product, so the version is not in the registry
    /// then.
    func warn(of owner: Name?, _ manifest: VersionManifest) {
        guard let owner, let package = manifest.registry else { return }
        logger.warning(
            "a version is not in the package registry, since its package belongs to another product",
            metadata: [
                "product": "\(manifest.product)", "version": "\(manifest.version)", "package": "\(package)",
                "owner": "\(owner)",
            ])
    }
}
