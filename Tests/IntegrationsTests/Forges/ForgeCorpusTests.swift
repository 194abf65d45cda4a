import Foundation
import Model
import Storage
import TestSupport
import Testing

@testable import Forges
@testable import Integrations

/// Every collected body of every forge.
@Suite(.proves(.intake, "Every collected body understood as its golden or its name says; every signature vector"))
struct ForgeCorpusTests {
    /// Read from the bodies with Python's json, by the forges' documentation; commits by their first seven digits. If the second part of `created`
    /// is empty, the body names no commit. A push without a ref states that something moved, but not what.
    private static let expected: [(String, String)] = [
        ("bitbucket-cloud/go-playground__issue-created", "ignored"),
        ("bitbucket-cloud/go-scm__pr_comment_deleted", "ignored"),
        ("bitbucket-cloud/go-scm__pr_fulfilled", "closed"),
        ("bitbucket-cloud/go-scm__push_branch_create", "created refs/heads/develop ..141977f"),
        ("bitbucket-cloud/go-scm__push_branch_delete", "deleted refs/heads/develop 141977f.."),
        ("bitbucket-cloud/go-scm__push_tag_delete", "deleted refs/tags/feature/x 141977f.."),
        ("bitbucket-cloud/jenkins__branch_created", "created refs/heads/feature/test ..174561d"),
        ("bitbucket-cloud/jenkins__commit_created", "push refs/heads/feature/issue-819 a101992..5ecffa3"),
        ("bitbucket-cloud/jenkins__event_pr_rejectedPayload", "ignored"),
        ("bitbucket-cloud/jenkins__event_push_emptyPayload", "push"),
        ("bitbucket-cloud/jenkins__event_push_newTagPayload", "created refs/tags/test ..fee1dcd"),
        ("bitbucket-cloud/jenkins__tag_deleted", "deleted refs/tags/test 174561d.."),
        ("bitbucket-server/go-playground__repo-comment-added", "ignored"),
        ("bitbucket-server/go-playground__repo-modified", "ignored"),
        ("bitbucket-server/go-scm__pr_declined_iso_dates", "closed"),
        ("bitbucket-server/go-scm__pr_open_iso_dates", "opened"),
        ("bitbucket-server/go-scm__push", "push refs/heads/master 5c64a07..823b223"),
        ("bitbucket-server/go-scm__push_v5", "push refs/heads/trangineni/devtfvars-1685475548410 b2b7102..51a3366"),
        ("bitbucket-server/jenkins__event_pr_newPRPayload", "opened"),
        ("bitbucket-server/jenkins__event_push_legacyPayload", "refused"),
        ("bitbucket-server/jenkins__event_push_updatePayload", "refused"),
        ("bitbucket-server/jenkins__mirrorSynchronized", "push refs/heads/main a8c13e8..9fdd7b9"),
        ("bitbucket-server/jenkins__mirrorSynchronized_refLimitExceeded", "push"),
        ("bitbucket-server/jenkins__pushPayload", "push refs/heads/main a8c13e8..9fdd7b9"),
        ("bitbucket-server/jenkins__tag_created", "created refs/tags/simple-tag ..fb522a6"),
        ("bitbucket-server/woodpecker__HookPullRequestMerged", "closed"),
        ("bitbucket-server/woodpecker__HookPush", "push refs/heads/renovate-all e0e1522..76797d5"),
        ("forgejo/woodpecker__HookPullRequestEdited", "updated"),
        ("forgejo/woodpecker__HookPullRequestLabelAdded", "ignored"),
        ("forgejo/woodpecker__HookPullRequestMerged", "closed"),
        ("forgejo/woodpecker__HookPullRequestMilestoneAdded", "ignored"),
        ("forgejo/woodpecker__HookPullRequestMilestoneCleared", "ignored"),
        ("forgejo/woodpecker__HookPushMulti", "push refs/heads/main 6efcf5b..29be01c"),
        ("gitea/go-playground__release-event", "ignored"),
        ("gitea/go-scm__pull_request_edited", "updated"),
        ("gitea/go-scm__tag_create", "created refs/tags/v1.0.0 ..599d25c"),
        ("gitea/woodpecker__HookPullRequestAddReviewRequest", "ignored"),
        ("gitea/woodpecker__HookPullRequestAssigneesAdded", "ignored"),
        ("gitea/woodpecker__HookPullRequestChangeBody", "updated"),
        ("gitea/woodpecker__HookPullRequestReopened", "reopened"),
        ("gitea/woodpecker__HookPullRequestReviewComment", "ignored"),
        ("gitea/woodpecker__HookPushMulti", "push refs/heads/main 6efcf5b..29be01c"),
        ("gitea/woodpecker__HookRelease", "ignored"),
        ("gitea/woodpecker__HookTag", "created refs/tags/v1.0.0 ..ef98532"),
        ("github/go-playground__create", "created refs/tags/0.0.1 .."),
        ("github/go-playground__page-build", "ignored"),
        ("github/go-playground__project-column", "ignored"),
        ("github/go-playground__public", "ignored"),
        ("github/go-playground__push", "push refs/heads/master 737d38c..fd48986"),
        ("github/go-scm__branch_create", "created refs/heads/feature-branch .."),
        ("github/go-scm__check_run", "ignored"),
        ("github/go-scm__comment", "ignored"),
        ("github/go-scm__merge_group_destroyed", "ignored"),
        ("github/go-scm__pr_reopened", "reopened"),
        ("github/go-scm__pr_sync", "updated"),
        ("github/go-scm__push_branch_delete", "deleted refs/heads/feature-branch d2b75aa.."),
        ("github/go-scm__release_created", "ignored"),
        ("github/go-scm__release_deleted", "ignored"),
        ("github/go-scm__release_edited", "ignored"),
        ("github/go-scm__release_released", "ignored"),
        ("github/go-scm__tag_create", "created refs/tags/v0.0.1 .."),
        ("github/octokit__check_run__rerequested.payload", "ignored"),
        ("github/octokit__delete__payload", "deleted refs/tags/simple-tag .."),
        ("github/octokit__delete__with-installation.payload", "deleted refs/tags/simple-tag .."),
        ("github/octokit__installation__created.payload", "ignored"),
        ("github/octokit__member__added.payload", "ignored"),
        ("github/octokit__ping__payload", "ping"),
        ("github/octokit__pull_request__labeled.payload", "ignored"),
        ("github/octokit__pull_request__synchronize.payload", "updated"),
        ("github/octokit__push__with-no-username-committer.payload", "created refs/heads/master ..6113728"),
        ("github/octokit__push__with-organization.payload", "deleted refs/tags/simple-tag 6113728.."),
        ("github/octokit__release__published.payload", "ignored"),
        ("github/octokit__release__released", "ignored"),
        ("github/woodpecker__HookPullRequestMilestoneAdded", "ignored"),
        ("gitlab/go-gitlab__group_merge_request", "closed"),
        ("gitlab/go-gitlab__issue", "ignored"),
        ("gitlab/go-gitlab__job", "ignored"),
        ("gitlab/go-gitlab__member", "ignored"),
        ("gitlab/go-gitlab__merge_request", "opened"),
        ("gitlab/go-gitlab__pipeline", "ignored"),
        ("gitlab/go-gitlab__system_merge_request", "updated"),
        ("gitlab/go-gitlab__system_project_destroy", "ignored"),
        ("gitlab/go-gitlab__tag_push", "created refs/tags/v1.0.0 ..82b3d5a"),
        ("gitlab/go-gitlab__wiki_page", "ignored"),
        ("gitlab/go-playground__job-event", "ignored"),
        ("gitlab/go-playground__pipeline-event", "ignored"),
        ("gitlab/go-playground__system-push-event", "push refs/heads/master 95790bf..da15608"),
        ("gitlab/go-scm__merge_request_subgroup", "opened"),
        ("gitlab/go-scm__pipeline_hook", "ignored"),
        ("gitlab/go-scm__review_comment_create", "ignored"),
        ("gitlab/go-scm__tag_delete", "deleted refs/tags/v1.0.0 2adc946.."),
        ("gitlab/woodpecker__HookPullRequestLabelsAdded", "ignored"),
        ("gitlab/woodpecker__HookPullRequestLabelsCleared", "ignored"),
        ("gitlab/woodpecker__HookPullRequestUnapproved", "ignored"),
        ("gitlab/woodpecker__HookPullRequestUnsupportedAction", "ignored"),
        ("gitlab/woodpecker__HookPullRequestUpdated", "updated"),
        ("gitlab/woodpecker__HookTag", "created refs/tags/v22 ..fabed3d"),
        ("gogs/go-scm__branch_create", "created refs/heads/feature .."),
        ("gogs/go-scm__branch_delete", "deleted refs/heads/feature .."),
        ("gogs/go-scm__issue_comment_created", "ignored"),
        ("gogs/go-scm__issues_opened", "ignored"),
        ("gogs/go-scm__pull_request_comment_deleted", "ignored"),
        ("gogs/go-scm__tag_delete", "deleted refs/tags/v1.0.0 .."),
    ]

