/// What to answer a git server that asks who we are.
///
/// Tried once each: a server that asks again after a refusal is not answered a second time.
package struct Credentials: Sendable {
    /// A key for ssh. Without the `git` command it must be Ed25519 or ECDSA: libssh2 1.10 signs by RSA keys with SHA-1,
    /// which servers refuse.
    package enum Key: Sendable {
        /// Paths of the private key and, where it is not the same with `.pub`, of the public one.
        case files(privateKey: String, publicKey: String?)
        /// The private key's text, as a secret holds it.
        case text(String)
    }

    /// The account; for ssh the URL's user wins, and `git` is used when there is none.
    package let user: String?
    /// The account's password or an access token, for http and https.
    package let password: String?
    package let key: Key?
    /// Opens an encrypted key.
    package let passphrase: String?
    /// Lines of known_hosts (sshd(8)): the server's host key must be one of these and no other. Nothing: as
    /// `~/.ssh/known_hosts` of the account says.
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
    /// Whether it is an RSA key, as far as its text tells.
    var isRSA: Bool {
        switch self {
        case .files(let privateKey, _): return privateKey.hasSuffix("id_rsa")
        case .text(let text):
            if text.contains("BEGIN RSA PRIVATE KEY") { return true }
            // OpenSSH's form begins with its public key: the base64 of "ssh-rsa" at each of three places.
            let body = text.split { $0 == "\n" || $0 == "\r" }.dropFirst().prefix(6).joined()
            return ["c3NoLXJzY", "NzaC1yc2", "zc2gtcnNh"].contains { body.prefix(240).contains($0) }
        }
    }
}
