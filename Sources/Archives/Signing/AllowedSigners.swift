/// Who may have signed: a file of the form that `ssh-keygen -Y verify -f` reads (ssh-keygen(1), "ALLOWED SIGNERS").
package struct AllowedSigners: Hashable, Sendable {
    /// The file in the file server's tree with the keys that versions were signed with. Products' names have no capitals, so
    /// none is called like it.
    package static let fileName = "ALLOWED_SIGNERS"
    /// Largest file read, in bytes.
    package static let maximumSize = 1 << 20

    /// One line.
    package struct Signer: Hashable, Sendable {
        /// As written: a list of patterns for names. The daemon's is its URL.
        package let principals: String
        /// Patterns for what the key may sign; nothing: everything.
        let namespaces: String?
        package let key: SignerKey

        package init(principal: String, key: SignerKey) {
            principals = Self.principal(principal)
            namespaces = SSHSignature.namespace
            self.key = key
        }

        init(principals: String, namespaces: String?, key: SignerKey) {
            self.principals = principals
            self.namespaces = namespaces
            self.key = key
        }

        /// The line, without its end.
        package var line: String {
            let isPlain = !principals.contains { $0 == " " || $0 == "\t" }
            return (isPlain ? "\(principals) " : "\"\(principals)\" ")
                + (namespaces.map { "namespaces=\"\($0)\" " } ?? "") + key.description
        }

        /// Whether it is the key of that name: a service's URL, or what the line calls it.
        package func isKey(of name: String) -> Bool { SSHPatterns.match(Self.principal(name), principals) }

        /// A name without what patterns and lists have a meaning for.
        package static func principal(_ name: String) -> String {
            name.utf8.map { byte in
                let isPlain =
                    (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
                    || ".-_~:/[]%@".utf8.contains(byte)
                return isPlain ? String(UnicodeScalar(byte)) : "%" + String(byte, radix: 16, uppercase: true)
            }.joined()
        }
    }

    package let signers: [Signer]

    package init(_ signers: [Signer] = []) { self.signers = signers }

    /// Reads a file. Lines with keys of other kinds are passed over: a version has no such signature.
    /// - Parameter name: The file's, for messages.
    /// - Throws: `signature` for a line that cannot be understood, with its number.
    package init(_ text: String, name: String) throws(ArchiveError) {
        var signers: [Signer] = []
        for (index, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated() {
            do throws(AllowedSignersLine.Problem) {
                if let signer = try AllowedSignersLine.read(String(line)) { signers.append(signer) }
            } catch {
                throw ArchiveError(
                    code: .signature, operation: "reading of \(name)", message: "line \(index + 1): \(error.sentence)")
            }
        }
        self.signers = signers
    }

    package var text: String { signers.map { $0.line + "\n" }.joined() }

    /// The first that has a signature's key and may sign for its purpose.
    package func signer(of signature: SSHSignature) -> Signer? { signers(of: signature).first }

    /// All that have a signature's key and may sign for its purpose: a key may have several lines.
    package func signers(of signature: SSHSignature) -> [Signer] {
        signers.filter { signer in
            signer.key == signature.key
                && signer.namespaces.map { SSHPatterns.match(signature.namespace, $0) } ?? true
        }
    }
}
