import Model
import Storage
import TestSupport
import Testing

@testable import Forges
@testable import Integrations

@Suite(
    .proves(
        .intake,
        "What was skipped or canceled is green at no forge; a head's pull requests into two branches have statuses of their own"
    ))
struct ForgeStatusWordsTests {
    @Test(arguments: [StatusForge.github, .gitlab, .gitea, .forgejo, .bitbucket, .bitbucketServer])
    func testThatOnlyWhatWasJudgedIsGreen(_ forge: StatusForge) {
        let green = ForgeStatusRequest.word(.success, at: forge)
        for state in [StatusReport.State.pending, .running, .skipped, .canceled, .failure, .error] {
            #expect(ForgeStatusRequest.word(state, at: forge) != green, "\(state)")
        }
    }

    /// Otherwise a base with a laxer recipe could turn another base's status green.
    @Test func testThatOneHeadsPullRequestsIntoTwoBranchesAreToldApart() throws {
        let commit = try #require(CommitID(String(repeating: "a", count: 40)))
        let scopes = ["refs/heads/main", "refs/heads/release/1.0", nil].map { base in
            OutboxContent(
                moment: .queued, commit: commit, ref: RefName("refs/pull/1/merge"), base: base.map { RefName($0) },
                at: Timestamp(secondsSinceEpoch: 1)
            ).scope
        }
        #expect(scopes == [":pull/main", ":pull/release/1.0", ""])
    }
}
