import Basics
package import Model
package import Settings
package import SourceControl

/// Finds a bot's mirror, with the credentials that its host asks for.
///
/// Credentials are secrets named `git-HOST`: `user:password` (or a token as the password) for https, or a private key
/// in OpenSSH's form for ssh; `git-HOST-known-hosts` holds that host's lines of known_hosts.
package struct Remotes: Sendable {
    private enum Source: Sendable {
        case mirrors(Mirrors, SecretStore)
        case one(Mirror)
    }
    private let source: Source
    private let lane = BlockingLane(label: "git-secrets")

    package init(mirrors: Mirrors, secrets: SecretStore) { source = .mirrors(mirrors, secrets) }

    /// Every bot's mirror is this one: that of a working tree.
    init(mirror: Mirror) { source = .one(mirror) }

    /// - Throws: `SourceControlError` for a URL that is refused, `SecretError` for a secret that cannot be read.
    package func mirror(for bot: BotSpecification) async throws -> Mirror {
        switch source {
        case .one(let mirror): return mirror
        case .mirrors(let mirrors, let secrets):
            let url = try RemoteURL(bot.repository, isInsecureAllowed: bot.isInsecure)
            // A path has no host, and nobody to show credentials to.
            guard let host = url.host else { return mirrors.mirror(of: url) }
            let credentials = try await lane.run { try Self.credentials(host: host, secrets) }
            return mirrors.mirror(of: url, credentials: credentials)
        }
    }

    /// The mirror of an address, as long as nobody is asked over it: without credentials, also where the file that named it is gone.
    /// - Returns: Nothing for an address that no mirror can be of.
    func mirror(holding repository: String) -> Mirror? {
        switch source {
        case .one(let mirror): mirror
        case .mirrors(let mirrors, _):
            (try? RemoteURL(repository, isInsecureAllowed: true)).map { mirrors.mirror(of: $0) }
        }
    }

    /// Whether the submodules of a commit, and theirs, are here, so that no server has to be asked.
    func hasSubmodules(of commit: CommitID, in mirror: Mirror, for bot: BotSpecification) async throws -> Bool {
        do {
            _ = try await submodules(of: commit, in: mirror, for: bot)
            return true
        } catch let error as SourceControlError where [.commitMissing, .mirrorDamaged].contains(error.code) {
            return false
        }
    }

    /// Brings the submodules of a commit, and theirs, into their mirrors.
    func fetchSubmodules(of commit: CommitID, in mirror: Mirror, for bot: BotSpecification) async throws {
        guard bot.hasSubmodules, case .mirrors(let mirrors, _) = source else { return }
        try await mirrors.fetchSubmodules(of: commit, in: mirror)
    }

    /// The submodules of a commit, which were fetched; none of a working tree's snapshot, which holds their files, and where the bot file
    /// says `submodules: false`.
    func submodules(of commit: CommitID, in mirror: Mirror, for bot: BotSpecification) async throws -> [Submodule] {
        guard bot.hasSubmodules, case .mirrors(let mirrors, _) = source else { return [] }
        return try await mirrors.submodules(of: commit, in: mirror)
    }

    private static func credentials(host: String, _ secrets: SecretStore) throws -> Credentials? {
        func secret(_ name: String) throws -> String? { SecretStore.isName(name) ? try secrets.value(name) : nil }
        let known = try secret("git-\(host)-known-hosts")
        guard let secret = try secret("git-\(host)") else {
            return known.map { Credentials(knownHosts: $0) }
        }
        if secret.hasPrefix("-----BEGIN") { return Credentials(user: "git", key: .text(secret), knownHosts: known) }
        let parts = secret.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        return parts.count == 2
            ? Credentials(user: parts[0], password: parts[1], knownHosts: known)
            : Credentials(user: "git", password: secret, knownHosts: known)
    }
}
