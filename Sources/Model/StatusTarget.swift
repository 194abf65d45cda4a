/// Where a bot reports what becomes of a commit: a forge's commit statuses.
package struct StatusTarget: Hashable, Sendable, Codable {
    /// The forges that have commit statuses. Gogs has none.
    package enum Forge: String, Hashable, Sendable, Codable, CaseIterable {
        case github, gitlab, gitea, forgejo
        /// Bitbucket Cloud.
        case bitbucket
        /// Bitbucket Server and Data Center.
        case bitbucketServer = "bitbucket-server"

        /// Those at which a comment can be made and edited here.
        package var takesComments: Bool { self != .bitbucket && self != .bitbucketServer }
    }

    package var forge: Forge
    /// The name of the secret with the access token, or `user:password`.
    package var credentials: String
    /// The address of the forge's interface, without a slash at its end: `https://api.github.com`.
    package var api: String
    /// The repository there, `acme/kit`: from the bot's file alone, never from an event.
    package var project: String

    /// Whether new issues of a pull request are told by a comment there, too.
    package var hasComments: Bool

    package init(forge: Forge, credentials: String, api: String, project: String, hasComments: Bool = false) {
        self.forge = forge
        self.credentials = credentials
        self.api = api
        self.project = project
        self.hasComments = hasComments
    }
}
