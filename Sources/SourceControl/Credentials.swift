/// What to answer a git server that asks who we are.
///
/// Tried once each: a server that asks again after a refusal is not answered a second time.
package struct Credentials: Sendable {
    /// A key for ssh. With libgit2 1.5.1 it must be Ed25519 or ECDSA: RSA keys sign with SHA-1, which servers refuse.
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

    package init(user: String? = nil, password: String? = nil, key: Key? = nil, passphrase: String? = nil) {
        self.user = user
        self.password = password
        self.key = key
        self.passphrase = passphrase
    }
}
