import Basics
import BotSupport
import Model
import Settings
import SourceControl
import Storage
import TestSupport
import Testing

@testable import Integrations
@testable import Jobs
@testable import Releases

/// A publisher with a real store, a real repository and a real disk, without the service around it.
struct PublisherFixture: Sendable {
    let directory: TemporaryDirectory
    let store: Store
    let versions: VersionStore
    let publisher: Publisher
    let work: GitRepository
    let mirror: Mirror
    let log: RecordingLogger
    let time: TestTime
    let product: Name

    init(
        _ directory: TemporaryDirectory, operations: any VersionFiles = DiskVersionFiles(), work: GitRepository? = nil,
        isolation: Isolation? = nil, time: TestTime = TestTime(), log: RecordingLogger
    ) async throws {
        self.directory = directory
        self.time = time
        self.log = log
        product = try Samples.name("kit")
        let repository = directory.path("work")
        if let work {
            self.work = work
        } else {
            self.work = try await GitRepository.make(at: repository)
            _ = try await self.work.commit(message: "Begin")
        }
        store = try Store.open(path: directory.path("martlet.sqlite"))
        try await store.register([BotSpecification(name: product, repository: repository)], at: time.now)
        versions = try VersionStore(
            files: directory.path("files"), staging: directory.path("staging"), operations: operations)
        var attestor: Attestor?
        if let isolation {
            // The key is the secret signing-key of the test's directory.
            let secrets = SecretStore(directory: directory.path("secrets"), credentialsDirectory: nil)
            let remotes = Remotes(mirrors: Mirrors(directory: directory.path("repositories")), secrets: secrets)
            attestor = Attestor(
                secrets: secrets, key: "signing-key",
                submodules: { try await remotes.submodules(of: $0, in: $1, for: $2) },
                url: "https://ci.acme.example", version: "0.1.0", isolation: isolation)
        }
        publisher = Publisher(
            store: store, versions: versions, attestor: attestor, clock: time.clock, logger: log.logger)
        mirror = Mirrors(directory: directory.path("repositories"), configuration: GitConfiguration(files: []))
            .mirror(of: try RemoteURL(repository, isInsecureAllowed: false))
    }

    /// Returns the fixture of a daemon after this one.
    func restarted(operations: any VersionFiles = DiskVersionFiles()) async throws -> PublisherFixture {
        try store.close()
        return try await PublisherFixture(directory, operations: operations, work: work, time: time, log: log)
    }

    /// Makes a commit on the current branch.
    func commit(_ text: String) async throws -> CommitID { try await work.commit(files: ["version": text]) }

    /// Stores a running integration of a commit, and returns its request to publish one file with `content`.
    func request(
        _ commit: CommitID, ref: RefName = RefName(branch: "release/1.0"), source: Trigger.VersionSource = .branch,
        content: String = "bytes", fileName: String? = nil, registry: PackageIdentifier? = nil,
        isolation: String = "none", cause: Cause = .push
    ) async throws -> Publisher.Request {
        try await mirror.fetch(try await mirror.scan().heads)
        let queued = try await store.queue(
            NewIntegration(bot: product, ref: ref, commit: commit, cause: cause, isRelease: true), at: time.now)
        let running = try await store.apply(.started, to: queued.id, at: time.now)
        let path = try directory.write("made/\(Digest.sha256(of: Array(content.utf8)))", content)
        let artifact = Artifact(
            configuration: try Samples.name("release"),
            path: fileName ?? "kit-\(commit.abbreviated)-source.tar.gz", size: ByteCount(Int64(content.utf8.count)),
            sha256: Digest.sha256(of: Array(content.utf8)))
        return Publisher.Request(
            integration: running, bot: BotSpecification(name: product, repository: work.path), source: source,
            mirror: mirror, files: [(path, artifact)], isolation: isolation, registry: registry)
    }

    /// Reserves the next version of 1.0 for a request, which is the first part of publishing.
    func reserve(_ request: Publisher.Request) async throws {
        _ = try await store.reserve(
            VersionRequest(
                product: product, integration: request.integration.id, commit: request.integration.commit,
                ref: request.integration.ref, source: .branch(major: 1, minor: 0, newest: nil, isAncestor: false),
                onDisk: []), at: time.now)
    }

    func complete(_ request: Publisher.Request) async throws {
        try await store.apply(.completed(.succeeded, triggerFailed: false), to: request.integration.id, at: time.now)
    }

    /// Publishes the commit by an integration, which completes.
    @discardableResult
    func publish(
        _ commit: CommitID, ref: RefName = RefName(branch: "release/1.0"), source: Trigger.VersionSource = .branch,
        content: String = "bytes"
    ) async throws -> Publisher.Publication {
        let request = try await request(commit, ref: ref, source: source, content: content)
        let publication = try await publisher.publish(request)
        try await complete(request)
        return publication
    }

    /// Expects exactly these versions in the database and complete on the disk, and no unfinished files.
    func expectVersions(_ expected: [String], sourceLocation: SourceLocation = #_sourceLocation) async throws {
        let rows = try await store.versions(of: product)
        let published = rows.filter { $0.state == .published }.map(\.version).sorted().map(\.description)
        #expect(published == expected, "by the database", sourceLocation: sourceLocation)
        #expect(
            rows.count == published.count, "reserved: \(rows.filter { $0.state == .reserved })",
            sourceLocation: sourceLocation)
        let onDisk = try await versions.versions(of: product).sorted().map(\.description)
        #expect(onDisk == expected, "on the disk", sourceLocation: sourceLocation)
        for version in onDisk {
            #expect(
                try VersionCheck(of: directory.path("files/kit/\(version)"), signers: AllowedSigners()).problems == [],
                "\(version)",
                sourceLocation: sourceLocation)
        }
        let left = try Directory(opening: directory.path("staging")).entries().map(\.name)
        #expect(left == [], "in staging/", sourceLocation: sourceLocation)
    }

    func version(_ text: String) throws -> SemanticVersion { try #require(SemanticVersion(text)) }

    /// Writes a version into the tree, as another daemon or a copy of the tree does.
    @discardableResult
    func plant(
        _ version: String, of product: Name? = nil, commit: CommitID, integration: Int, content: String = "planted",
        registry: PackageIdentifier? = nil, repository: String? = nil
    ) async throws -> VersionManifest {
        let product = product ?? self.product
        let path = try directory.write("made/planted-\(version)", content)
        let artifact = Artifact(
            configuration: nil, path: "kit-\(version)-source.tar.gz", size: ByteCount(Int64(content.utf8.count)),
            sha256: Digest.sha256(of: Array(content.utf8)))
        let manifest = VersionManifest(
            product: product, version: try self.version(version),
            integration: IntegrationID(bot: product, number: integration), commit: commit, tree: "",
            ref: RefName(branch: "release/1.0"), publishedAt: time.now, files: [artifact], isolation: "none",
            registry: registry, repository: repository)
        _ = try await versions.publish(
            try await versions.stage(manifest, files: [StagedFile(source: path, artifact: artifact)]))
        return manifest
    }
}

/// Runs a test with a publisher.
func withPublisher(
    sourceLocation: SourceLocation = #_sourceLocation, _ body: (PublisherFixture) async throws -> Void
) async throws {
    try await withTemporaryDirectory(sourceLocation: sourceLocation) { directory in
        let log = RecordingLogger(sourceLocation: sourceLocation)
        try await body(try await PublisherFixture(directory, log: log))
    }
}
