package import Archives
import Encodings
import JobProtocol

/// The list of keys that may sign: a file that `ssh-keygen -Y verify -f` can read (ssh-keygen(1), "ALLOWED SIGNERS").
package struct AllowedSigners: Hashable, Sendable {
    /// The name of the file with the keys of published versions, in the file server's tree. Names of products have no capitals, so no product can
    /// have this name.
    package static let fileName = "ALLOWED_SIGNERS"
    /// The size limit of the file in bytes.
    package static let maximumSize = 1 << 20

    /// One line of the file.
    package struct Signer: Hashable, Sendable {
        /// The patterns for names, as written. For the daemon's key it is its URL.
        package let principals: String
        /// The patterns for what the key may sign; `nil` means everything.
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

        /// The line without its newline.
        package var line: String {
            let isPlain = !principals.contains { $0 == " " || $0 == "\t" }
            return (isPlain ? "\(principals) " : "\"\(principals)\" ")
                + (namespaces.map { "namespaces=\"\($0)\" " } ?? "") + key.description
        }

        /// Whether the key belongs to a name: a service's URL, or a name that the line states.
        package func isKey(of name: String) -> Bool { SSHPatterns.match(Self.principal(name), principals) }

        /// Returns a name in which the characters with a meaning in patterns and lists are percent-encoded.
        package static func principal(_ name: String) -> String { PercentEncoding.encode(name, keeping: ":/[]%@") }
    }

    package let signers: [Signer]

    package init(_ signers: [Signer] = []) { self.signers = signers }

    /// Parses a file. Keys of other kinds are ignored, because versions have no signatures of them.
    /// - Parameter name: The file's name, for messages.
    /// - Throws: `signature` with the line number if a line cannot be parsed.
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

    /// Returns the first signer with the key of a signature that may sign for its namespace; `nil` if there is none.
    package func signer(of signature: SSHSignature) -> Signer? { signers(of: signature).first }

    /// Returns all signers with the key of a signature that may sign for its namespace. A key may have several lines.
    package func signers(of signature: SSHSignature) -> [Signer] {
        signers.filter { signer in
            signer.key == signature.key
                && signer.namespaces.map { SSHPatterns.match(signature.namespace, $0) } ?? true
        }
    }
}

/// Pattern lists (ssh_config(5), "PATTERNS"): separated by commas, with the wildcards `*` and `?`; `!` in front of a pattern excludes.
enum SSHPatterns {
    static func match(_ text: String, _ list: String) -> Bool {
        var isMatched = false
        for pattern in list.split(separator: ",") {
            let isNegated = pattern.hasPrefix("!")
            guard PathPattern.component(Array(pattern.utf8.dropFirst(isNegated ? 1 : 0)), matches: Array(text.utf8))
            else {
                continue
            }
            if isNegated { return false }
            isMatched = true
        }
        return isMatched
    }
}
