import Basics
import Foundation
import TestSupport
import Testing

@testable import Releases

@Suite(.program("ssh-keygen")) struct SSHSignatureTests {
    @Test(
        .proves(
            .releases,
            "Versions: `SHA256SUMS.sig`, which `ssh-keygen -Y verify` accepts; its key from a systemd credential, out of reach of jobs"
        ), arguments: ["", "sums\n", String(repeating: "0123456789abcdef", count: 70_000)])
    func testThatSshKeygenVerifiesIt(message: String) async throws {
        try await withTemporaryDirectory { directory in
            // given
            let key = try await SigningFixture.key(in: directory, "key")
            let signer = AllowedSigners.Signer(principal: "https://ci.acme.example:8443/ci", key: key.publicKey)
            try directory.write("allowed", Array((signer.line + "\n").utf8))

            // when
            try directory.write("sig", Array(try SSHSignature(of: Array(message.utf8), by: key).armored.utf8))

            // then
            func status(_ principal: String, _ namespace: String, _ message: String) async throws -> Int32 {
                try await run(
                    [
                        "ssh-keygen", "-Y", "verify", "-f", directory.path("allowed"), "-I", principal, "-n", namespace,
                        "-s", directory.path("sig"),
                    ], input: message
                ).status
            }
            #expect(try await status("https://ci.acme.example:8443/ci", "file", message) == 0)
            #expect(try await status("https://ci.acme.example:8443/other", "file", message) != 0)
            #expect(try await status("https://ci.acme.example:8443/ci", "git", message) != 0)
            #expect(try await status("https://ci.acme.example:8443/ci", "file", message + "x") != 0)
        }
    }

    @Test(arguments: ["sha256", "sha512"])
    func testThatItReadsWhatSshKeygenSigns(algorithm: String) async throws {
        try await withTemporaryDirectory { directory in
            // given
            let key = try await SigningFixture.key(in: directory, "key")
            try directory.write("message", "a message")
            try await runExpectingSuccess([
                "ssh-keygen", "-q", "-Y", "sign", "-f", directory.path("key"), "-n", "file", "-O",
                "hashalg=\(algorithm)", directory.path("message"),
            ])

            // when
            let text = try directory.text("message.sig")
            let signature = try #require(SSHSignature(armored: text))

            // then
            #expect(signature.key == key.publicKey)
            #expect(signature.namespace == "file")
            #expect(signature.isValid(for: Array("a message".utf8)))
            #expect(!signature.isValid(for: Array("a massage".utf8)))
            #expect(signature.armored == text)
        }
    }

    @Test(
        .proves(
            .releases,
            "Versions: `SHA256SUMS.sig`, which `ssh-keygen -Y verify` accepts; its key from a systemd credential, out of reach of jobs"
        ))
    func testThatASignatureForAnotherPurposeCannotBeMadeOneOfAFile() async throws {
        try await withTemporaryDirectory { directory in
            // given: the service's key signed the same bytes for git
            let key = try await SigningFixture.key(in: directory, "key")
            try directory.write("message", "a message")
            try await runExpectingSuccess([
                "ssh-keygen", "-q", "-Y", "sign", "-f", directory.path("key"), "-n", "git", directory.path("message"),
            ])
            let signers = AllowedSigners([.init(principal: "ci", key: key.publicKey)])
            let own = try #require(SSHSignature(armored: directory.text("message.sig")))

            // when: only the namespace is different
            let lines = try directory.text("message.sig").split(separator: "\n").dropFirst().dropLast()
            let blob = try #require(Data(base64Encoded: lines.joined()))
            let place = try #require(blob.firstRange(of: Data([0, 0, 0, 3, 0x67, 0x69, 0x74])))
            var forged = Data(blob[..<place.lowerBound])
            forged.append(contentsOf: [0, 0, 0, 4])
            forged.append(contentsOf: Array("file".utf8))
            forged.append(Data(blob[place.upperBound...]))
            let text =
                "-----BEGIN SSH SIGNATURE-----\n\(forged.base64EncodedString())\n-----END SSH SIGNATURE-----\n"
            let signature = try #require(SSHSignature(armored: text))

            // then
            #expect(own.namespace == "git")
            #expect(own.isValid(for: Array("a message".utf8)))
            #expect(signers.signer(of: own) == nil)
            #expect(signature.namespace == "file")
            #expect(signers.signer(of: signature) != nil)
            #expect(!signature.isValid(for: Array("a message".utf8)))
        }
    }

    @Test(
        .proves(
            .releases,
            "Versions: `SHA256SUMS.sig`, which `ssh-keygen -Y verify` accepts; its key from a systemd credential, out of reach of jobs"
        ))
    func testThatNoFlippedBitIsTaken() async throws {
        try await withTemporaryDirectory { directory in
            // given
            let key = try await SigningFixture.key(in: directory, "key")
            let message = Array("sums\n".utf8)
            let armored = Array(try SSHSignature(of: message, by: key).armored.utf8)
            let signers = AllowedSigners([.init(principal: "ci", key: key.publicKey)])

            // when, then: each bit of each character
            for index in armored.indices {
                for bit in 0..<8 {
                    var flipped = armored
                    flipped[index] ^= 1 << bit
                    let read = SSHSignature(armored: String(decoding: flipped, as: UTF8.self))
                    let isTaken = read.map {
                        $0.isValid(for: message) && $0.armored.utf8.elementsEqual(flipped)
                            && signers.signer(of: $0) != nil
                    }
                    #expect(isTaken != true, "bit \(bit) of character \(index)")
                }
            }
        }
    }

    @Test(arguments: [
        "", "-----BEGIN SSH SIGNATURE-----", "-----BEGIN SSH SIGNATURE-----\nAAAA\n-----END SSH SIGNATURE-----",
    ])
    func testThatWhatIsNoSignatureIsNone(text: String) { #expect(SSHSignature(armored: text) == nil) }
}
