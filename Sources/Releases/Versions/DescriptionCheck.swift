import Archives
package import Basics
package import Model

/// A check which of a published version's descriptions (`VersionCheck.descriptions`) are unchanged. They are compared with each other, with the
/// signature, and with digests of the version's files that are recorded elsewhere. The files themselves are not read.
package struct DescriptionCheck: Sendable {
    /// The unchanged descriptions with their sizes and digests, keyed by name.
    package private(set) var whole: [String: Artifact] = [:]
    /// The damage of the others, keyed by name.
    package private(set) var damaged: [String: Damage] = [:]

    /// The kind of damage, described as the end of a sentence.
    package enum Damage: Hashable, Sendable, CustomStringConvertible {
        /// The file is missing, but others show that it existed.
        case missing
        case changed(String)

        package var description: String {
            switch self {
            case .missing: "it is missing"
            case .changed(let what): what
            }
        }
    }

    private static let summed = ["manifest.json", "provenance.json"]
    private static let (sums, seal) = ("SHA256SUMS", "SHA256SUMS.sig")

    /// Checks the descriptions. Blocks while it reads at most four files, together at most 64 MiB and the signature.
    /// - Parameters:
    ///   - directory: The version's directory.
    ///   - files: The recorded digests of the version's files, without the descriptions.
    package init(of directory: Directory, files: [Artifact]) {
        var digests = Dictionary(files.map { ($0.path, $0.sha256) }) { first, _ in first }
        var isSigned = false
        for name in Self.summed {
            guard let bytes = read(name, in: directory, limit: VersionManifest.maximumSize) else { continue }
            digests[name] = whole[name]?.sha256
            guard name != "manifest.json", let envelope = try? VersionJSON.decode(Envelope.self, from: bytes) else {
                continue
            }
            isSigned = !envelope.signatures.isEmpty
        }
        let sums = read(Self.sums, in: directory, limit: Checksums.maximumSize)
        let signature = read(Self.seal, in: directory, limit: SSHSignature.maximumSize)
        if let sums {
            compare(sums, with: Checksums(digests), signature)
        } else if damaged[Self.sums] == nil {
            damaged[Self.sums] = .missing
        }
        if signature == nil, damaged[Self.seal] == nil, isSigned { damaged[Self.seal] = .missing }
        for name in damaged.keys { whole[name] = nil }
    }

    /// Compares the checksums, the signature and the actual files. Two that agree outvote the third.
    private mutating func compare(_ bytes: [UInt8], with there: Checksums, _ signatureBytes: [UInt8]?) {
        // The signature must be exactly as written, because the Base64 decoder accepts other spellings of the same bytes.
        let signature = signatureBytes.flatMap { SSHSignature(armored: String(decoding: $0, as: UTF8.self)) }
            .flatMap { signatureBytes == Array($0.armored.utf8) ? $0 : nil }
        let sums = Checksums(bytes)
        if sums == there {
            guard signatureBytes != nil, signature?.isValid(for: bytes) != true else { return }
            damaged[Self.seal] = .changed("it does not fit SHA256SUMS")
        } else if let signature, !signature.isValid(for: bytes), signature.isValid(for: there.bytes) {
            damaged[Self.sums] = .changed("it is not what was signed")
        } else if let sums {
            for name in Self.summed where sums.digests[name] != there.digests[name] {
                guard damaged[name] == nil else { continue }
                damaged[name] = whole[name] == nil ? .missing : .changed("its bytes differ from SHA256SUMS")
            }
            func ofFiles(_ sums: Checksums) -> [String: String] {
                sums.digests.filter { !Self.summed.contains($0.key) }
            }
            if ofFiles(sums) != ofFiles(there) {
                damaged[Self.sums] = .changed("it lists other files than were recorded")
            }
            if signatureBytes != nil, signature?.isValid(for: bytes) != true {
                damaged[Self.seal] = .changed("it does not fit SHA256SUMS")
            }
        } else {
            damaged[Self.sums] = .changed("it is not a list of checksums")
        }
    }

    /// Reads a description, and assumes that it is unchanged until a check shows otherwise.
    private mutating func read(_ name: String, in directory: Directory, limit: Int) -> [UInt8]? {
        do throws(FileError) {
            let bytes = try directory.read(name, limit: limit)
            whole[name] = Artifact(
                configuration: nil, path: name, size: ByteCount(Int64(bytes.count)), sha256: Digest.sha256(of: bytes))
            return bytes
        } catch {
            if error.code != .notFound { damaged[name] = .changed("it cannot be read: \(error.message)") }
            return nil
        }
    }
}
