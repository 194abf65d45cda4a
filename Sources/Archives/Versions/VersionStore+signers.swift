import Basics

extension VersionStore {
    /// Adds a key to the file server's `ALLOWED_SIGNERS`, unless it is there. Keys of earlier versions stay, so that those can be verified for ever.
    /// The operator removes a key that is no longer trusted.
    /// - Parameter principal: The owner of the key: the service's URL.
    /// - Throws: `signature` if the file cannot be parsed; it is not changed then. `file`.
    package func allow(_ key: SignerKey, principal: String) async throws(ArchiveError) {
        let operation = "writing of \(AllowedSigners.fileName)"
        try await queue.run { [files] () throws(ArchiveError) in
            do {
                let signer = AllowedSigners.Signer(principal: principal, key: key)
                guard try !Self.readSigners(files).signers.contains(signer) else { return }
                var bytes = try Self.readSignersFile(files)
                if let last = bytes.last, last != UInt8(ascii: "\n") { bytes.append(UInt8(ascii: "\n")) }
                bytes += Array((signer.line + "\n").utf8)
                try AtomicFile.write(bytes, to: "\(files.path)/\(AllowedSigners.fileName)")
            } catch {
                throw ArchiveError(operation, error)
            }
        }
    }

    /// Returns whether a text is a private key whose public half may have signed this service's versions. If that cannot be determined, returns
    /// `true`. Blocks.
    package func isSigningKey(_ text: String) -> Bool {
        guard let key = try? SigningKey(openSSH: text + "\n") else { return false }
        guard let known = try? Self.readSigners(files) else { return true }
        return known.signers.contains { $0.key == key.publicKey }
    }

    private static func readSigners(_ files: Directory) throws -> AllowedSigners {
        try AllowedSigners(
            String(decoding: try readSignersFile(files), as: UTF8.self), name: AllowedSigners.fileName)
    }

    private static func readSignersFile(_ files: Directory) throws -> [UInt8] {
        guard try files.status(AllowedSigners.fileName) != nil else { return [] }
        return try files.read(AllowedSigners.fileName, limit: AllowedSigners.maximumSize)
    }
}