    @Test(
        .proves(
            .intake,
            "Webhooks of GitHub: push, branch and tag created and deleted, pull request opened, updated, reopened, closed, ping"
        ), .proves(.intake, "Webhooks of GitLab: token, and Standard Webhooks signature"),
        .proves(.intake, "Webhooks of Gitea and Forgejo, also as a form; Forgejo's own header is preferred"),
        .proves(.intake, "Webhooks of Bitbucket Cloud, Bitbucket Server and Gogs"), .corpus)
    func testThatEveryBodyIsUnderstood() throws {
        let lines = try ForgeCorpus.bodies().map { "\($0.name): \(ForgeCorpus.line($0.delivery))" }.sorted()
        #expect(lines.count >= 100)
        expectEqualLines(
            lines.joined(separator: "\n"),
            Self.expected.map { "\($0.0): \($0.1)" }.sorted().joined(separator: "\n"))
    }

    /// The part that another project's tests have in common with this reader.
    private struct Golden: Decodable {
        struct Reference: Decodable {
            var name: String
            var sha: String
        }
        struct Repository: Decodable {
            var clone: String?
            var cloneSSH: String?
        }
        struct PullRequest: Decodable {}
        var ref: Either?
        var before: String?
        var after: String?
        var action: String?
        var pullRequest: PullRequest?
        var repo: Repository?

