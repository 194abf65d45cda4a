/// Who sends webhooks. Which one it is says the hook's own URL, never a header: Gitea and Forgejo send GitHub's and Gogs's headers
/// beside their own.
package enum Forge: String, Hashable, Sendable, CaseIterable, CustomStringConvertible {
    case github, gitlab, gitea, forgejo, gogs
    /// Bitbucket Cloud.
    case bitbucket
    /// Bitbucket Server and Data Center.
    case bitbucketServer = "bitbucket-server"
    /// No forge: `hooks/post-receive` and whoever signs as it does (`PushRequest`).
    case push

    package var description: String { rawValue }

    /// As its maker writes it.
    var title: String {
        switch self {
        case .github: "GitHub"
        case .gitlab: "GitLab"
        case .gitea: "Gitea"
        case .forgejo: "Forgejo"
        case .gogs: "Gogs"
        case .bitbucket: "Bitbucket Cloud"
        case .bitbucketServer: "Bitbucket Data Center"
        case .push: "a git server's hook"
        }
    }

    /// Gitea, what it came from and what came from it: bare hexadecimal signatures, made over the JSON also where that is sent in
    /// a form (gitea services/webhook/deliver.go).
    var signsTheFormsField: Bool { self == .gitea || self == .forgejo || self == .gogs }

    /// The headers that tell the event, the first that is there.
    var eventHeaders: [String] {
        switch self {
        case .github: ["x-github-event"]
        case .gitlab: ["x-gitlab-event"]
        case .gitea: ["x-gitea-event"]
        case .forgejo: ["x-forgejo-event", "x-gitea-event"]
        case .gogs: ["x-gogs-event"]
        case .bitbucket, .bitbucketServer: ["x-event-key"]
        case .push: []
        }
    }

    /// The headers that name a delivery, the same when it is sent again; the first that is there.
    ///
    /// GitLab's `webhook-id` equals its `Idempotency-Key` (gitlab!230944). Its `X-Gitlab-Event-UUID` names no delivery: one push
    /// of several branches, and what another hook caused, have the same (lib/gitlab/web_hooks/recursion_detection/uuid.rb).
    var deliveryHeaders: [String] {
        switch self {
        case .github: ["x-github-delivery"]
        case .gitlab: ["webhook-id", "idempotency-key"]
        case .gitea: ["x-gitea-delivery"]
        case .forgejo: ["x-forgejo-delivery", "x-gitea-delivery"]
        case .gogs: ["x-gogs-delivery"]
        case .bitbucket: ["x-request-uuid"]
        case .bitbucketServer: ["x-request-id"]
        case .push: ["x-martlet-delivery"]
        }
    }

    /// The forge that a public host belongs to; nothing for any other host.
    static func of(host: String) -> Forge? {
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
