import Basics
package import Model
package import Settings
package import SourceControl
package import Storage

/// Finds a bot's mirror, with the credentials for its host.
///
/// Credentials are secrets named `git-HOST`: `user:password` (or a token as the password) for https, or a private key in OpenSSH's form for ssh.
/// `git-HOST-known-hosts` contains that host's lines of known_hosts.
package struct Remotes: Sendable {
    private enum Source: Sendable {
        case mirrors(Mirrors, SecretStore)
        case one(Mirror)
    }
    private let source: Source
    private let queue = SerialQueue(label: "git-secrets")

    package init(mirrors: Mirrors, secrets: SecretStore) { source = .mirrors(mirrors, secrets) }

    /// Creates remotes in which every bot has the same mirror, that of a working tree.
    package init(mirror: Mirror) { source = .one(mirror) }

    /// Returns the mirror of a bot's repository.
    /// - Throws: `SourceControlError` for a URL that is refused, `SettingsError` for a secret that cannot be read.
    package func mirror(for bot: BotSpecification) async throws -> Mirror {
        switch source {
        case .one(let mirror): return mirror
        case .mirrors(let mirrors, let secrets):
            let url = try RemoteURL(bot.repository, isInsecureAllowed: bot.isInsecure)
            // A path has no host, so there are no credentials for it.
            guard let host = url.host else { return mirrors.mirror(of: url) }
            let credentials = try await queue.run { try Self.credentials(host: host, secrets) }
            return mirrors.mirror(of: url, credentials: credentials)
        }
    }

    /// Returns the mirror of a URL without credentials, for use without the network. It works even if the bot file with the URL is gone.
    /// - Returns: `nil` for an invalid URL.
    package func mirror(holding repository: String) -> Mirror? {
        switch source {
        case .one(let mirror): mirror
        case .mirrors(let mirrors, _):
            (try? RemoteURL(repository, isInsecureAllowed: true)).map { mirrors.mirror(of: $0) }
        }
    }

    /// Returns a reader of the mirror of a URL, which does not wait for the mirror's other work.
    /// - Returns: `nil` for an invalid URL, and for a working tree.
    package func reader(of repository: String) -> MirrorReader? {
        guard case .mirrors(let mirrors, _) = source else { return nil }
        return (try? RemoteURL(repository, isInsecureAllowed: true)).map { mirrors.reader(of: $0) }
    }

    /// Whether the submodules of a commit, and theirs, are in their mirrors, so that no server has to be asked.
    package func hasSubmodules(of commit: CommitID, in mirror: Mirror, for bot: BotSpecification) async throws -> Bool {
        do {
            _ = try await submodules(of: commit, in: mirror, for: bot)
            return true
        } catch let error as SourceControlError where [.commitMissing, .mirrorDamaged].contains(error.code) {
            return false
        }
    }

    /// Fetches the submodules of a commit, and theirs, into their mirrors.
    package func fetchSubmodules(of commit: CommitID, in mirror: Mirror, for bot: BotSpecification) async throws {
        guard bot.hasSubmodules, case .mirrors(let mirrors, _) = source else { return }
        try await mirrors.fetchSubmodules(of: commit, in: mirror)
    }

    /// Returns the submodules of a commit, which were fetched before. Empty for the snapshot of a working tree, which contains their files, and if
    /// the bot file says `submodules: false`.
    package func submodules(of commit: CommitID, in mirror: Mirror, for bot: BotSpecification) async throws
        -> [Submodule]
    {
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

extension Mirror {
    /// Fetches the commit that an integration checks out. For a pull request it fetches the base and the head, and merges them.
    package func fetch(_ record: IntegrationRecord) async throws(SourceControlError) {
        guard let pull = record.pull else { return try await fetch([record.ref: record.commit]) }
        try await fetch([pull.base: pull.baseCommit, pull.place: pull.head])
        _ = try await combine(pull)
    }

    /// Returns the commit to integrate for a pull request: the merge of its base and its head, or the head alone if they do not merge.
    /// - Returns: The commit, and the reason why it is the head alone; the reason is `nil` for a merge.
    package func combine(
        _ pull: IntegratedPullRequest
    ) async throws(SourceControlError) -> (commit: CommitID, unmerged: String?) {
        let base = pull.base.shortName
        switch try await merge(pull.head, into: pull.baseCommit) {
        case .merged(let commit): return (commit, nil)
        case .conflicts(let paths, let count):
            let more = count > paths.count ? " and \(count - paths.count) more" : ""
            return (
                pull.head,
                "it does not merge with \(base), so its head alone is integrated: both change \(paths.joined(separator: ", "))\(more)"
            )
        case .refused(let reason):
            return (pull.head, "it does not merge with \(base), so its head alone is integrated: \(reason)")
        }
    }
}
