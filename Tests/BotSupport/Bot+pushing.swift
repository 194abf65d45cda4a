import Archives
import Basics
import Encodings
package import Forges
package import Integrations
package import Model
import Storage
import TestSupport

extension Bot {
    /// Commits and pushes without an event.
    /// - Parameter branch: The branch; a new one starts at the current commit.
    @discardableResult
    package func push(
        _ commit: Commit = .succeeding, removing: [String] = [], on branch: String = "main"
    ) async throws -> CommitID {
        let branches = try await work.git("branch", "--format=%(refname:short)").split(separator: "\n")
        if branches.contains(where: { $0 == branch }) {
            try await work.checkout(branch)
        } else if !branches.isEmpty {
            try await work.branch(branch)
        } else if branch != "main" {
            try await work.git("symbolic-ref", "HEAD", "refs/heads/\(branch)")
        }
        // The plays of the commit before are removed.
        let isFirst = branches.isEmpty && !plan.isRepositoryEmpty
        let id = try await work.commit(
            files: (isFirst ? Commit.base(recipe: plan.recipeText) : [:]).merging(commit.files) { $1 },
            removing: removing + (branches.isEmpty ? [] : try stale(commit)), message: commit.message)
        try await work.push(to: remote)
        return id
    }

    private func stale(_ commit: Commit) throws -> [String] {
        var paths: [String] = []
        let tree = try Directory(opening: work.path)
        guard try tree.status("plays") != nil else { return [] }
        try tree.walk("plays", limit: 1000) { path, status in
            let path = String(decoding: path, as: UTF8.self)
            if status.kind == .file, commit.files[path] == nil { paths.append(path) }
        }
        return paths
    }

    /// Sends the service the event that `hooks/post-receive` sends after a push.
    @discardableResult
    package func announce() async throws -> PushAcceptance {
        try await operations.receive(signedPush())
    }

    /// Returns a push that is signed with the bot's secret.
    package func signedPush(
        delivery: String? = nil, body: String = #"{"updates":[]}"#, secret: String = "It's a Secret to Everybody"
    ) -> PushRequest {
        let bytes = Array(body.utf8)
        let signature = Hexadecimal.encode(Digest.hmacSHA256(key: Array(secret.utf8), message: bytes))
        return PushRequest(
            bot: name, signature: "sha256=\(signature)", delivery: delivery ?? identifiers.next(),
            body: WebhookBody(bytes))
    }

    /// Pushes a commit, and waits until it is integrated.
    @discardableResult
    package func integrate(
        _ commit: Commit = .succeeding, removing: [String] = [], on branch: String = "main",
        limit: Duration = Bot.waitLimit
    ) async throws -> Integrated {
        try await completion(of: try await begin(commit, removing: removing, on: branch), limit: limit)
    }

    /// Pushes a commit, and waits until its integration is queued.
    package func begin(
        _ commit: Commit = .succeeding, removing: [String] = [], on branch: String = "main"
    ) async throws -> IntegrationID {
        let id = try await push(commit, removing: removing, on: branch)
        try await announce()
        return try await integration(of: id, on: RefName(branch: branch)).id
    }

    /// Tags the current commit, and waits until the tag is integrated.
    package func integrate(tag: String) async throws -> Integrated {
        try await work.tag(tag)
        try await work.push(to: remote)
        try await announce()
        let commit = try await work.head()
        return try await completion(of: try await integration(of: commit, on: RefName(tag: tag)).id)
    }
}
