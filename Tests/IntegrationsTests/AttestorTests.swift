import Archives
import Basics
import Foundation
import JobProtocol
import Model
import Settings
import SourceControl
import Storage
import TestSupport
import Testing

@testable import Integrations
@testable import Jobs
@testable import Releases

@Suite(.program("ssh-keygen")) struct AttestorTests {
    private static let release = RefName(branch: "release/1.0")

    /// Runs a test with a publisher whose service has a key among its secrets, in the format of `ssh-keygen`.
    private func withAttestor(
        isolation: Isolation = .sandbox, _ body: (PublisherFixture, String) async throws -> Void
    ) async throws {
        try await withTemporaryDirectory { directory in
            let key = directory.path("secrets/signing-key")
            try directory.makeDirectory("secrets")
            try await runExpectingSuccess(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key])
            try FileManager.default.moveItem(atPath: key + ".pub", toPath: directory.path("key.pub"))
            let fixture = try await PublisherFixture(directory, isolation: isolation, log: RecordingLogger())
            try await fixture.work.branch("release/1.0")
            try await body(fixture, directory.path("files/kit/1.0.0"))
        }
    }

    private func statement(_ place: String) throws -> [String: Any] {
        let bytes = try WholeFile.read(place + "/provenance.json", limit: 1 << 20)
        let envelope = try #require(try JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any])
        let text = try #require(envelope["payload"] as? String)
        let payload = try #require(Data(base64Encoded: text))
        return try #require(try JSONSerialization.jsonObject(with: payload) as? [String: Any])
    }

    @Test(
        .proves(
            .releases,
            "Versions: `SHA256SUMS.sig`, which `ssh-keygen -Y verify` accepts; its key from a systemd credential, out of reach of jobs"
        ),
        .proves(
            .releases,
            "Versions: `provenance.json` is an in-toto statement with the SLSA v1 predicate in a DSSE envelope, with digests of every input"
        ))
    func testThatAVersionIsSignedByTheServicesKeyAndSaysWhereItComesFrom() async throws {
        try await withAttestor { fixture, place in
            // given
            try await fixture.publisher.reconcile()
            let resolved = """
                {"version": 3, "pins": [{"identity": "lib", "kind": "remoteSourceControl",
                 "location": "https://git.acme.example/lib.git", "state": {"revision": "\(String(repeating: "e", count: 40))", "version": "1.2.3"}}]}
                """
            let commit = try await fixture.work.commit(files: ["Package.resolved": resolved])

            // when
            let request = try await fixture.request(commit, isolation: "sandbox")
            #expect(try await fixture.publisher.publish(request) == .published(SemanticVersion(1, 0, 0)))

            // then: the announced key signed it, which a reader with only the tree can verify
            let allowed = fixture.directory.path("files/ALLOWED_SIGNERS")
            let signers = try AllowedSigners(fixture.directory.text("files/ALLOWED_SIGNERS"), name: allowed)
            let publicKey = try fixture.directory.text("key.pub").split(separator: " ").prefix(2).joined(separator: " ")
            #expect(signers.text == "https://ci.acme.example namespaces=\"file\" \(publicKey)\n")
            try await runExpectingSuccess(
                [
                    "ssh-keygen", "-Y", "verify", "-f", allowed, "-I", "https://ci.acme.example", "-n", "file", "-s",
                    place + "/SHA256SUMS.sig",
                ], input: String(decoding: try WholeFile.read(place + "/SHA256SUMS", limit: 1 << 20), as: UTF8.self))
            let check = try VersionCheck(of: place, signers: signers)
            #expect(check.problems == [])
            #expect(check.trust == .signed(signers.signers[0]))

            // and
            let predicate = try #require(try statement(place)["predicate"] as? [String: Any])
            let definition = try #require(predicate["buildDefinition"] as? [String: Any])
            let inputs = try #require(definition["resolvedDependencies"] as? [[String: Any]])
            #expect(
                inputs.map { $0["uri"] as? String } == [
                    "git+file://\(fixture.work.path)@refs/heads/release/1.0",
                    "git+file://\(fixture.work.path)@\(commit)#Package.resolved",
                    "git+https://git.acme.example/lib.git",
                ])
            #expect((inputs[0]["digest"] as? [String: String])?["gitCommit"] == commit.description)
            #expect(inputs[1]["digest"] as? [String: String] == ["sha256": Digest.sha256(of: Array(resolved.utf8))])
            #expect(inputs[1]["annotations"] == nil)
            #expect(inputs[2]["digest"] as? [String: String] == ["gitCommit": String(repeating: "e", count: 40)])
            let parameters = try #require(definition["internalParameters"] as? [String: Any])
            #expect(parameters["isolation"] as? String == "sandbox")
            let run = try #require(predicate["runDetails"] as? [String: Any])
            #expect((run["builder"] as? [String: Any])?["id"] as? String == "https://ci.acme.example")
            #expect(
                (run["metadata"] as? [String: String])?["invocationId"]
                    == "https://ci.acme.example/bots/kit/\(request.integration.id.number)")
        }
    }

    /// The statement lists its gaps: a lock file that cannot be read, and files that are left out of the source.
    @Test func testThatWhatTheInputsDoNotSayIsInTheStatement() async throws {
        try await withAttestor { fixture, place in
            // given: one that cannot be read, and as many without anything to list
            try await fixture.publisher.reconcile()
            var files = ["package-lock.json": "{"]
            for number in 0..<LockedInputs.maximumFiles { files["fixtures/\(number)/go.sum"] = "" }
            let commit = try await fixture.work.commit(files: files)

            // when
            _ = try await fixture.publisher.publish(try await fixture.request(commit, isolation: "sandbox"))

            // then
            let predicate = try #require(try statement(place)["predicate"] as? [String: Any])
            let definition = try #require(predicate["buildDefinition"] as? [String: Any])
            let inputs = try #require(definition["resolvedDependencies"] as? [[String: Any]])
            let notes = inputs.map { ($0["annotations"] as? [String: String])?["martlet_note"] }
            #expect(notes.count == 1 + LockedInputs.maximumFiles)
            #expect(notes[0] == "of 101 lock files the 100 nearest to the root are inputs")
            expectContains(notes[1] ?? "", "its pinned dependencies could not be read: no JSON")
            #expect(notes.dropFirst(2).allSatisfy { $0 == nil })
        }
    }

    @Test(
        .proves(
            .releases,
            "Versions: `SHA256SUMS.sig`, which `ssh-keygen -Y verify` accepts; its key from a systemd credential, out of reach of jobs"
        ))
    func testThatWithoutASandboxNothingIsSigned() async throws {
        // The service's, and one job's.
        for (service, jobs) in [(Isolation.none(reason: "a test"), "none"), (.sandbox, "none")] {
            try await withAttestor(isolation: service) { fixture, place in
                // given
                try await fixture.publisher.reconcile()

                // when
                let request = try await fixture.request(fixture.commit("a"), isolation: jobs)
                _ = try await fixture.publisher.publish(request)

                // then
                expectNoFile(place + "/SHA256SUMS.sig")
                let check = try VersionCheck(of: place, signers: AllowedSigners())
                #expect(check.problems == [])
                #expect(check.trust == .unsigned)
                if service != .sandbox {
                    expectNoFile(fixture.directory.path("files/ALLOWED_SIGNERS"))
                    #expect(fixture.log.lines.contains { $0.message.contains("versions are not signed") })
                }
            }
        }
    }

    @Test(
        .proves(
            .releases,
            "Versions: `SHA256SUMS.sig`, which `ssh-keygen -Y verify` accepts; its key from a systemd credential, out of reach of jobs"
        ))
    func testThatAKeyThatCannotBeUsedPublishesNothingAndLeavesNoNumber() async throws {
        try await withAttestor { fixture, place in
            // given
            let key = fixture.directory.path("secrets/signing-key")
            let text = try fixture.directory.text("secrets/signing-key")
            let request = try await fixture.request(fixture.commit("a"), isolation: "sandbox")

            // when, then: missing, and damaged
            try FileManager.default.removeItem(atPath: key)
            let missing = await #expect(throws: TriggerError.self) { try await fixture.publisher.publish(request) }
            expectContains(missing?.description ?? "", "the key signing-key, which `signing` of the settings names")
            try fixture.directory.write("secrets/signing-key", "no key", mode: 0o600)
            let broken = await expectRejection(ArchiveError.self, \.code, .key) {
                try await fixture.publisher.publish(request)
            }
            expectContains(broken.map { "\($0)" } ?? "", "the key signing-key, which `signing` of the settings names")
            fixture.log.expectErrors(containing: "versions cannot be signed")
            try await fixture.publisher.reconcile()
            #expect(fixture.log.lines.contains { $0.message.contains("versions cannot be signed") })
            try await fixture.expectVersions([])
            expectNoFile(place)

            // and with the key again
            try fixture.directory.write("secrets/signing-key", text, mode: 0o600)
            #expect(try await fixture.publisher.publish(request) == .published(SemanticVersion(1, 0, 0)))
            let signer = try #require(try announced(fixture).signers.first)
            #expect(try VersionCheck(of: place, signers: announced(fixture)).trust == .signed(signer))
        }
    }

    /// Returns the service's keys as it publishes them.
    private func announced(_ fixture: PublisherFixture) throws -> AllowedSigners {
        try AllowedSigners(fixture.directory.text("files/ALLOWED_SIGNERS"), name: "ALLOWED_SIGNERS")
    }

    @Test(
        .proves(
            .releases,
            "Versions: `SHA256SUMS.sig`, which `ssh-keygen -Y verify` accepts; its key from a systemd credential, out of reach of jobs"
        ))
    func testThatAKeyThatIsChangedWithoutARestartIsAnnouncedBeforeItSigns() async throws {
        try await withAttestor { fixture, place in
            // given
            try await fixture.publisher.reconcile()
            let first = try announced(fixture)
            let other = fixture.directory.path("other")
            try await runExpectingSuccess(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", other])
            try fixture.directory.write("secrets/signing-key", fixture.directory.text("other"), mode: 0o600)

            // when
            let request = try await fixture.request(fixture.commit("a"), isolation: "sandbox")
            #expect(try await fixture.publisher.publish(request) == .published(SemanticVersion(1, 0, 0)))

            // then
            let both = try announced(fixture)
            #expect(both.signers.count == 2)
            #expect(both.signers.first == first.signers.first)
            #expect(try VersionCheck(of: place, signers: both).trust == .signed(both.signers[1]))
        }
    }

    @Test(
        .proves(
            .releases,
            "Versions: `SHA256SUMS.sig`, which `ssh-keygen -Y verify` accepts; its key from a systemd credential, out of reach of jobs"
        ))
    func testThatNothingIsSignedWithAKeyThatCannotBeAnnounced() async throws {
        try await withAttestor { fixture, place in
            // given: a file that cannot be parsed
            try fixture.directory.write("files/ALLOWED_SIGNERS", "no line\n")
            let request = try await fixture.request(fixture.commit("a"), isolation: "sandbox")

            // when, then
            await expectRejection(ArchiveError.self, \.code, .signature) {
                try await fixture.publisher.publish(request)
            }
            expectNoFile(place)
            try await fixture.expectVersions([])
        }
    }

    @Test(
        .proves(
            .releases,
            "Versions: `SHA256SUMS.sig`, which `ssh-keygen -Y verify` accepts; its key from a systemd credential, out of reach of jobs"
        ))
    func testU9ThatNoBotIsGivenTheKey() async throws {
        try await withTemporaryDirectory { directory in
            // given
            try directory.makeDirectory("secrets")
            try directory.write("secrets/signing-key", "the key", mode: 0o600)
            try directory.write("secrets/office-token", "a token", mode: 0o600)
            let all = SecretStore(directory: directory.path("secrets"), credentialsDirectory: nil)

            // when
            let given = all.withholding("signing-key", of: "signing")

            // then
            #expect(try given.value("office-token") == "a token")
            for read in [{ try given.value("signing-key") }, { try given.file("signing-key") }] {
                let error = await expectRejection(SettingsError.self, \.code, .withheld) { try read() }
                #expect(error.map { "\($0)".contains("the key") } == false)
            }
            #expect(try all.value("signing-key") == "the key")
        }
    }

    @Test(arguments: [
        ("https://git.acme.example/kit.git", "git+https://git.acme.example/kit.git"),
        ("git@git.acme.example:acme/kit.git", "git+ssh://git@git.acme.example/acme/kit.git"),
        ("/srv/kit.git", "git+file:///srv/kit.git"),
    ])
    func testThatAPlaceIsWrittenAsSPDXDoes(url: String, uri: String) throws {
        #expect(try Attestor.uri(of: RemoteURL(url, isInsecureAllowed: false)) == uri)
    }
}
