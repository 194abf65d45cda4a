import Basics
import Model
import TestSupport
import Testing

@testable import Releases

/// A version store in a test's directory, with files to publish.
struct VersionFixture {
    let directory: TemporaryDirectory
    let store: VersionStore
    let product: Name

    init(_ directory: TemporaryDirectory, operations: any VersionFiles = DiskVersionFiles()) throws {
        self.directory = directory
        store = try VersionStore(
            files: directory.path("files"), staging: directory.path("staging"), operations: operations,
            identifiers: SeededIdentifiers())
        product = try #require(Name("kit"))
    }

    func version(_ text: String) throws -> SemanticVersion { try #require(SemanticVersion(text)) }

    /// Writes the files and returns them for staging.
    func files(_ content: [String: String]) throws -> [StagedFile] {
        try content.map { name, text in
            let source = try directory.write("made/\(Digest.sha256(of: Array((name + text).utf8)))", text)
            return StagedFile(
                source: source,
                artifact: Artifact(
                    configuration: nil, path: name, size: ByteCount(Int64(text.utf8.count)),
                    sha256: Digest.sha256(of: Array(text.utf8))))
        }
    }

    func manifest(
        _ version: String, _ files: [StagedFile], integration: Int = 3, at milliseconds: Int64 = 1_700_000_000_250
    ) throws -> VersionManifest {
        VersionManifest(
            product: product, version: try self.version(version),
            integration: IntegrationID(bot: product, number: integration),
            commit: try #require(CommitID(String(repeating: "ab", count: 20))),
            tree: String(repeating: "cd", count: 20), ref: RefName(branch: "release/1.4"),
            publishedAt: Timestamp(millisecondsSinceEpoch: milliseconds), files: files.map(\.artifact),
            isolation: "none")
    }

    /// Stages and publishes a version.
    @discardableResult
    func publish(
        _ version: String, _ content: [String: String] = ["kit.tar.zst": "bytes"], integration: Int = 3
    ) async throws -> PublishOutcome {
        let files = try files(content)
        return try await store.publish(
            store.stage(manifest(version, files, integration: integration), files: files))
    }

    /// Returns the names below the staging directory.
    func staged() throws -> [String] { try Directory(opening: directory.path("staging")).entries().map(\.name) }

    /// Expects the version to be either absent, or complete and correct.
    func expectWholeOrAbsent(
        _ version: String, names: Set<String>, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let files = try Directory(opening: directory.path("files"))
        guard try files.status("kit/\(version)") != nil else { return }
        let found = Set(try files.entries("kit/\(version)").map(\.name))
        #expect(found == names.union(["manifest.json", "SHA256SUMS"]), sourceLocation: sourceLocation)
        let check = try VersionCheck(of: directory.path("files/kit/\(version)"), signers: AllowedSigners())
        #expect(check.problems == [], sourceLocation: sourceLocation)
    }
}
