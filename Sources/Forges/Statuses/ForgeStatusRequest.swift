import Basics
import Encodings
import Model
import Transfer

/// The request with which a forge receives a commit's status.
///
/// GitHub: docs.github.com/rest/commits/statuses. GitLab: docs.gitlab.com/api/commits, "Commit status". Gitea and Forgejo:
/// `/api/swagger`, `repoCreateStatus`. Bitbucket Cloud: developer.atlassian.com/cloud/bitbucket/rest/api-group-commit-statuses.
/// Bitbucket Data Center: `/rest/api/latest/projects/{key}/repos/{slug}/commits/{id}/builds`.
struct ForgeStatusRequest: Sendable {
    let target: StatusTarget
    let report: StatusReport

    /// Returns the forge's name of a state.
    static func word(_ state: StatusReport.State, at forge: StatusForge) -> String {
        switch forge {
        // These forges have no state for canceled that does not count as passed. A canceled integration is an error there, with its reason. A skipped
        // one stays pending, as the checks of GitHub's own workflows do. No commit is green without a verdict.
        case .github, .gitea, .forgejo:
            switch state {
            case .pending, .running, .skipped: "pending"
            case .success: "success"
            case .failure: "failure"
            case .error, .canceled: "error"
            }
        case .gitlab:
            switch state {
            case .pending: "pending"
            case .running: "running"
            case .success: "success"
            case .failure, .error: "failed"
            case .canceled, .skipped: "canceled"
            }
        case .bitbucket, .bitbucketServer:
            switch state {
            case .pending, .running: "INPROGRESS"
            case .success: "SUCCESSFUL"
            case .failure, .error: "FAILED"
            case .canceled, .skipped: forge == .bitbucket ? "STOPPED" : "CANCELLED"
            }
        }
    }

    /// Returns the most code points of a description. GitHub refuses more with 422; the columns of GitLab and Bitbucket have 255.
    static func descriptionLimit(at forge: StatusForge) -> Int { forge == .github ? 140 : 255 }

    var word: String { Self.word(report.state, at: target.forge) }
    var description: String { report.description(within: Self.descriptionLimit(at: target.forge)) }

    /// The key of the status. Bitbucket Cloud's key has at most 40 characters, so a longer context is replaced by a digest; the shown name stays the
    /// context.
    var key: String {
        let limit = target.forge == .bitbucket ? 40 : 255
        if report.context.utf8.count <= limit { return report.context }
        return "martlet-" + Digest.sha256(of: Array(report.context.utf8)).prefix(32)
    }

    // MARK: - Addresses

    /// The path to which the status is posted, relative to the forge's API.
    var posting: String {
        let (path, commit) = (target.projectPath, report.commit)
        switch target.forge {
        case .github, .gitea, .forgejo: return "/repos/\(path)/statuses/\(commit)"
        case .gitlab: return "/projects/\(PercentEncoding.encode(target.project))/statuses/\(commit)"
        case .bitbucket: return "/repositories/\(path)/commit/\(commit)/statuses/build"
        case .bitbucketServer:
            return "/projects/\(path.replacing("/", with: "/repos/"))/commits/\(commit)/builds"
        }
    }

    /// The path from which the statuses of the commit are read, the newest first. `nil` at a forge where the same status sent twice counts as one.
    var reading: String? {
        let (path, commit) = (target.projectPath, report.commit)
        switch target.forge {
        case .github: return "/repos/\(path)/commits/\(commit)/statuses?per_page=30"
        case .gitea, .forgejo: return "/repos/\(path)/commits/\(commit)/statuses?limit=30&sort=recentupdate"
        case .gitlab:
            return
                "/projects/\(PercentEncoding.encode(target.project))/repository/commits/\(commit)/statuses?per_page=30&name="
                + PercentEncoding.encode(report.context)
                + (gitLabsRef.map { "&ref=" + PercentEncoding.encode($0) } ?? "")
        case .bitbucket, .bitbucketServer: return nil
        }
    }

    /// The ref of the status. GitLab distinguishes statuses by commit, name, ref and user. `nil` if the ref is neither a branch nor a tag.
    private var gitLabsRef: String? {
        report.ref.branch != nil || report.ref.tag != nil ? report.ref.shortName : nil
    }

    // MARK: - What is sent

    var fields: [String: String] {
        var fields: [String: String] = ["state": word, "description": description]
        switch target.forge {
        case .github, .gitea, .forgejo:
            fields["context"] = report.context
            fields["target_url"] = report.url
        case .gitlab:
            fields["name"] = report.context
            fields["target_url"] = report.url
            if let gitLabsRef { fields["ref"] = gitLabsRef }
        case .bitbucket:
            (fields["key"], fields["name"], fields["url"]) = (key, report.context, report.url)
            if let branch = report.ref.branch { fields["refname"] = branch }
        case .bitbucketServer:
            (fields["key"], fields["name"], fields["url"]) = (key, report.context, report.url)
            if report.ref.pullRequest == nil { fields["ref"] = report.ref.description }
        }
        return fields
    }
}
