import Archives
import Basics
import Foundation
import Model
import TestSupport
import Testing

@testable import Releases

/// Versions with right sums and signatures by the service's own key, of which one description is wrong. Each comparison finds its own error.
@Suite(.program("ssh-keygen")) struct ForgedStatementTests {
    /// Changes a version's descriptions and signs it again.
    /// - Returns: The problems of the version.
    private func problems(
        namespace: String = SSHSignature.namespace, statementBy name: String = "key",
        _ change: (inout VersionManifest, inout Statement) throws -> Void = { _, _ in },
        text: (String) -> String = { $0 }
    ) async throws -> [String] {
        let found = Locked<[String]>([])
        try await withTemporaryDirectory { directory in
            let fixture = try await SigningFixture(directory)
            let copy = try await fixture.copy(try await fixture.publish())
            var sums = try #require(Checksums(try WholeFile.read("\(copy)/SHA256SUMS", limit: 1 << 20)))
            var manifest = try VersionJSON.decode(
                VersionManifest.self, from: try WholeFile.read("\(copy)/manifest.json", limit: 1 << 20))
            let old = try VersionJSON.decode(
                Envelope.self, from: try WholeFile.read("\(copy)/provenance.json", limit: 1 << 20))
            var statement = try VersionJSON.decode(Statement.self, from: try #require(old.content))

            // when
            try change(&manifest, &statement)
            let written = try PublishedJSON.encode(manifest)
            sums.digests["manifest.json"] = Digest.sha256(of: written)
            for index in statement.subject.indices where statement.subject[index].name == "manifest.json" {
                statement.subject[index].digest["sha256"] = Digest.sha256(of: written)
            }
            let key = try await SigningFixture.key(in: directory, name)
            let envelope = try PublishedJSON.encode(Envelope(try PublishedJSON.encode(statement), signedBy: key))
            sums.digests["provenance.json"] = Digest.sha256(of: envelope)
            let signature = try SSHSignature(of: sums.bytes, by: fixture.key, namespace: namespace)
            for (name, bytes) in [
                ("manifest.json", written), ("provenance.json", envelope), ("SHA256SUMS", sums.bytes),
                ("SHA256SUMS.sig", Array(text(signature.armored).utf8)),
            ] { try AtomicFile.write(bytes, to: "\(copy)/\(name)") }

            // then
            let signers = try AllowedSigners("ci \(fixture.key.publicKey)", name: "f")
            let check = try VersionCheck(of: copy, signers: signers)
            found.withLock { $0 = check.problems }
        }
        return found.value
    }

    @Test func testThatNothingIsWrongWithoutAChange() async throws { #expect(try await problems() == []) }

    @Test(.proves(.releases, "Versions: `martlet verify DIRECTORY` checks all of it without a network"))
    func testThatEachOfItsClaimsIsTheManifests() async throws {
        let other = String(repeating: "9", count: 40)
        let changes: [(inout Statement) -> Void] = [
            { $0.predicate.buildDefinition.externalParameters.product = "other" },
            { $0.predicate.buildDefinition.externalParameters.version = "1.4.3" },
            { $0.predicate.buildDefinition.externalParameters.ref = "refs/heads/other" },
            { $0.predicate.buildDefinition.internalParameters.isolation = "sandbox" },
            { $0.predicate.buildDefinition.resolvedDependencies[0].digest["gitCommit"] = other },
            { $0.predicate.buildDefinition.resolvedDependencies[0].digest["gitTree"] = other },
            { $0.predicate.runDetails.metadata.invocationId += "0" },
            { $0.predicate.runDetails.builder.id = "https://other.example" },
        ]
        for (index, change) in changes.enumerated() {
            let found = try await problems { change(&$1) }
            #expect(
                found == ["provenance.json: names another commit, version or integration than manifest.json"],
                "change \(index)")
        }
    }

    @Test func testThatItIsAStatementOfTheseFiles() async throws {
        #expect(
            try await problems { $1.subject.removeLast() } == ["provenance.json: is about other files than SHA256SUMS"])
        #expect(
            try await problems { $1.predicateType = "https://other.example/v1" } == [
                "provenance.json: its statement is of another kind than https://slsa.dev/provenance/v1"
            ])
    }

    @Test(.proves(.releases, "Versions: `martlet verify DIRECTORY` checks all of it without a network"))
    func testThatAnotherKeysEnvelopeIsRefusedWithAllElseRight() async throws {
        let found = try await problems(statementBy: "other")
        #expect(found.count == 1)
        expectContains(found.first ?? "", "provenance.json: is not signed by SHA256:")
    }

    @Test func testThatTheManifestsSizesAreCompared() async throws {
        let found = try await problems { manifest, _ in
            let (file, old) = (manifest.files[0], manifest)
            let longer = Artifact(
                configuration: file.configuration, path: file.path, size: ByteCount(file.size.bytes + 1),
                sha256: file.sha256)
            manifest = VersionManifest(
                product: old.product, version: old.version, integration: old.integration, commit: old.commit,
                tree: old.tree, ref: old.ref, publishedAt: old.publishedAt,
                files: [longer] + old.files.dropFirst(), isolation: old.isolation)
        }
        #expect(found.count == 1)
        expectContains(found.first ?? "", "and its manifest says")
    }

    @Test(
        .proves(
            .releases,
            "Versions: `SHA256SUMS.sig`, which `ssh-keygen -Y verify` accepts; its key from a systemd credential, out of reach of jobs"
        ))
    func testThatASignatureForAnotherPurposeIsNoneOfAVersion() async throws {
        let found = try await problems(namespace: "git")
        #expect(found.first == "SHA256SUMS.sig: was made for git, not for a file")
    }

    @Test(
        .proves(
            .releases,
            "Versions: `SHA256SUMS.sig`, which `ssh-keygen -Y verify` accepts; its key from a systemd credential, out of reach of jobs"
        ), arguments: ["\n", "-----BEGIN", "="])
    func testThatASignatureIsReadAsItIsWrittenAndNoOtherWay(at place: String) async throws {
        // A lenient reader of base64 between two lines would accept each of these: an empty line, another line width, a blank at the end.
        let found = try await problems(text: { (text: String) -> String in
            var lines = text.split(separator: "\n").map(String.init)
            switch place {
            case "\n": return text + "\n"
            case "-----BEGIN": return text.replacing("\n", with: "\n\n", maxReplacements: 1)
            default:
                lines = [lines[0], lines[1..<lines.count - 1].joined(), lines[lines.count - 1]]
                return lines.joined(separator: "\n") + "\n"
            }
        })
        #expect(found.first == "SHA256SUMS.sig: is not an Ed25519 signature as ssh-keygen writes it")
    }
}
