extension Forge {
    /// How a sender proves itself, for the answer to a refused delivery.
    package var signatureRule: String {
        let hmac = "the HMAC-SHA256 of the body with the bot's webhook secret, in lower-case hexadecimal"
        return switch self {
        case .github, .push: "X-Hub-Signature-256 must be sha256= and \(hmac)"
        case .gitlab:
            "X-Gitlab-Token must be the bot's webhook secret; or, where that begins with whsec_, webhook-signature must be made with "
                + "it, as Standard Webhooks says, within 5 minutes of now"
        case .gitea: "X-Gitea-Signature must be \(hmac)"
        case .forgejo: "X-Forgejo-Signature must be \(hmac)"
        case .gogs: "X-Gogs-Signature must be \(hmac)"
        case .bitbucket, .bitbucketServer: "X-Hub-Signature must be sha256= and \(hmac)"
        }
    }

    /// Returns what to choose in the forge's settings, in the forge's own words, in the order of its form.
    /// - Parameter secret: The secret's name, never its value.
    package func instructions(url: String, secret: String) -> String {
        let value = "(the value of the secret \(secret))"
        switch self {
        case .push: return Self.hookInstructions(url: url, secret: secret)
        case .github:
            return """
                \(url)

                On GitHub: Settings > Webhooks > Add webhook
                  Payload URL: \(url)
                  Content type: application/json
                  Secret: \(value)
                  SSL verification: Enable SSL verification
                  Which events would you like to trigger this webhook?: Let me select individual events.
                    Pushes, Branch or tag creation, Branch or tag deletion, Pull requests
                  Active: yes

                """
        case .gitlab:
            return """
                \(url)

                On GitLab: Settings > Webhooks > Add new webhook
                  URL: \(url)
                  Secret token: \(value)
                    or, where the secret begins with whsec_, Signing token instead: each delivery is signed and cannot be sent again later
                  Trigger: Push events (All branches), Tag push events, Merge request events
                  SSL verification: Enable SSL verification

                """
        case .gitea, .forgejo:
            return """
                \(url)

                On \(title): Settings > Webhooks > Add Webhook > \(title)
                  Target URL: \(url)
                  HTTP Method: POST
                  POST Content Type: application/json
                  Secret: \(value)
                  Trigger On: Custom Events...
                    Push, Create, Delete, Pull Request, Pull Request Synchronized
                  Branch filter: *
                  Active: yes

                """
        case .gogs:
            return """
                \(url)

                On Gogs: Settings > Webhooks > Add a new webhook: Gogs
                  Payload URL: \(url)
                  Content Type: application/json
                  Secret: \(value)
                  When should this webhook be triggered?: Let me choose what I need.
                    Push, Create, Delete, Pull Request
                  Active: yes

                """
        case .bitbucket:
            return """
                \(url)

                On Bitbucket Cloud: Repository settings > Webhooks > Add webhook
                  URL: \(url)
                  Secret: \(value)
                  Status: Active
                  Triggers: Choose from a full list of triggers
                    Repository: Push
                    Pull Request: Created, Updated, Merged, Declined

                """
        case .bitbucketServer:
            return """
                \(url)

                On Bitbucket Data Center: Repository settings > Webhooks > Create webhook
                  URL: \(url)
                  Secret: \(value)
                  Active: yes
                  Repository: Push
                  Pull request: Opened, Source branch updated, Modified, Merged, Declined, Deleted

                """
        }
    }

    private static func hookInstructions(url: String, secret: String) -> String {
        """
        \(url)

        In the bare repository on your git server:
          cp hooks/post-receive REPOSITORY/hooks/post-receive
          git -C REPOSITORY config martlet.url \(url)
          git -C REPOSITORY config martlet.secret FILE    (a file with the value of the secret \(secret))

        Any other sender: POST {"updates":[{"ref":…,"before":…,"after":…}]} with
          X-Hub-Signature-256: sha256=HMAC-SHA256 of the body, in lower-case hexadecimal
          X-Martlet-Delivery: an id of the delivery, the same when it is sent again

        """
    }
}