        enum Either: Decodable {
            case full(String)
            case short(Reference)

            init(from decoder: any Decoder) throws {
                do {
                    self = .full(try decoder.singleValueContainer().decode(String.self))
                } catch {
                    self = .short(try Reference(from: decoder))
                }
            }
        }
    }

    /// Turns `PullRequest` into `pullRequest`.
    private struct GoldenKey: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }
        init(stringValue: String) { self.stringValue = stringValue.prefix(1).lowercased() + stringValue.dropFirst() }
        init?(intValue: Int) { nil }
    }

    @Test(.corpus) func testThatItAgreesWithTheMeaningThatOthersGiveTheBodies() throws {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .custom { GoldenKey(stringValue: $0.last?.stringValue ?? "") }
        var count = 0
        for body in try ForgeCorpus.bodies() {
            guard let file = body.golden else { continue }
            let golden = try decoder.decode(Golden.self, from: Data(try Corpus.file(file).bytes()))
            let event = try ForgeEventReader.read(body.delivery)
            count += 1
            switch golden.ref {
            case .full(let ref):
                let claim = try #require(event.claims.first)
                #expect(claim.ref.description == ref, "\(body.name)")
                if let before = golden.before { #expect(claim.before == commit(before), "\(body.name)") }
                #expect(claim.after == commit(golden.after ?? ""), "\(body.name)")
            case .short(let reference):
                let claim = try #require(event.claims.first)
                #expect(claim.ref.shortName == reference.name, "\(body.name)")
                #expect(event.kind == (golden.action == "created" ? .created : .deleted), "\(body.name)")
                let named = golden.action == "created" ? claim.after : claim.before
                #expect(named == commit(reference.sha), "\(body.name)")
            case nil where golden.pullRequest != nil && golden.action != nil:
                let changes = [
                    "opened": "opened", "reopened": "reopened", "merged": "closed", "closed": "closed",
                    "updated": "updated", "synchronized": "updated",
                ]
                let change = ForgeEvent.PullRequestChange(rawValue: changes[golden.action ?? ""] ?? "")
                #expect(event.kind == .pullRequest(try #require(change)), "\(body.name)")
            case nil: #expect(!event.asksForScan, "\(body.name)")
            }
            for url in [golden.repo?.clone, golden.repo?.cloneSSH].compactMap(\.self) where url.contains("/") {
                #expect(event.repository.isAt(url) || event.repository.hasPath(of: url), "\(body.name): \(url)")
            }
        }
        #expect(count >= 25)
    }

    private func commit(_ text: String) -> CommitID? { CommitID(text).flatMap { $0.isZero ? nil : $0 } }
}
