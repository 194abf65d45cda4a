import ArchiveSupport
import Archives
import Basics
import BotSupport
import Model
import Releases
import Storage
import TestSupport
import Testing

@testable import Integrations

/// Versions that must not be used any more.
@Suite struct YankingTests {
    @Test func testThatYankingTakesAVersionOutOfRangesAndKeepsItsFiles() async throws {
        try await withPublisher { fixture in
            // given
            try await fixture.work.branch("release/1.0")
            try await fixture.publish(fixture.commit("a"), content: "first")
            try await fixture.publish(fixture.commit("b"))

            // when
            try await fixture.publisher.yank(product: fixture.product, version: SemanticVersion(1, 0, 1), by: "ada")

            // then
            let latest = try await fixture.versions.resolve(.latest, product: fixture.product)
            #expect(latest == SemanticVersion(1, 0, 0))
            try await fixture.expectVersions(["1.0.0", "1.0.1"])
            #expect(
                try await fixture.store.versions(of: fixture.product).filter(\.isYanked).map(\.version.patch) == [1])
            // Its number is not used again.
            #expect(try await fixture.publish(fixture.commit("c")) == .published(SemanticVersion(1, 0, 2)))
            await expectRejection(YankError.self, \.code, .notFound) {
                try await fixture.publisher.yank(product: fixture.product, version: SemanticVersion(9, 0, 0), by: "ada")
            }
        }
    }

    /// Users want to remove exactly such a version from `latest`.
    @Test(
        .proves(
            .releases,
            "Versions: A version whose `manifest.json` is damaged can be yanked; one that is not published whole says what to do"
        ))
    func testThatADamagedVersionCanBeYanked() async throws {
        try await withPublisher { fixture in
            // given
            try await fixture.work.branch("release/1.0")
            try await fixture.publish(fixture.commit("a"))
            try fixture.directory.write("files/kit/1.0.0/manifest.json", "{")

            // when
            try await fixture.publisher.yank(product: fixture.product, version: SemanticVersion(1, 0, 0), by: "ada")

            // then
            #expect(try await fixture.store.versions(of: fixture.product).map(\.isYanked) == [true])
            #expect(try await fixture.versions.resolve(.latest, product: fixture.product) == nil)
        }
    }

    /// A retry would not help.
    @Test(
        .proves(
            .releases,
            "Versions: A version whose `manifest.json` is damaged can be yanked; one that is not published whole says what to do"
        ))
    func testThatADamagedListOfYankedVersionsIsNamed() async throws {
        try await withPublisher { fixture in
            // given
            try await fixture.work.branch("release/1.0")
            try await fixture.publish(fixture.commit("a"))
            try fixture.directory.write("files/kit/yanked.json", "{")
            fixture.log.expectErrors(containing: "could not be yanked")

            // when
            let error = await #expect(throws: YankError.self) {
                try await fixture.publisher.yank(product: fixture.product, version: SemanticVersion(1, 0, 0), by: "ada")
            }

            // then
            #expect(error?.code == .unavailable)
            expectContains(error?.message ?? "", "yanked.json of kit is damaged; restore it from a backup")
            #expect(try await fixture.store.versions(of: fixture.product).map(\.isYanked) == [false])
        }
    }

    /// Its row could not be written: the next start adopts it, yanked.
    @Test(
        .proves(
            .releases,
            "Versions: A version whose `manifest.json` is damaged can be yanked; one that is not published whole says what to do"
        ))
    func testThatAVersionThatIsNotPublishedWholeSaysWhatToDo() async throws {
        try await withPublisher { fixture in
            // given
            try await fixture.work.branch("release/1.0")
            try await fixture.plant("1.0.0", commit: try await fixture.commit("a"), integration: 99)

            // when
            let error = await #expect(throws: YankError.self) {
                try await fixture.publisher.yank(product: fixture.product, version: SemanticVersion(1, 0, 0), by: "ada")
            }

            // then
            #expect(error?.code == .unavailable)
            expectContains(error?.message ?? "", "restart the daemon")
            try await fixture.publisher.reconcile()
            #expect(try await fixture.store.versions(of: fixture.product).map(\.isYanked) == [true])
        }
    }
}
