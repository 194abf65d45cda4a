/// A forge with commit statuses. Gogs has none; `Forge` is the sender of a webhook.
package enum StatusForge: String, Hashable, Sendable, Codable, CaseIterable {
    case github, gitlab, gitea, forgejo
    /// Bitbucket Cloud.
    case bitbucket
    /// Bitbucket Server and Data Center.
    case bitbucketServer = "bitbucket-server"

    /// Whether Martlet can make and edit a comment at this forge.
    package var takesComments: Bool { self != .bitbucket && self != .bitbucketServer }

    /// Returns the forge that a public host belongs to, also a host that accepts ssh on port 443; `nil` for any other host.
    package static func of(host: String) -> StatusForge? {
        switch host {
        case "github.com", "ssh.github.com": .github
        case "gitlab.com", "altssh.gitlab.com": .gitlab
        case "gitea.com": .gitea
        case "codeberg.org": .forgejo
        case "bitbucket.org", "altssh.bitbucket.org": .bitbucket
        default: nil
        }
    }
}

/// Where a bot reports the state of commits: a forge's commit statuses.
package struct StatusTarget: Hashable, Sendable, Codable {
    package var forge: StatusForge
    /// The name of the secret that holds the access token, or `user:password`.
    package var credentials: String
    /// The address of the forge's API, without a slash at the end: `https://api.github.com`.
    package var api: String
    /// The repository at the forge, `acme/kit`. It comes only from the bot file, never from an event.
    package var project: String

    /// Whether new issues of a pull request are also reported in a comment.
    package var hasComments: Bool

    package init(forge: StatusForge, credentials: String, api: String, project: String, hasComments: Bool = false) {
        self.forge = forge
        self.credentials = credentials
        self.api = api
        self.project = project
        self.hasComments = hasComments
    }
}
