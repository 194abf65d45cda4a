/// The credentials for one server. They are sent only to the request's host; redirects are never followed.
package enum TransferCredentials: Sendable, Hashable, CustomStringConvertible, CustomDebugStringConvertible,
    CustomReflectable
{
    /// HTTP basic authentication, or an ssh password. If `user` is `nil`, the URL's user is used.
    case password(user: String?, password: String)
    /// An `Authorization: Bearer` header, only for HTTP.
    case bearer(token: String)
    /// An ssh private key in a file that this process can read. It should be ed25519: libssh2 1.10 (Debian 12) signs for RSA keys only with SHA-1,
    /// which OpenSSH has refused since 8.8. If `user` is `nil`, the URL's user is used.
    case privateKey(user: String?, path: String, passphrase: String?)

    /// Parses a secret as an operator stores it: a private key in PEM or OpenSSH form, `user:password`, or otherwise a token.
    /// - Parameters:
    ///   - secret: The secret's text; final newlines are removed.
    ///   - file: The path of the secret's file, which libcurl reads if it is a private key.
    /// - Returns: `nil` for an empty text, and for a private key without `file`.
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

    /// The kind of credentials, without their values.
    package var description: String {
        switch self {
        case .password: "password"
        case .bearer: "token"
        case .privateKey: "private key"
        }
    }

    package var debugDescription: String { description }

    /// Empty, so that `dump` and test reports do not show the values.
    package var customMirror: Mirror { Mirror(self, children: []) }
}
