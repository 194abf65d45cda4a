import BotSupport
import Model
import SourceControl
import Storage
import TestSupport
import Testing

@testable import Integrations
@testable import Releases

/// The list of changes in a version's manifest.
@Suite(.proves(.releases, "Registry: A version's page: what changed since the version before, as its manifest has it"))
struct PublisherChangesTests {
    private func changes(_ fixture: PublisherFixture, _ patch: Int) async throws -> VersionChanges? {
        try #require(
            try await fixture.versions.manifest(
                product: fixture.product, version: SemanticVersion(1, 0, VersionNumber(patch)))
        ).changes
    }

    @Test func testThatTheFirstVersionHasNoneAndTheNextItsCommits() async throws {
        try await withPublisher { fixture in
            // given
            try await fixture.work.branch("release/1.0")
            try await fixture.publish(fixture.commit("a"))
            let first = try await fixture.work.commit(files: ["x": "1"], message: "Read the header first\n\nBody.")
            let second = try await fixture.work.commit(
                files: ["x": "2"], message: String(repeating: "long ", count: 100))
            // when
            try await fixture.publish(second)
            // then
            #expect(try await changes(fixture, 0) == nil)
            let found = try #require(try await changes(fixture, 1))
            #expect(found.since == SemanticVersion(1, 0, 0))
            #expect(found.commits.map(\.id) == [second, first])
            #expect(found.commits.last?.subject == "Read the header first")
            #expect(found.commits.first?.subject.unicodeScalars.count == VersionChanges.maximumText)
            #expect(!found.isCut)
        }
    }

    @Test func testThatALongListIsCut() async throws {
        try await withPublisher { fixture in
            // given
            try await fixture.work.branch("release/1.0")
            try await fixture.publish(fixture.commit("a"))
            try await fixture.work.commits(VersionChanges.maximumCommits, on: "release/1.0")
            // when
            try await fixture.publish(fixture.commit("last"))
            // then
            let found = try #require(try await changes(fixture, 1))
            #expect(found.commits.count == VersionChanges.maximumCommits)
            #expect(found.isCut)
        }
    }

    /// The history was rewritten: the earlier version's commit is no longer in the repository.
    @Test func testThatAnUnknownCommitBeforeHoldsUpNothing() async throws {
        try await withPublisher { fixture in
            // given
            try await fixture.work.branch("release/1.0")
            let commit = try await fixture.commit("a")
            try await fixture.plant(
                "1.0.0", commit: try #require(CommitID(String(repeating: "9", count: 40))), integration: 1)
            try await fixture.publisher.reconcile()
            // when
            let publication = try await fixture.publish(commit)
            // then
            #expect(publication == .published(SemanticVersion(1, 0, 1)))
            #expect(try await changes(fixture, 1) == nil)
        }
    }
}
