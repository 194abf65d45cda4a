/// Who we are to one server. It is sent to the request's own host alone; redirects are never followed.
package enum TransferCredentials: Sendable, Hashable, CustomStringConvertible, CustomDebugStringConvertible,
    CustomReflectable
{
    /// HTTP basic authentication, or an ssh password. Without a user the URL's is taken.
    case password(user: String?, password: String)
    /// An `Authorization: Bearer` header; HTTP only.
    case bearer(token: String)
    /// An ssh private key in a file that this process can read. ed25519: libssh2 1.10 (Debian 12) signs for RSA keys with
    /// SHA-1 only, which OpenSSH has refused since 8.8. Without a user the URL's is taken.
    case privateKey(user: String?, path: String, passphrase: String?)

    /// Reads a secret as an operator stores it: a private key in PEM or OpenSSH form (then `file`, where the secret lies,
    /// is handed to libcurl), `user:password`, or else a token.
    /// - Parameters:
    ///   - secret: The secret's text; a final newline is dropped.
    ///   - file: Its path. Without one a private key cannot be used and nothing is returned.
    package init?(secret: String, file: String?) {
        var text = secret
        while let last = text.unicodeScalars.last, last == "\n" || last == "\r" { text.unicodeScalars.removeLast() }
        if text.hasPrefix("-----BEGIN ") {
            guard let file else { return nil }
            self = .privateKey(user: nil, path: file, passphrase: nil)
        } else if let colon = text.firstIndex(of: ":") {
            self = .password(user: String(text[..<colon]), password: String(text[text.index(after: colon)...]))
        } else if !text.isEmpty {
            self = .bearer(token: text)
        } else {
            return nil
        }
    }

    /// The kind alone.
    package var description: String {
        switch self {
        case .password: "password"
        case .bearer: "token"
        case .privateKey: "private key"
        }
    }

    package var debugDescription: String { description }

    /// Nothing to see for `dump` and test reports.
    package var customMirror: Mirror { Mirror(self, children: []) }
}
