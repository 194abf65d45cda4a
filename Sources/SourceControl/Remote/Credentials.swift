/// The answer to a git server that asks for authentication.
///
/// Each part is tried once. If the server asks again after a refusal, it gets no second answer.
package struct Credentials: Sendable {
    /// A key for ssh. Without the `git` command it must be Ed25519 or ECDSA: libssh2 1.10 uses SHA-1 with RSA keys, which servers refuse.
    package enum Key: Sendable {
        /// The paths of the private key and of the public one. If `publicKey` is `nil`, it is the private key's path with `.pub`.
        case files(privateKey: String, publicKey: String?)
        /// The private key's text, from a secret.
        case text(String)
    }

    /// The account. For ssh the URL's user takes precedence, and `git` is used if there is none.
    package let user: String?
    /// The account's password, or an access token, for http and https.
    package let password: String?
    package let key: Key?
    /// The passphrase of an encrypted key.
    package let passphrase: String?
    /// Lines of known_hosts (sshd(8)), one of which must match the server's host key. If `nil`, the account's `~/.ssh/known_hosts` is used.
    package let knownHosts: String?

    package init(
        user: String? = nil, password: String? = nil, key: Key? = nil, passphrase: String? = nil,
        knownHosts: String? = nil
    ) {
        self.user = user
        self.password = password
        self.key = key
        self.passphrase = passphrase
        self.knownHosts = knownHosts
    }
}

extension Credentials.Key {
    /// Whether it is an RSA key, as far as its text or its file's name shows.
    var isRSA: Bool {
        switch self {
        case .files(let privateKey, _): return privateKey.hasSuffix("id_rsa")
        case .text(let text):
            if text.contains("BEGIN RSA PRIVATE KEY") { return true }
            // OpenSSH's form begins with the public key. These are the base64 forms of "ssh-rsa" at each of three offsets.
            let body = text.split { $0 == "\n" || $0 == "\r" }.dropFirst().prefix(6).joined()
            return ["c3NoLXJzY", "NzaC1yc2", "zc2gtcnNh"].contains { body.prefix(240).contains($0) }
        }
    }
}
