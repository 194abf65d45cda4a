import Archives
import Foundation
import Model
import Transfer

/// How each forge takes a commit's status.
///
/// GitHub: docs.github.com/rest/commits/statuses. GitLab: docs.gitlab.com/api/commits, "Commit status". Gitea and Forgejo:
/// `/api/swagger`, `repoCreateStatus`. Bitbucket Cloud: developer.atlassian.com/cloud/bitbucket/rest/api-group-commit-statuses.
/// Bitbucket Data Center: `/rest/api/latest/projects/{key}/repos/{slug}/commits/{id}/builds`.
struct ForgeStatusRequest: Sendable {
    let target: StatusTarget
    let report: StatusReport

    /// The forge's word for a state.
    static func word(_ state: StatusReport.State, at forge: StatusTarget.Forge) -> String {
        switch forge {
        // Neither has a word for canceled that does not count as passed: what was not judged is an error there, with its reason.
        case .github, .gitea, .forgejo:
            switch state {
            case .pending, .running: "pending"
            case .success, .skipped: "success"
            case .failure: "failure"
            case .error, .canceled: "error"
            }
        case .gitlab:
            switch state {
            case .pending: "pending"
            case .running: "running"
            case .success, .skipped: "success"
            case .failure, .error: "failed"
            case .canceled: "canceled"
            }
        case .bitbucket, .bitbucketServer:
            switch state {
            case .pending, .running: "INPROGRESS"
            case .success, .skipped: "SUCCESSFUL"
            case .failure, .error: "FAILED"
            case .canceled: forge == .bitbucket ? "STOPPED" : "CANCELLED"
            }
        }
    }

    /// The most characters of a description. GitHub refuses more with 422; GitLab's and Bitbucket's columns have 255.
    static func descriptionLimit(at forge: StatusTarget.Forge) -> Int { forge == .github ? 140 : 255 }

    var word: String { Self.word(report.state, at: target.forge) }
    var description: String { report.description(within: Self.descriptionLimit(at: target.forge)) }

    /// Bitbucket Cloud's key has at most 40 characters; a longer context becomes a digest, and stays the name that is shown.
    var key: String {
        let limit = target.forge == .bitbucket ? 40 : 255
        if report.context.utf8.count <= limit { return report.context }
        return "martlet-" + Digest.sha256(of: Array(report.context.utf8)).prefix(32)
    }

    // MARK: - Addresses

    /// Where the status is posted.
    var url: String {
        let (api, commit) = (target.api, report.commit)
        switch target.forge {
        case .github, .gitea, .forgejo: return "\(api)/repos/\(path)/statuses/\(commit)"
        case .gitlab: return "\(api)/projects/\(PercentEncoding.encode(target.project))/statuses/\(commit)"
        case .bitbucket: return "\(api)/repositories/\(path)/commit/\(commit)/statuses/build"
        case .bitbucketServer:
            let parts = target.project.split(separator: "/").map { PercentEncoding.encode(String($0)) }
            return "\(api)/projects/\(parts.joined(separator: "/repos/"))/commits/\(commit)/builds"
        }
    }

    /// Where the statuses of the commit are read, the newest first; nothing at a forge where the same status sent twice is one.
    var readingURL: String? {
        let (api, commit) = (target.api, report.commit)
        switch target.forge {
        case .github: return "\(api)/repos/\(path)/commits/\(commit)/statuses?per_page=30"
        case .gitea, .forgejo: return "\(api)/repos/\(path)/commits/\(commit)/statuses?limit=30&sort=recentupdate"
        case .gitlab:
            let project = PercentEncoding.encode(target.project)
            return "\(api)/projects/\(project)/repository/commits/\(commit)/statuses?per_page=30&name="
                + PercentEncoding.encode(report.context)
        case .bitbucket, .bitbucketServer: return nil
        }
    }

    private var path: String {
        target.project.split(separator: "/").map { PercentEncoding.encode(String($0)) }.joined(separator: "/")
    }

    // MARK: - What is sent

    /// - Parameter secret: An access token, or `user:password`.
    func request(
        _ method: TransferRequest.Method, _ url: String, secret: String
    ) throws(StatusError) -> TransferRequest {
        var request = TransferRequest(method, url, headers: ["Accept": "application/json"])
        request.limits = TransferLimits(
            total: .seconds(30), stall: .seconds(15), response: Int64(ForgeAnswer.maximumBody))
        request.isPlainHTTPAllowed = target.api.hasPrefix("http:")
        switch target.forge {
        case .gitlab: request.headers["PRIVATE-TOKEN"] = secret
        case .gitea,
            .forgejo where !secret.contains(":"):
            request.headers["Authorization"] = "token " + secret
        default:
            guard let credentials = TransferCredentials(secret: secret, file: nil) else {
                throw StatusError("the secret \(target.credentials) is neither a token nor `user:password`")
            }
            request.credentials = credentials
            // docs.github.com/rest/about-the-rest-api/api-versions
            if target.forge == .github {
                request.headers["Accept"] = "application/vnd.github+json"
                request.headers["X-GitHub-Api-Version"] = "2022-11-28"
            }
        }
        guard secret.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7f }) else {
            throw StatusError("the secret \(target.credentials) has a control character in it; store it anew")
        }
        return request
    }

    /// The request that tells it.
    func posting(secret: String) throws(StatusError) -> TransferRequest {
        var request = try request(.post, url, secret: secret)
        request.headers["Content-Type"] = "application/json"
        request.body = .bytes(Array(Self.text(fields).utf8))
        return request
    }

    private var fields: [String: String] {
        var fields: [String: String] = ["state": word, "description": description]
        switch target.forge {
        case .github, .gitea, .forgejo:
            fields["context"] = report.context
            fields["target_url"] = report.url
        case .gitlab:
            fields["name"] = report.context
            fields["target_url"] = report.url
            if report.ref.branch != nil || report.ref.tag != nil { fields["ref"] = report.ref.shortName }
        case .bitbucket:
            (fields["key"], fields["name"], fields["url"]) = (key, report.context, report.url)
            if let branch = report.ref.branch { fields["refname"] = branch }
        case .bitbucketServer:
            (fields["key"], fields["name"], fields["url"]) = (key, report.context, report.url)
            fields["ref"] = report.ref.description
        }
        return fields
    }

    private static func text(_ fields: [String: String]) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Texts of Swift are always UTF-8, so that this cannot fail.
        return (try? encoder.encode(fields)).map { String(decoding: $0, as: UTF8.self) } ?? "{}"
    }
}

/// Why a status cannot be sent, for the operator to mend.
struct StatusError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
