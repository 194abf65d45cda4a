import Archives
import Basics
import Encodings
import Foundation
import TestSupport
import Testing

@testable import Releases

@Suite(.program("ssh-keygen")) struct SigningKeyTests {
    @Test(
        .proves(
            .releases,
            "Versions: `SHA256SUMS.sig`, which `ssh-keygen -Y verify` accepts; its key from a systemd credential, out of reach of jobs"
        ))
    func testThatItReadsWhatSshKeygenWrites() async throws {
        try await withTemporaryDirectory { directory in
            // given, when
            let key = try await SigningFixture.key(in: directory, "key")

            // then
            let words = try directory.text("key.pub").split(separator: " ")
            #expect(key.publicKey.description == words[0...1].joined(separator: " "))
            let listed = try await runExpectingSuccess(["ssh-keygen", "-l", "-f", directory.path("key.pub")])
            #expect(listed.split(separator: " ").contains(Substring(key.publicKey.fingerprint)))
            #expect(SignerKey(key.publicKey.description) == key.publicKey)
        }
    }

    @Test(
        .proves(
            .releases,
            "Versions: `SHA256SUMS.sig`, which `ssh-keygen -Y verify` accepts; its key from a systemd credential, out of reach of jobs"
        ),
        arguments: [
            (["-t", "ed25519", "-N", "a passphrase"], "it has a passphrase"),
            (["-t", "rsa", "-N", ""], "it is not an Ed25519 key"),
            (["-t", "ecdsa", "-N", ""], "it is not an Ed25519 key"),
            (["-t", "rsa", "-N", "", "-m", "PEM"], "it is not a private key of OpenSSH"),
        ])
    func testThatAnotherKindOfKeyIsRefusedWithWhatToDo(options: [String], reason: String) async throws {
        try await withTemporaryDirectory { directory in
            // given
            try await runExpectingSuccess(["ssh-keygen", "-q", "-f", directory.path("key")] + options)

            // when
            let text = try directory.text("key")
            let error = await expectRejection(ArchiveError.self, \.code, .key) { try SigningKey(openSSH: text) }

            // then
            expectContains(error?.message ?? "", reason)
            expectContains(error?.message ?? "", "ssh-keygen")
        }
    }

    @Test func testThatADamagedFileIsNoKey() async throws {
        try await withTemporaryDirectory { directory in
            // given
            _ = try await SigningFixture.key(in: directory, "key")
            let lines = try directory.text("key").split(separator: "\n").map(String.init)
            let bytes = try #require(Data(base64Encoded: lines.dropFirst().dropLast().joined()))
            #expect(bytes.count < 400)

            // when, then: one bit of each byte, and every length
            var taken = 0
            for index in bytes.indices {
                var flipped = bytes
                flipped[index] ^= 1
                for damaged in [flipped, bytes.prefix(index)] {
                    let text = "\(lines[0])\n\(damaged.base64EncodedString())\n\(lines[lines.count - 1])\n"
                    if (try? SigningKey(openSSH: text)) != nil { taken += 1 }
                }
            }
            // These are not part of the key: the comment's nine letters.
            #expect(taken == "a comment".utf8.count)
        }
    }

    @Test func testS2ThatItIsPrintedNowhere() async throws {
        try await withTemporaryDirectory { directory in
            // given
            let key = try await SigningFixture.key(in: directory, "key")

            // when
            var dumped = "\(key)\n\(String(reflecting: key))\n"
            dump(Attestation(provenance: try await SigningFixture(directory).provenance, key: key), to: &dumped)

            // then
            expectContains(dumped, key.publicKey.fingerprint)
            let lines = try directory.text("key").split(separator: "\n")
            let file = try #require(Data(base64Encoded: lines.dropFirst().dropLast().joined()))
            let place = try #require(file.range(of: Data(Hexadecimal.decode("00000040") ?? [])))
            let seed = Array(file[place.upperBound...].prefix(32))
            for shape in [
                Hexadecimal.encode(seed), Data(seed).base64EncodedString(), "\(seed)", "\(seed[0]), \(seed[1])",
            ] {
                #expect(!dumped.contains(shape))
            }
        }
    }
}
