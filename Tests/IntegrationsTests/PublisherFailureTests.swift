import ArchiveSupport
import Archives
import Basics
import BotSupport
import Model
import Storage
import TestSupport
import Testing

@testable import Integrations
@testable import Jobs
@testable import Releases

/// Publishing is stopped at every place, and the daemon is started again.
@Suite struct PublisherFailureTests {
    /// After the failure the daemon is started again. Then either the same integration's trigger runs again, or the integration has
    /// ended and a user's rerun publishes the commit.
    @Test(
        .proves(
            .versions,
            "On start: reserved and there → published; reserved and not there → staged again; there without a row → adopted"
        ), arguments: [false, true], [false, true])
    func testThatTheNextStartEndsWithTheVersionOnceAndNoGap(isDoneFirst: Bool, isRerun: Bool) async throws {
        var count = 0
        var hasSucceeded = false
        while !hasSucceeded {
            count += 1
            try #require(count < 50)
            try await withTemporaryDirectory { directory in
                // given
                let log = RecordingLogger()
                let files = FailingFiles(failing: count, isDoneFirst: isDoneFirst)
                let fixture = try await PublisherFixture(directory, operations: files, log: log)
                try await fixture.work.branch("release/1.0")
                let commit = try await fixture.commit("a")
                var request = try await fixture.request(commit)

                // when
                do {
                    _ = try await fixture.publisher.publish(request)
                    hasSucceeded = !files.wasReached
                } catch is ArchiveError {}
                if isRerun { try await fixture.complete(request) }

                // then
                let again = try await fixture.restarted()
                try await again.publisher.reconcile()
                if isRerun { request = try await again.request(commit) }
                let publication = try await again.publisher.publish(request)
                #expect(["published 1.0.0", "already 1.0.0"].contains(publication.sentence), "failure \(count)")
                try await again.expectVersions(["1.0.0"])
                #expect(try await again.publish(again.commit("b")) == .published(SemanticVersion(1, 0, 1)))
                try again.store.close()
            }
        }
        #expect(count >= 10)
    }

    /// The same without a restart: the integration failed, and a user's rerun publishes the commit.
    @Test(arguments: [false, true]) func testThatARerunWithoutANewStartPublishesToo(isDoneFirst: Bool) async throws {
        for count in 1...15 {
            try await withTemporaryDirectory { directory in
                // given
                let log = RecordingLogger()
                let fixture = try await PublisherFixture(
                    directory, operations: FailingFiles(failing: count, isDoneFirst: isDoneFirst), log: log)
                try await fixture.work.branch("release/1.0")
                let commit = try await fixture.commit("a")
                let request = try await fixture.request(commit)
                do { _ = try await fixture.publisher.publish(request) } catch is ArchiveError {}
                try await fixture.complete(request)

                // when
                let publication = try await fixture.publish(commit)

                // then
                #expect(["published 1.0.0", "already 1.0.0"].contains(publication.sentence), "failure \(count)")
                let again = try await fixture.restarted()
                try await again.publisher.reconcile()
                try await again.expectVersions(["1.0.0"])
                try again.store.close()
            }
        }
    }

    /// The moves of docs/internals/architecture.md, "Publishing"; the daemon dies after the given number of them.
    @Test(
        .proves(
            .versions,
            "On start: reserved and there → published; reserved and not there → staged again; there without a row → adopted"
        ), arguments: 1...4)
    func testThatADaemonThatDiesBetweenTheMovesIsFollowedByOneThatGoesOn(moves: Int)
        async throws
    {
        try await withPublisher { fixture in
            // given
            try await fixture.work.branch("release/1.0")
            let commit = try await fixture.commit("a")
            let request = try await fixture.request(commit)
            let version = SemanticVersion(1, 0, 0)
            try await fixture.reserve(request)
            var artifact = request.files[0].artifact
            artifact.path = "kit-1.0.0-source.tar.gz"
            let manifest = VersionManifest(
                product: fixture.product, version: version, integration: request.integration.id, commit: commit,
                tree: "", ref: request.integration.ref, publishedAt: fixture.time.now, files: [artifact],
                isolation: "none")
            if moves >= 2 {
                let staged = try await fixture.versions.stage(
                    manifest, files: [StagedFile(source: request.files[0].path, artifact: artifact)])
                if moves >= 3 { _ = try await fixture.versions.publish(staged) }
            }
            if moves >= 4 {
                try await fixture.store.publish(
                    PublishedVersion(
                        product: fixture.product, version: version, integration: request.integration.id,
                        files: [artifact], publishedAt: manifest.publishedAt), at: fixture.time.now)
            }

            // when
            let again = try await fixture.restarted()
            try await again.publisher.reconcile()
            let publication = try await again.publisher.publish(request)

            // then
            #expect(publication == (moves >= 3 ? .already(version) : .published(version)))
            try await again.expectVersions(["1.0.0"])
            try again.store.close()
        }
    }

    @Test func testThatAReservationOfAnIntegrationThatEndedIsGivenUpAndItsNumberUsed() async throws {
        try await withPublisher { fixture in
            // given
            try await fixture.work.branch("release/1.0")
            let commit = try await fixture.commit("a")
            let request = try await fixture.request(commit)
            try await fixture.reserve(request)
            try await fixture.complete(request)

            // when
            try await fixture.publisher.reconcile()

            // then
            try await fixture.expectVersions([])
            #expect(try await fixture.publish(fixture.commit("b")) == .published(SemanticVersion(1, 0, 0)))
        }
    }

    /// A full disk leaves it like this, if neither the number can be released nor the row be written. There is no restart in between.
    @Test(
        .proves(
            .versions,
            "On start: reserved and there → published; reserved and not there → staged again; there without a row → adopted"
        ), arguments: [false, true])
    func testThatTheNextPublicationSettlesWhatAnEndedOneCouldNot(
        liesThere: Bool
    ) async throws {
        try await withPublisher { fixture in
            // given
            try await fixture.work.branch("release/1.0")
            let commit = try await fixture.commit("a")
            let request = try await fixture.request(commit)
            let id = request.integration.id
            try await fixture.reserve(request)
            if liesThere { try await fixture.plant("1.0.0", commit: commit, integration: id.number) }
            try await fixture.complete(request)

            // when
            let publication = try await fixture.publish(fixture.commit("b"))

            // then
            #expect(publication == .published(SemanticVersion(1, 0, liesThere ? 1 : 0)))
            try await fixture.expectVersions(liesThere ? ["1.0.0", "1.0.1"] : ["1.0.0"])
        }
    }

    /// An integration that has not ended keeps its number, because its daemon continues it.
    @Test(
        .proves(
            .versions,
            "On start: reserved and there → published; reserved and not there → staged again; there without a row → adopted"
        ))
    func testThatANumberOfOneThatHasNotEndedStaysItsOwn() async throws {
        try await withPublisher { fixture in
            // given
            try await fixture.work.branch("release/1.0")
            let commit = try await fixture.commit("a")
            let request = try await fixture.request(commit)
            try await fixture.reserve(request)

            // when, then
            #expect(try await fixture.publish(fixture.commit("b")) == .published(SemanticVersion(1, 0, 1)))
            #expect(try await fixture.publisher.publish(request) == .published(SemanticVersion(1, 0, 0)))
            try await fixture.expectVersions(["1.0.0", "1.0.1"])
        }
    }
}
