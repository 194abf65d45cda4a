import ArchiveSupport
import Archives
import Model
import Releases
import Storage
import TestSupport
import Testing

@testable import Integrations

/// Commits of one branch that are published in another order than they were made, or more than once.
@Suite struct PublishingOrderTests {
    @Test(.proves(.releases, "Versions: `latest` never goes back when 1.2.1 follows 1.3.0"))
    func testU6ThatLatestNeverGoesBackWhenAnOlderLineIsPublishedLater() async throws {
        try await withPublisher { fixture in
            // given
            for line in ["1.2", "1.3"] {
                try await fixture.work.branch("release/\(line)")
                try await fixture.publish(fixture.commit(line), ref: RefName(branch: "release/\(line)"))
            }

            // when: 1.2.1 follows 1.3.0
            try await fixture.work.branch("release/1.2", at: "release/1.2")
            let publication = try await fixture.publish(fixture.commit("fix"), ref: RefName(branch: "release/1.2"))

            // then
            #expect(publication == .published(SemanticVersion(1, 2, 1)))
            try await fixture.expectVersions(["1.2.0", "1.2.1", "1.3.0"])
            for (range, version) in [("latest", "1.3.0"), ("~1.2", "1.2.1"), ("^1", "1.3.0")] {
                let range = try #require(VersionRange(range))
                #expect(
                    try await fixture.versions.resolve(range, product: fixture.product)?.description == version)
            }
        }
    }

    @Test(
        .proves(
            .releases,
            "Versions: Two integrations of one branch that race, a nightly run of an unchanged branch, a rerun: each ends as defined, no number twice"
        ), arguments: 0..<4)
    func testThatACommitAndItsParentThatRaceEndInOneOfTwoWays(round: Int) async throws {
        try await withPublisher { fixture in
            // given
            try await fixture.work.branch("release/1.0")
            let older = try await fixture.request(fixture.commit("a"), content: "older")
            let newer = try await fixture.request(fixture.commit("b"), content: "newer")
            let publisher = fixture.publisher

            // when
            async let one = publisher.publish(round % 2 == 0 ? older : newer)
            async let two = publisher.publish(round % 2 == 0 ? newer : older)
            let both = try await [one, two]
            let (ofOlder, ofNewer) = round % 2 == 0 ? (both[0], both[1]) : (both[1], both[0])

            // then: in order each gets its number; otherwise the older one gets none
            if ofOlder == .published(SemanticVersion(1, 0, 0)) {
                #expect(ofNewer == .published(SemanticVersion(1, 0, 1)))
                try await fixture.expectVersions(["1.0.0", "1.0.1"])
            } else {
                #expect(ofNewer == .published(SemanticVersion(1, 0, 0)))
                #expect(ofOlder == .superseded(by: SemanticVersion(1, 0, 0)))
                try await fixture.expectVersions(["1.0.0"])
            }
        }
    }

    @Test(
        .proves(
            .releases,
            "Versions: Two integrations of one branch that race, a nightly run of an unchanged branch, a rerun: each ends as defined, no number twice"
        ))
    func testThatNightlyRunsOfAnUnchangedBranchPublishNothingNew() async throws {
        try await withPublisher { fixture in
            // given
            try await fixture.work.branch("release/1.0")
            let commit = try await fixture.commit("a")
            try await fixture.publish(commit, content: "of the push")

            // when: builds of one commit with different bytes
            for night in 1...3 {
                let request = try await fixture.request(commit, content: "of night \(night)", cause: .schedule)
                #expect(try await fixture.publisher.publish(request) == .already(SemanticVersion(1, 0, 0)))
                try await fixture.complete(request)
            }

            // then
            try await fixture.expectVersions(["1.0.0"])
            expectFile(fixture.directory.path("files/kit/1.0.0/kit-1.0.0-source.tar.gz"), "of the push")
            #expect(try await fixture.publish(fixture.commit("b")) == .published(SemanticVersion(1, 0, 1)))
        }
    }
}
