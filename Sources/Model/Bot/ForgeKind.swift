/// A forge whose pages Martlet links to.
package enum ForgeKind: String, Hashable, Sendable, Codable, CaseIterable {
    case github, gitlab, gitea, forgejo, gogs
    /// Bitbucket Cloud.
    case bitbucket
    /// Bitbucket Server and Data Center.
    case bitbucketServer = "bitbucket-server"

    /// The name as its maker writes it.
    package var title: String {
        switch self {
        case .github: "GitHub"
        case .gitlab: "GitLab"
        case .gitea: "Gitea"
        case .forgejo: "Forgejo"
        case .gogs: "Gogs"
        case .bitbucket: "Bitbucket Cloud"
        case .bitbucketServer: "Bitbucket Data Center"
        }
    }
}
