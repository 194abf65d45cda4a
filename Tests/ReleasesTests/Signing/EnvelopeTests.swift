import Foundation
import TestSupport
import Testing

@testable import Releases

@Suite(.program("ssh-keygen")) struct EnvelopeTests {
    @Test(
        .proves(
            .releases,
            "Versions: `provenance.json` is an in-toto statement with the SLSA v1 predicate in a DSSE envelope, with digests of every input"
        ), .program("openssl"))
    func testThatOpenSSLVerifiesWhatDSSESaysIsSigned() async throws {
        try await withTemporaryDirectory { directory in
            // given
            let key = try await SigningFixture.key(in: directory, "key")

            // when
            let envelope = try Envelope(Array("{}".utf8), signedBy: key)

            // then: "protocol.md", PAE: the type's length and itself, the payload's length and itself
            try directory.write("signed", "DSSEv1 28 application/vnd.in-toto+json 2 {}")
            let first = try #require(envelope.signatures.first)
            let signature = try #require(Data(base64Encoded: first.sig))
            try directory.write("signature", Array(signature))
            // RFC 8410: the prefix of an Ed25519 public key in DER.
            let prefix: [UInt8] = [0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00]
            try directory.write("key.der", prefix + key.publicKey.bytes)
            try await runExpectingSuccess([
                "openssl", "pkeyutl", "-verify", "-pubin", "-inkey", directory.path("key.der"), "-keyform", "DER",
                "-rawin", "-in", directory.path("signed"), "-sigfile", directory.path("signature"),
            ])
            #expect(envelope.signatures.map(\.keyid) == [key.publicKey.fingerprint])
            #expect(envelope.isSigned(by: key.publicKey))
        }
    }

    @Test func testThatAnotherPayloadTypeOrKeyIsNotSigned() async throws {
        try await withTemporaryDirectory { directory in
            // given
            let key = try await SigningFixture.key(in: directory, "key")
            let other = try await SigningFixture.key(in: directory, "other")
            let envelope = try Envelope(Array("{}".utf8), signedBy: key)

            // when
            var payload = envelope
            payload.payload = Data("{ }".utf8).base64EncodedString()
            var type = envelope
            type.payloadType = "application/json"
            let unsigned = try Envelope(Array("{}".utf8), signedBy: nil)

            // then
            #expect(!envelope.isSigned(by: other.publicKey))
            #expect(!payload.isSigned(by: key.publicKey))
            #expect(!type.isSigned(by: key.publicKey))
            #expect(!unsigned.isSigned(by: key.publicKey))
            #expect(unsigned.signatures.isEmpty)
        }
    }
}
