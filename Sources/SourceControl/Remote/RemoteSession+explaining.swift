import CLibGit2
import Model

extension RemoteSession {
    /// Returns an error that states what a failure means and what to do, from libgit2's message and the results of the callbacks.
    func explained(_ error: SourceControlError, operation: String, address: String) -> SourceControlError {
        guard error.code == .other || error.code == .mirrorDamaged, let failure = error.underlying as? GitFailure else {
            return error
        }
        let said = failure.message
        func explained(_ code: SourceControlError.Code, _ message: String) -> SourceControlError {
            let address = address == url.description ? "" : " (by insteadOf: \(address))"
            return SourceControlError(
                code: code, operation: operation + address, message: message, underlying: failure,
                retryAfter: control.retryAfter)
        }
        let again = control.retryAfter.map { "in \($0.components.seconds) s, as it asks" } ?? "later"
        switch control.failure {
        case .credentialsMissing: return explained(.credentialsMissing, Self.missingCredentials(url))
        case .credentialsRefused where credentials == nil && url.kind != .ssh:
            return explained(.credentialsMissing, "\(Self.missingCredentials(url)) (\(said))")
        case .credentialsRefused: return explained(.credentialsRefused, Self.refusedCredentials(url))
        case .serverUntrusted:
            return explained(
                .serverUntrusted, url.kind == .ssh ? Self.unknownHost(url) : Self.untrustedCertificate(url, said))
        case .redirected: return explained(.redirected, Self.redirected(url, said))
        case .invalidURL:
            return explained(
                .invalidURL,
                "\(url.host ?? "its host") has no public address, and only the bot file may name one of this network; "
                    + "move the submodule to the repository's host")
        case .repositoryNotFound: return explained(.repositoryNotFound, Self.absent(url, said))
        case .unreachable: return explained(.unreachable, "\(said); Martlet tries again \(again)")
        case .file: return explained(.file, said)
        default: break
        }
        if failure.code == GIT_EAUTH.rawValue {
            if said.hasPrefix("it names ") {
                return explained(
                    .credentialsRefused,
                    "the server asks for a way to sign in that Martlet does not have: \(said); use ssh, or an address that takes a token"
                )
            }
            return explained(.credentialsRefused, "\(Self.refusedCredentials(url)) (\(said))")
        }
        if failure.code == GIT_ECERTIFICATE.rawValue {
            return explained(.serverUntrusted, "the server's certificate or key is not valid (\(said))")
        }
        if failure.errorClass == Int32(GIT_ERROR_NONE.rawValue) {
            return explained(
                .unreachable, "the server's answer is not in git's protocol (\(said)); Martlet tries again later")
        }
        let lower = said.lowercased()
        // Objects of the mirror's own refs are missing, so the mirror is damaged, not the server's repository.
        if failure.code == GIT_ENOTFOUND.rawValue, failure.errorClass == Int32(GIT_ERROR_ODB.rawValue) {
            return explained(.mirrorDamaged, "\(said) in the mirror; Martlet fetches the damaged objects again")
        }
        let absent = [
            "404", "not found", "does not exist", "not exported", "could not find repository", "no such file",
            "failed to resolve path", "unsupported url protocol", "not appear to be a git",
            "access denied or repository",
        ]
        if absent.contains(where: { lower.contains($0) }) {
            return explained(.repositoryNotFound, Self.absent(url, said))
        }
        if lower.contains("object-format") || lower.contains("objectformat") || lower.contains("sha256") {
            return Self.differentHash(operation)
        }
        let pack = [
            "pack header", "pack signature", "trailer", "in pack", "too many objects", "pack file - out of bounds",
        ]
        // The data that cannot be inflated may also be the base of a delta in the mirror. Then everything is fetched again.
        let isInflated = failure.errorClass == Int32(GIT_ERROR_ZLIB.rawValue) && store.isEmpty
        if isInflated || failure.errorClass == Int32(GIT_ERROR_INDEXER.rawValue)
            || pack.contains(where: { lower.contains($0) })
        {
            return explained(.unreachable, Self.badPack(said))
        }
        if failure.isDamage, failure.errorClass != Int32(GIT_ERROR_NET.rawValue) { return error }
        let network = [GIT_ERROR_NET, GIT_ERROR_SSH, GIT_ERROR_HTTP, GIT_ERROR_SSL, GIT_ERROR_OS]
        if network.contains(where: { Int32($0.rawValue) == failure.errorClass }) {
            return explained(.unreachable, "\(said); Martlet tries again later")
        }
        return explained(error.code, said)
    }

    // MARK: What failures mean, from either implementation

    static func missingCredentials(_ url: RemoteURL) -> String {
        let secret = "git-\(url.host ?? "HOST")"
        return url.kind == .ssh
            ? "the server asks for a key; store a private key with martlet secret set \(secret),"
                + " or put it at ~/.ssh/id_ed25519 (and .pub) of the daemon's account"
            : "the repository is private or does not exist: the server asks for a password or token; store"
                + " USER:TOKEN with martlet secret set \(secret)"
    }

    static func refusedCredentials(_ url: RemoteURL) -> String {
        "the server refused the credentials; check the account and its right to read"
            + (url.kind == .ssh ? ", and that the key is Ed25519 or ECDSA where git is not installed" : "")
    }

    static func unknownHost(_ url: RemoteURL) -> String {
        let host = url.host ?? "HOST"
        let scan = "ssh-keyscan " + (url.port.map { "-p \($0) " } ?? "") + host
        return "the server's host key is not known, or not the one that is; compare what \(scan) prints and add it to"
            + " ~/.ssh/known_hosts of the daemon's account, or to the lines of the secret git-\(host)-known-hosts"
            + " (martlet secret set replaces all of them)"
    }

    static func untrustedCertificate(_ url: RemoteURL, _ said: String) -> String {
        "the server's certificate is not valid for \(url.host ?? "it") (\(said));"
            + " install the issuer's certificate on this machine"
    }

    static func redirected(_ url: RemoteURL, _ said: String) -> String {
        let lower = said.lowercased()
        if ["login", "log-in", "signin", "sign_in", "sign-in", "/auth", "/sso", "oauth", "saml"].contains(
            where: lower.contains)
        {
            return
                "the server redirects to what looks like a sign-in page (\(said)), so the repository is private or does not exist;"
                + " store USER:TOKEN with martlet secret set git-\(url.host ?? "HOST"), or check the URL"
        }
        return "the server redirects elsewhere (\(said)), which is not followed; write the new address"
    }

    static func badPack(_ said: String) -> String {
        "the server's answer is damaged or incomplete, and none of it was kept (\(said)); Martlet tries again later"
    }

    static func absent(_ url: RemoteURL, _ said: String) -> String {
        // libgit2 takes a path without a repository for a URL of an unknown protocol.
        url.kind == .path
            ? "there is no git repository at this path, or the daemon's account may not read it; check the path"
            : "there is no repository, or these credentials cannot see it (\(said)); check the URL"
    }
}
