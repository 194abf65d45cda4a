import Encodings
package import Model
import Settings

/// The addresses of a repository's pages at its forge: commits, comparisons, branches, tags, pull requests, and lines of files.
///
/// Names come from outside, so each is percent-encoded as one part of a path or as one value of a query (RFC 3986, section 2). Every address begins
/// with https or http. The shapes are those that each forge's own pages link to; Bitbucket Cloud's comparison is that of its webhooks (`links.html`).
package struct ForgeLinks: Hashable, Sendable {
    /// The forge.
    package let forge: ForgeKind
    /// The address of the repository's page, without a slash at its end.
    package let repository: String

    /// Finds the pages of a bot's repository. The forge is that of `status`, else the bot's `forge`, else that of a public host.
    /// - Parameters:
    ///   - address: The repository's address. For ssh, the forge's pages are expected at https of the same host.
    ///   - bot: The bot, whose file may name the forge; `nil` if its file is gone.
    /// - Returns: `nil` if the forge is unknown, and for a repository without a host.
    package init?(of address: String, bot: BotSpecification?) {
        if let status = bot?.status, bot?.repository == address, let kind = ForgeKind(rawValue: status.forge.rawValue) {
            guard let root = Self.root(ofAPI: status.api, kind) else { return nil }
            self.init(kind, root: root, project: status.project)
            return
        }
        guard let place = RepositoryPlace(address) else { return nil }
        let ofHost = StatusForge.of(host: place.name).flatMap { ForgeKind(rawValue: $0.rawValue) }
        guard let kind = ofHost ?? bot?.forge else { return nil }
        guard let project = kind == .bitbucketServer ? place.project(of: .bitbucketServer) : place.path else {
            return nil
        }
        self.init(kind, root: "\(place.scheme)://\(place.authority)", project: project)
    }

    private init?(_ kind: ForgeKind, root: String, project: String) {
        guard root.hasPrefix("https://") || root.hasPrefix("http://"), let path = Self.path(project) else { return nil }
        forge = kind
        guard kind == .bitbucketServer else {
            repository = "\(root)/\(path)"
            return
        }
        let parts = path.split(separator: "/")
        guard parts.count == 2 else { return nil }
        // A user's own repository is below `users`, with `~user` as its key in addresses of git.
        repository =
            parts[0].hasPrefix("~")
            ? "\(root)/users/\(parts[0].dropFirst())/repos/\(parts[1])"
            : "\(root)/projects/\(parts[0])/repos/\(parts[1])"
    }

    /// Returns the address of a forge's pages, given that of its interface.
    private static func root(ofAPI api: String, _ kind: ForgeKind) -> String? {
        switch (kind, api) {
        case (.github, "https://api.github.com"): return "https://github.com"
        case (.bitbucket, _): return "https://bitbucket.org"
        case (.github, _): return cut(api, at: "/api/v3")
        case (.gitlab, _): return cut(api, at: "/api/v4")
        case (.gitea, _), (.forgejo, _), (.gogs, _): return cut(api, at: "/api/v1")
        case (.bitbucketServer, _): return cut(api, at: "/rest/")
        }
    }

    private static func cut(_ text: String, at end: String) -> String? {
        text.firstRange(of: end).map { String(text[..<$0.lowerBound]) }
    }

    // MARK: Pages

    /// Returns the page of a commit.
    package func commit(_ commit: CommitID) -> String {
        switch forge {
        case .github, .gitea, .forgejo, .gogs: "\(repository)/commit/\(commit)"
        case .gitlab: "\(repository)/-/commit/\(commit)"
        case .bitbucket, .bitbucketServer: "\(repository)/commits/\(commit)"
        }
    }

    /// Returns the page with the changes from one commit to another.
    package func comparison(from old: CommitID, to new: CommitID) -> String {
        switch forge {
        case .github, .gitea, .forgejo, .gogs: "\(repository)/compare/\(old)...\(new)"
        case .gitlab: "\(repository)/-/compare/\(old)...\(new)"
        case .bitbucket: "\(repository)/branches/compare/\(new)..\(old)"
        case .bitbucketServer: "\(repository)/compare/commits?sourceBranch=\(new)&targetBranch=\(old)"
        }
    }

    /// Returns the page of a branch, a tag or a pull request; `nil` for any other ref.
    package func ref(_ ref: RefName) -> String? {
        if let number = ref.pullRequest { return pullRequest(number) }
        if let branch = ref.branch, let path = Self.path(branch) { return self.branch(branch, path) }
        guard let tag = ref.tag, let path = Self.path(tag) else { return nil }
        return self.tag(tag, path)
    }

    private func branch(_ name: String, _ path: String) -> String {
        switch forge {
        case .github: "\(repository)/tree/\(path)"
        case .gitlab: "\(repository)/-/tree/\(path)"
        case .gitea, .forgejo: "\(repository)/src/branch/\(path)"
        case .gogs: "\(repository)/src/\(path)"
        case .bitbucket: "\(repository)/branch/\(path)"
        case .bitbucketServer: "\(repository)/browse?at=\(PercentEncoding.encode("refs/heads/" + name))"
        }
    }

    private func tag(_ name: String, _ path: String) -> String {
        switch forge {
        case .github: "\(repository)/tree/\(path)"
        case .gitlab: "\(repository)/-/tags/\(path)"
        case .gitea, .forgejo: "\(repository)/src/tag/\(path)"
        case .gogs: "\(repository)/src/\(path)"
        case .bitbucket: "\(repository)/commits/tag/\(path)"
        case .bitbucketServer: "\(repository)/browse?at=\(PercentEncoding.encode("refs/tags/" + name))"
        }
    }

    /// Returns the page of a pull request.
    package func pullRequest(_ number: Int) -> String {
        switch forge {
        case .github: "\(repository)/pull/\(number)"
        case .gitlab: "\(repository)/-/merge_requests/\(number)"
        case .gitea, .forgejo, .gogs: "\(repository)/pulls/\(number)"
        case .bitbucket, .bitbucketServer: "\(repository)/pull-requests/\(number)"
        }
    }

    /// Returns the page of a file at a commit, at a line.
    /// - Parameters:
    ///   - path: The path from the root. Findings have paths from outside.
    ///   - line: The line, counted from 1; `nil` for the beginning.
    /// - Returns: `nil` for a path that is absolute or has an empty, `.` or `..` component: it is not that of a file of the commit.
    package func file(_ path: String, line: Int?, at commit: CommitID) -> String? {
        guard let path = Self.path(path) else { return nil }
        func at(_ prefix: String) -> String { line.map { $0 > 0 ? "\(prefix)\($0)" : "" } ?? "" }
        return switch forge {
        case .github: "\(repository)/blob/\(commit)/\(path)\(at("#L"))"
        case .gitlab: "\(repository)/-/blob/\(commit)/\(path)\(at("#L"))"
        case .gitea, .forgejo: "\(repository)/src/commit/\(commit)/\(path)\(at("#L"))"
        case .gogs: "\(repository)/src/\(commit)/\(path)\(at("#L"))"
        case .bitbucket: "\(repository)/src/\(commit)/\(path)\(at("#lines-"))"
        case .bitbucketServer: "\(repository)/browse/\(path)?at=\(commit)\(at("#"))"
        }
    }

    /// Returns the path with each part percent-encoded; `nil` for one that a browser would take as another path.
    private static func path(_ text: String) -> String? {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.allSatisfy({ !["", ".", ".."].contains($0) }) else { return nil }
        return PercentEncoding.encode(path: text)
    }
}
