package import Basics

/// What a version's signature and provenance come to by themselves, for a page: the files are not read. `VersionCheck` reads all.
package struct VersionSeal: Hashable, Sendable {
    /// What `SHA256SUMS.sig` is.
    package enum Signature: Hashable, Sendable {
        /// There is none.
        case none
        /// It fits `SHA256SUMS` and is of a key in `ALLOWED_SIGNERS`; whose, that says.
        case known(SignerKey, principals: String)
        /// It fits, and the key is not there.
        case unknown(SignerKey)
        /// It is no signature of this `SHA256SUMS`, or none at all.
        case wrong
    }

    /// What `provenance.json` says.
    package enum Origin: Hashable, Sendable {
        /// There is none.
        case none
        /// The service that says it made the version, and how many inputs it names.
        case stated(builder: String, inputs: Int)
        /// It is no envelope with a statement.
        case unreadable
    }

    /// Of `SHA256SUMS`.
    package let signature: Signature
    /// Whether it was signed is not looked at.
    package let origin: Origin

    /// Blocks while it reads `SHA256SUMS`, its signature, `ALLOWED_SIGNERS` and `provenance.json`: some kilobytes as a rule, each within
    /// the bound that its own reader has.
    /// - Parameters:
    ///   - directory: The version's.
    ///   - files: The file server's tree, where `ALLOWED_SIGNERS` is; what cannot be read has no keys.
    package init(of directory: Directory, in files: Directory) {
        signature = Self.signature(directory, files)
        origin = Self.origin(directory)
    }

    private static func signature(_ directory: Directory, _ files: Directory) -> Signature {
        let name = "SHA256SUMS.sig"
        guard ((try? directory.status(name)) ?? nil) != nil else { return .none }
        guard let bytes = try? directory.read(name, limit: SSHSignature.maximumSize),
            let sums = try? directory.read("SHA256SUMS", limit: Checksums.maximumSize),
            let signature = SSHSignature(armored: String(decoding: bytes, as: UTF8.self)),
            signature.namespace == SSHSignature.namespace, signature.isValid(for: sums)
        else { return .wrong }
        let text = try? files.read(AllowedSigners.fileName, limit: AllowedSigners.maximumSize)
        let signers = text.flatMap {
            try? AllowedSigners(String(decoding: $0, as: UTF8.self), name: AllowedSigners.fileName)
        }
        guard let signer = signers?.signer(of: signature) else { return .unknown(signature.key) }
        return .known(signature.key, principals: signer.principals)
    }

    private static func origin(_ directory: Directory) -> Origin {
        let name = "provenance.json"
        guard ((try? directory.status(name)) ?? nil) != nil else { return .none }
        guard let bytes = try? directory.read(name, limit: VersionManifest.maximumSize),
            let content = try? VersionJSON.decode(Envelope.self, from: bytes).content,
            let statement = try? VersionJSON.decode(Statement.self, from: content)
        else { return .unreadable }
        return .stated(
            builder: statement.predicate.runDetails.builder.id,
            inputs: statement.predicate.buildDefinition.resolvedDependencies.count)
    }
}
