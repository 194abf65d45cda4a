import Archives
import Basics
import Foundation
import Model
import Storage
import TestSupport
import Testing

@testable import Web

/// `martlet fetch`, `verify` and `signers` as another team runs them, against a real daemon's interface.
@Suite(.program("ssh-keygen")) struct FetchTests {
    private struct Team: Sendable {
        let web: WebFixture
        let sample: SampleContent
        let record: IntegrationRecord
        let key: SigningKey
        var home: String { web.directory.path("home") }
        var known: String { home + "/martlet/known_signers" }
        /// What the team's key files say of the service.
        var line: String { AllowedSigners.Signer(principal: "ci", key: key.publicKey).line + "\n" }

        /// The tool, with a configuration directory of its own.
        func martlet(_ arguments: [String], url: String? = nil) async throws -> ProgramResult {
            var environment = ["XDG_CONFIG_HOME": home, "PATH": "/usr/bin:/bin"]
            environment["MARTLET_URL"] = url ?? web.socket
            return try await run(
                [try TestTools.builtProduct("martlet")] + arguments, in: web.directory.path, environment: environment)
        }

        func key(_ name: String) async throws -> SigningKey { try await FetchTests.key(web.directory, name) }

        func announce(_ keys: [SigningKey]) throws {
            let signers = AllowedSigners(keys.map { .init(principal: "https://ci.acme.example", key: $0.publicKey) })
            try web.directory.write("state/files/ALLOWED_SIGNERS", signers.text)
        }

        func left() throws -> [String] {
            try web.directory.directory().entries().map(\.name).filter { $0.hasPrefix(".martlet-") }
        }
    }

    private static func key(_ directory: TemporaryDirectory, _ name: String) async throws -> SigningKey {
        try await runExpectingSuccess(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", directory.path(name)])
        return try SigningKey(openSSH: directory.text(name))
    }

    /// A service with one version, 1.4.2, and the announced key that signed it.
    private func withTeam(_ body: @Sendable (Team) async throws -> Void) async throws {
        try await withWeb { web in
            let sample = SampleContent(web: web)
            try await sample.fill()
            let record = try #require(try await web.store.integrations(IntegrationFilter(), limit: 1).items.first)
            let team = Team(web: web, sample: sample, record: record, key: try await Self.key(web.directory, "key"))
            try await sample.publish("1.4.2", by: record, signedBy: team.key)
            try team.announce([team.key])
            try await body(team)
        }
    }

    @Test func testThatTheFirstFetchRemembersTheKeyAndWhatItKeepsIsVerifiedOffline() async throws {
        try await withTeam { team in
            // when
            let fetched = try await team.martlet(["fetch", "kit@~1.4", "--output", "got"])

            // then
            #expect(fetched.status == 0, "\(fetched.stderr)")
            #expect(fetched.stdout.split(separator: "\n").count == 2)
            expectContains(
                fetched.stderr, "\(team.key.publicKey.fingerprint) is remembered as a key of \(team.web.socket)")
            expectContains(fetched.stderr, "signed by \(team.web.socket)")
            expectFile(
                team.known, "\(team.web.socket) namespaces=\"file\" \(team.key.publicKey)\n")
            #expect(
                try Directory(opening: team.web.directory.path("got")).entries().map(\.name) == [
                    "SHA256SUMS", "SHA256SUMS.sig", "kit-source.tar.gz", "manifest.json", "page.html",
                    "provenance.json",
                ])
            // Without a daemon.
            let verified = try await team.martlet(["verify", "got"], url: "/nowhere")
            #expect(verified.status == 0, "\(verified.stderr)")
            expectContains(
                verified.stdout, "kit 1.4.2: 4 files as published, from \(team.record.commit) by \(team.record.id)")
            #expect(try team.left() == [])
            let printed = try await team.martlet(["signers"])
            #expect(printed.stdout == "https://ci.acme.example namespaces=\"file\" \(team.key.publicKey)\n")
        }
    }

    @Test func testThatALargeFileIsFetched() async throws {
        try await withTeam { team in
            // given: above what an answer of the interface may have
            let bytes = [UInt8](repeating: 7, count: (16 << 20) + 1)
            try await team.sample.publish("1.5.0", by: team.record, files: ["large.bin": bytes], signedBy: team.key)
            // when
            let fetched = try await team.martlet(["fetch", "kit@1.5.0", "--output", "got"])
            // then
            #expect(fetched.status == 0, "\(fetched.stderr)")
            #expect(try Directory(opening: team.web.directory.path("got")).status("large.bin")?.size == (16 << 20) + 1)
        }
    }

    @Test func testThatAnotherKeyIsRefusedOnceOneIsRemembered() async throws {
        try await withTeam { team in
            // given
            #expect(try await team.martlet(["fetch", "kit", "--output", "first"]).status == 0)
            let thief = try await team.key("thief")
            try await team.sample.publish("1.4.3", by: team.record, signedBy: thief)
            try await team.sample.publish("1.4.4", by: team.record)
            try team.announce([thief])

            // when
            let other = try await team.martlet(["fetch", "kit@1.4.3", "--output", "second"])
            let unsigned = try await team.martlet(["fetch", "kit@1.4.4", "--output", "third"])

            // then
            #expect(other.status == 77)
            expectContains(other.stderr, "signed by \(thief.publicKey.fingerprint), which is not among the keys")
            #expect(unsigned.status == 77)
            expectContains(unsigned.stderr, "kit 1.4.4 is whole, but not signed; say --unsigned")
            for name in ["second", "third"] { expectNoFile(team.web.directory.path(name)) }
            #expect(try team.left() == [])
            #expect(try await team.martlet(["fetch", "kit@1.4.4", "--output", "third", "--unsigned"]).status == 0)
            // A person who knows the new key says so.
            try team.web.directory.write("allowed", "ci \(thief.publicKey)\n")
            let allowed = try await team.martlet(["fetch", "kit@1.4.3", "--output", "second", "--signers", "allowed"])
            #expect(allowed.status == 0, "\(allowed.stderr)")
        }
    }

    @Test(arguments: ["page.html", "SHA256SUMS", "SHA256SUMS.sig", "manifest.json", "provenance.json"])
    func testR4ThatWhatWasChangedOnTheServerIsNeverKept(name: String) async throws {
        try await withTeam { team in
            // given: one bit of what the server sends
            let place = team.web.directory.path("state/files/kit/1.4.2/\(name)")
            var bytes = try WholeFile.read(place, limit: 1 << 20)
            bytes[bytes.count / 2] ^= 1
            try AtomicFile.write(bytes, to: place)
            // A file that the version's row lists, the server refuses itself.
            let isListed = name == "page.html"
            if isListed { team.web.log.expectErrors(containing: "damaged") }

            // when
            let fetched = try await team.martlet(["fetch", "kit", "--output", "got"])

            // then
            #expect(fetched.status == (isListed ? 70 : 1), "\(fetched.stderr)")
            expectNoFile(team.web.directory.path("got"))
            #expect(try team.left() == [])
        }
    }

    @Test func testThatPartsAreCheckedAndPutBesideOtherFiles() async throws {
        try await withTeam { team in
            // given
            try team.web.directory.write("here/mine", "x")

            // when
            let one = try await team.martlet(["fetch", "kit@1.4.2", "page.html", "--output", "here"])
            let again = try await team.martlet(["fetch", "kit@1.4.2", "page.html", "--output", "here"])
            let none = try await team.martlet(["fetch", "kit@1.4.2", "no.html", "--output", "here"])

            // then
            #expect(one.status == 0, "\(one.stderr)")
            #expect(one.stdout == "\(Digest.sha256(of: Array("<p>".utf8)))  page.html\n")
            #expect(again.status == 73)
            #expect(none.status == 66)
            let names = try Directory(opening: team.web.directory.path("here")).entries().map(\.name)
            #expect(names == ["mine", "page.html"])
        }
    }

    @Test func testThatVerifySaysWhatIsWrongByItsExitStatus() async throws {
        try await withTeam { team in
            // given
            #expect(try await team.martlet(["fetch", "kit", "--output", "got"]).status == 0)
            try team.web.directory.write("allowed", team.line)
            try team.web.directory.write("others", "ci \(try await team.key("other").publicKey)\n")
            try team.web.directory.write("broken", "ci\n")
            try team.web.directory.makeDirectory("empty")

            // when, then
            for (arguments, status, words) in [
                (["verify", "got"], 0, "signed by"), (["verify", "got", "--signers", "allowed"], 0, "signed by ci"),
                (["verify", "got", "--signers", "others"], 77, "which is not among others"),
                (["verify", "got", "--signers", "broken"], 64, "line 1"),
                (["verify", "got", "--signers", "none"], 66, "cannot be read"),
                (["verify", "empty"], 66, "there is no SHA256SUMS"),
                (["verify", "nowhere"], 66, "nowhere"),
            ] as [([String], Int32, String)] {
                let result = try await team.martlet(arguments, url: "/nowhere")
                #expect(result.status == status, "\(arguments): \(result.stderr)")
                expectContains(result.stdout + result.stderr, words)
            }
            try team.web.directory.write("got/extra", "x")
            let extra = try await team.martlet(["verify", "got"])
            #expect(extra.status == 1)
            expectContains(extra.stderr, "extra: not in SHA256SUMS\ngot is not what was published")
            // A service that never had a key.
            try FileManager.default.removeItem(atPath: team.web.directory.path("state/files/ALLOWED_SIGNERS"))
            let signers = try await team.martlet(["signers"])
            #expect(signers.status == 66)
            expectContains(signers.stderr, "signs nothing")
        }
    }

    @Test func testThatAServiceWithoutAKeyIsTakenAtItsSums() async throws {
        try await withWeb { web in
            // given
            try await SampleContent(web: web).fill()

            // when
            let result = try await run(
                [try TestTools.builtProduct("martlet"), "fetch", "kit", "--output", "got"], in: web.directory.path,
                environment: ["XDG_CONFIG_HOME": web.directory.path("home"), "MARTLET_URL": web.socket])

            // then
            #expect(result.status == 0, "\(result.stderr)")
            expectContains(result.stderr, "not signed")
            expectNoFile(web.directory.path("home/martlet/known_signers"))
        }
    }
}
