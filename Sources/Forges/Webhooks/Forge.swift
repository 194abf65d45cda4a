import Model

/// A sender of webhooks. The hook's own URL determines which one it is, never a header: Gitea and Forgejo send the headers of GitHub and Gogs beside
/// their own.
package enum Forge: String, Hashable, Sendable, CaseIterable, CustomStringConvertible {
    case github, gitlab, gitea, forgejo, gogs
    /// Bitbucket Cloud.
    case bitbucket
    /// Bitbucket Server and Data Center.
    case bitbucketServer = "bitbucket-server"
    /// No forge: `hooks/post-receive`, or another client that signs as it does (`PushRequest`).
    case push

    package var description: String { rawValue }

    /// The name as its maker writes it.
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

    /// Whether signatures are bare hexadecimal and cover the JSON even if that is sent in a form. True for Gitea, for Gogs that it derives from, and
    /// for Forgejo that derives from it (gitea services/webhook/deliver.go).
    var signsTheFormsField: Bool { self == .gitea || self == .forgejo || self == .gogs }

    /// The headers that name the event. The first that is present counts.
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

    /// The headers that name a delivery, with the same value when it is sent again. The first that is present counts.
    ///
    /// GitLab's `webhook-id` equals its `Idempotency-Key` (gitlab!230944). Its `X-Gitlab-Event-UUID` does not name a delivery: the deliveries of one
    /// push to several branches share it, and so do those caused by another hook (lib/gitlab/web_hooks/recursion_detection/uuid.rb).
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

    /// Returns the forge that a public host belongs to; `nil` for any other host.
    package static func of(host: String) -> Forge? {
        StatusForge.of(host: host).flatMap { Forge(rawValue: $0.rawValue) }
    }
}
