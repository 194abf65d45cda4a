import FoundationEssentials

/// A DSSE envelope (secure-systems-lab/dsse, "envelope.md" and "protocol.md" 1.0): a statement and the signatures of it.
///
/// Without a key it has no signature, and whoever verifies refuses it, as the protocol says.
struct Envelope: Codable {
    /// Of in-toto statements in JSON.
    static let payloadType = "application/vnd.in-toto+json"

    struct Signature: Codable {
        /// A hint which key it is: the fingerprint, as `ssh-keygen -l` shows it.
        var keyid: String
        /// Base64 of 64 bytes.
        var sig: String
    }

    /// Base64.
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

    /// The payload's bytes; nothing when they are no base64.
    var content: [UInt8]? { Data(base64Encoded: payload).map(Array.init) }

    /// Whether one of its signatures is a key's.
    func isSigned(by key: SignerKey) -> Bool {
        guard let content else { return false }
        let message = Self.authenticated(content, type: payloadType)
        return signatures.contains { signature in
            Data(base64Encoded: signature.sig).map { key.verifies(Array($0), of: message) } ?? false
        }
    }

    /// What is signed: the pre-authentication encoding, PAE.
    private static func authenticated(_ payload: [UInt8], type: String) -> [UInt8] {
        Array("DSSEv1 \(type.utf8.count) \(type) \(payload.count) ".utf8) + payload
    }
}
