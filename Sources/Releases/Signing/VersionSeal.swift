import Archives
package import Basics

/// The signature and provenance of a version, for a page. The version's files are not read; `VersionCheck` reads all of them.
package struct VersionSeal: Hashable, Sendable {
    /// The state of `SHA256SUMS.sig`.
    package enum Signature: Hashable, Sendable {
        /// There is no signature.
        case none
        /// It matches `SHA256SUMS`, and its key is in `ALLOWED_SIGNERS` under `principals`.
        case known(SignerKey, principals: String)
        /// It matches, but its key is not in that file.
        case unknown(SignerKey)
        /// It does not match `SHA256SUMS`, or is not a signature.
        case wrong
    }

    /// The content of `provenance.json`.
    package enum Origin: Hashable, Sendable {
        /// There is no provenance.
        case none
        /// The service that states to have made the version, and the number of inputs.
        case stated(builder: String, inputs: Int)
        /// It is not an envelope with a statement.
        case unreadable
    }

    /// The signature of `SHA256SUMS`.
    package let signature: Signature
    /// The stated origin. Its signature is not checked.
    package let origin: Origin

    /// Reads the state. Blocks while it reads `SHA256SUMS`, its signature, `ALLOWED_SIGNERS` and `provenance.json`. These are usually some kilobytes,
    /// and each has a size limit.
    /// - Parameters:
    ///   - directory: The version's directory.
    ///   - files: The file server's tree with `ALLOWED_SIGNERS`. If that cannot be read, no key is known.
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
