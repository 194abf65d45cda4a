import Archives
import FoundationEssentials

/// A DSSE envelope (secure-systems-lab/dsse, "envelope.md" and "protocol.md" 1.0): a statement and its signatures.
///
/// Without a key it has no signature, and verifiers refuse it, as the protocol requires.
struct Envelope: Codable {
    /// The type of in-toto statements in JSON.
    static let payloadType = "application/vnd.in-toto+json"

    struct Signature: Codable {
        /// A hint to the key: its fingerprint, as `ssh-keygen -l` prints it.
        var keyid: String
        /// The signature's 64 bytes in Base64.
        var sig: String
    }

    /// The statement in Base64.
    var payload: String
    var payloadType: String
    var signatures: [Signature]

    init(_ payload: [UInt8], signedBy key: SigningKey?) throws(ArchiveError) {
        self.payload = Data(payload).base64EncodedString()
        payloadType = Self.payloadType
        signatures = []
        if let key {
            let signature = try key.signature(of: Self.authenticated(payload, type: payloadType))
            signatures = [
                Signature(keyid: key.publicKey.fingerprint, sig: Data(signature).base64EncodedString())
            ]
        }
    }

    /// The decoded payload; `nil` if it is not Base64.
    var content: [UInt8]? { Data(base64Encoded: payload).map(Array.init) }

    /// Whether one of the signatures is by a key.
    func isSigned(by key: SignerKey) -> Bool {
        guard let content else { return false }
        let message = Self.authenticated(content, type: payloadType)
        return signatures.contains { signature in
            Data(base64Encoded: signature.sig).map { key.verifies(Array($0), of: message) } ?? false
        }
    }

    /// Returns the bytes that are signed: the pre-authentication encoding (PAE).
    private static func authenticated(_ payload: [UInt8], type: String) -> [UInt8] {
        Array("DSSEv1 \(type.utf8.count) \(type) \(payload.count) ".utf8) + payload
    }
}
