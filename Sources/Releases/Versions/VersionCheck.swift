package import Archives
import Basics
import Model

/// A complete check of a directory with a version's files, without a network. The checksums, manifest, signature and provenance are compared with
/// each other and with every file.
package struct VersionCheck: Sendable {
    /// The trust in the version, by its signature.
    package enum Trust: Hashable, Sendable {
        /// The signature is valid and by an allowed signer.
        case signed(AllowedSigners.Signer)
        /// The signature is valid, but the owner of its key is unknown.
        case unknown(SignerKey)
        /// There is no signature.
        case unsigned
    }

    /// The problems as sentences that begin with a file's name; empty if there are none.
    package private(set) var problems: [String] = []
    package private(set) var trust = Trust.unsigned
    /// All allowed signers with the signature's key. If one of them has the builder's name, `trust` contains it.
    package private(set) var signers: [AllowedSigners.Signer] = []
    /// The service that states to have made the version; `nil` without provenance.
    package private(set) var builder: String?
    /// The version's manifest; `nil` if it cannot be read.
    package private(set) var manifest: VersionManifest?
    /// The number of files that were checked, including the descriptions.
    package private(set) var count = 0

    private let directory: Directory
    private let sums: Checksums
    private let sumsBytes: [UInt8]

    /// Checks a version. Blocks while it reads all files.
    /// - Parameters:
    ///   - signers: The allowed signers.
    ///   - part: The product files that must exist, if not all were fetched; `nil` means all.
    /// - Throws: `notFound` or `corrupted` if there is no readable `SHA256SUMS`; `file`.
    package init(of path: String, signers: AllowedSigners, part: Set<String>? = nil) throws(ArchiveError) {
        let operation = "check of \(path)"
        do {
            directory = try Directory(opening: path, readsSecondNames: true)
            guard try directory.status("SHA256SUMS") != nil else {
                throw ArchiveError(
                    code: .notFound, operation: operation, message: "there is no SHA256SUMS; name a version's directory"
                )
            }
            sumsBytes = try directory.read("SHA256SUMS", limit: Checksums.maximumSize)
            guard let sums = Checksums(sumsBytes) else {
                throw ArchiveError(code: .corrupted, operation: operation, message: "SHA256SUMS cannot be read")
            }
            self.sums = sums
            try checkFiles(part)
            checkManifest()
            checkSignature(signers)
            checkProvenance()
        } catch {
            throw ArchiveError(operation, error)
        }
    }

    /// The files in a version's directory beside the product's files. The second and the last may be missing.
    package static let descriptions = ["manifest.json", "provenance.json", "SHA256SUMS", "SHA256SUMS.sig"]
    private static let own: Set<String> = ["SHA256SUMS", "SHA256SUMS.sig"]
    private static let summed: Set<String> = ["manifest.json", "provenance.json"]

    private mutating func checkFiles(_ part: Set<String>?) throws(FileError) {
        var left = sums.digests
        for entry in try directory.entries() {
            let name = entry.name
            guard entry.kind == .file else {
                problems.append("\(name): is not a regular file, and a version has nothing else")
                left[name] = nil
                continue
            }
            // In Swift an é is the same character whether it is one code point or two. File systems and sha256sum treat these as two names.
            let place = left.index(forKey: name).flatMap { left.keys[$0].utf8.elementsEqual(name.utf8) ? $0 : nil }
            guard let expected = place.map({ left.remove(at: $0).value }) else {
                if !Self.own.contains(name) { problems.append("\(name): not in SHA256SUMS") }
                continue
            }
            count += 1
            do throws(FileError) {
                let found = try Digest.sha256(of: name, in: directory).sha256
                if found != expected { problems.append("\(name): differs: \(found) instead of \(expected)") }
            } catch {
                problems.append("\(name): cannot be read: \(error.message)")
            }
        }
        for name in left.keys.sorted() where part?.contains(name) ?? true || Self.summed.contains(name) {
            problems.append("\(name): missing")
        }
    }

    /// Checks that the manifest lists the same files as the checksums.
    private mutating func checkManifest() {
        let name = "manifest.json"
        guard sums.digests[name] != nil else { return problems.append("\(name): not in SHA256SUMS") }
        guard let bytes = read(name, limit: VersionManifest.maximumSize) else { return }
        do {
            let manifest = try VersionJSON.decode(VersionManifest.self, from: bytes)
            self.manifest = manifest
            let promised = Dictionary(manifest.files.map { ($0.path, $0.sha256) }) { first, _ in first }
            let summed = sums.digests.filter { !Self.summed.contains($0.key) }
            if promised != summed || promised.count != manifest.files.count {
                problems.append("\(name): lists other files than SHA256SUMS")
            }
            for file in manifest.files {
                guard let status = try directory.status(file.path), status.kind == .file else { continue }
                if status.size != file.size.bytes {
                    problems.append("\(file.path): has \(status.size) bytes, and its manifest says \(file.size.bytes)")
                }
            }
        } catch {
            problems.append("\(name): is not a manifest: \(error)")
        }
    }

    private mutating func checkSignature(_ signers: AllowedSigners) {
        let name = "SHA256SUMS.sig"
        // A missing signature is judged by the caller.
        guard (try? directory.status(name)) != nil, let bytes = read(name, limit: SSHSignature.maximumSize) else {
            return
        }
        guard let signature = SSHSignature(armored: String(decoding: bytes, as: UTF8.self)),
            // The signature must be exactly as written, because the Base64 decoder accepts other spellings of the same bytes.
            Array(signature.armored.utf8) == bytes
        else { return problems.append("\(name): is not an Ed25519 signature as ssh-keygen writes it") }
        guard signature.namespace == SSHSignature.namespace else {
            return problems.append("\(name): was made for \(signature.namespace.prefix(100)), not for a file")
        }
        guard signature.isValid(for: sumsBytes) else {
            return problems.append("\(name): does not sign this SHA256SUMS; one of the two was changed")
        }
        self.signers = signers.signers(of: signature)
        trust = self.signers.first.map(Trust.signed) ?? .unknown(signature.key)
    }

    /// Checks that the statement is about exactly these files and the manifest's commit, and is signed by the signer of the checksums.
    private mutating func checkProvenance() {
        let name = "provenance.json"
        // Versions that were published before provenance existed have none.
        guard sums.digests[name] != nil, let bytes = read(name, limit: VersionManifest.maximumSize) else { return }
        do {
            let envelope = try VersionJSON.decode(Envelope.self, from: bytes)
            guard envelope.payloadType == Envelope.payloadType, let content = envelope.content else {
                return problems.append("\(name): holds no in-toto statement")
            }
            let statement = try VersionJSON.decode(Statement.self, from: content)
            let subjects = Dictionary(statement.subject.map { ($0.name, $0.digest["sha256"] ?? "") }) { first, _ in
                first
            }
            if statement.type != Statement.type || statement.predicateType != Statement.predicateType {
                problems.append("\(name): its statement is of another kind than \(Statement.predicateType)")
            }
            if subjects != sums.digests.filter({ $0.key != name }) || subjects.count != statement.subject.count {
                problems.append("\(name): is about other files than SHA256SUMS")
            }
            let builder = statement.predicate.runDetails.builder.id
            self.builder = builder
            if let named = signers.first(where: { $0.isKey(of: builder) }) { trust = .signed(named) }
            if let manifest, !Self.agree(statement, manifest) {
                problems.append("\(name): names another commit, version or integration than manifest.json")
            }
            switch trust {
            case .unsigned:
                if !envelope.signatures.isEmpty { problems.append("SHA256SUMS.sig: missing, though \(name) is signed") }
            case .signed(let signer): checkSigned(envelope, by: signer.key)
            case .unknown(let key): checkSigned(envelope, by: key)
            }
        } catch {
            problems.append("\(name): is not an envelope with a statement: \(error)")
        }
    }

    private mutating func checkSigned(_ envelope: Envelope, by key: SignerKey) {
        guard !envelope.isSigned(by: key) else { return }
        problems.append("provenance.json: is not signed by \(key.fingerprint), which signed SHA256SUMS")
    }

    private static func agree(_ statement: Statement, _ manifest: VersionManifest) -> Bool {
        let definition = statement.predicate.buildDefinition
        let run = statement.predicate.runDetails
        let digest = definition.resolvedDependencies.first?.digest ?? [:]
        return definition.externalParameters.product == manifest.product.description
            && definition.externalParameters.version == manifest.version.description
            && definition.externalParameters.ref == manifest.ref.description
            && definition.internalParameters.isolation == manifest.isolation
            && digest["gitCommit"] == manifest.commit.description
            && digest["gitTree"] == (manifest.tree.isEmpty ? nil : manifest.tree)
            && run.metadata.invocationId == Statement.invocation(manifest.integration, of: run.builder.id)
    }

    /// Reads a file.
    /// - Returns: `nil` if it cannot be read; a problem is then recorded.
    private mutating func read(_ name: String, limit: Int) -> [UInt8]? {
        do throws(FileError) {
            return try directory.read(name, limit: limit)
        } catch {
            // Missing files and links were reported already.
            if error.code != .notFound, !problems.contains(where: { $0.hasPrefix("\(name):") }) {
                problems.append("\(name): cannot be read: \(error.message)")
            }
            return nil
        }
    }
}
