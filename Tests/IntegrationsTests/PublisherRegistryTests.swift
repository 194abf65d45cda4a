import ArchiveSupport
import Archives
import Basics
import BotSupport
import Foundation
import Model
import SourceControl
import Storage
import TestSupport
import Testing

@testable import Integrations
@testable import Releases

/// The effect of `publish: { registry: … }` on a version.
@Suite struct PublisherRegistryTests {
    private static let manifest =
        "// swift-tools-version:6.0\nimport PackageDescription\nlet package = Package(name: \"Kit\")\n"

    private static func files(_ more: [String: String] = [:]) -> [String: String] {
        [
            "Package.swift": manifest, "Package@swift-5.9.swift": "// swift-tools-version:5.9\n",
            "Sources/Kit/Kit.swift": "public let kit = 1\n", "run.sh": "#!/bin/sh\n",
        ].merging(more) { _, new in new }
    }

    private func package() throws -> PackageIdentifier { try #require(PackageIdentifier("Acme.Kit")) }

    @Test(
        .proves(
            .releases,
            "Registry: `publish: { version: branch, registry: acme.kit }` fills it from the commit, whole or not at all"
        ))
    func testThatTheVersionHasTheCommitsArchiveAndManifests() async throws {
        try await withPublisher { fixture in
            // given
            try await fixture.work.branch("release/1.0")
            let commit = try await fixture.work.commit(files: Self.files())
            let request = try await fixture.request(commit, registry: package())
            // when
            let publication = try await fixture.publisher.publish(request)
            // then
            #expect(publication == .published(SemanticVersion(1, 0, 0)))
            try await fixture.expectVersions(["1.0.0"])
            let place = fixture.directory.path("files/kit/1.0.0")
            let manifest = try #require(
                try await fixture.versions.manifest(product: fixture.product, version: SemanticVersion(1, 0, 0)))
            #expect(manifest.registry?.description == "Acme.Kit")
            #expect(
                manifest.files.map(\.path) == [
                    "Kit-1.0.0.zip", "Package.swift", "Package@swift-5.9.swift", "kit-1.0.0-source.tar.gz",
                ])
            let names = try await runExpectingSuccess(["unzip", "-Z1", "\(place)/Kit-1.0.0.zip"])
            #expect(
                names.split(separator: "\n").sorted() == [
                    "Kit/", "Kit/Package.swift", "Kit/Package@swift-5.9.swift", "Kit/Sources/", "Kit/Sources/Kit/",
                    "Kit/Sources/Kit/Kit.swift", "Kit/run.sh",
                ])
            let inside = try await runExpectingSuccess(
                ["unzip", "-p", "\(place)/Kit-1.0.0.zip", "Kit/Package.swift"])
            #expect(inside == Self.manifest)
            #expect(try WholeFile.read("\(place)/Package.swift", limit: 1 << 16) == Array(Self.manifest.utf8))
            #expect(try await fixture.store.outlines(of: package()).count == 1)
            let stored = try await fixture.store.version(SemanticVersion(1, 0, 0), of: package())
            #expect(stored.map { Set($0.files) } == Set(manifest.files))
        }
    }

    /// The archive depends only on the commit: another publisher at another time makes the same bytes.
    @Test(
        .proves(
            .releases,
            "Registry: `publish: { version: branch, registry: acme.kit }` fills it from the commit, whole or not at all"
        ))
    func testThatOneCommitMakesTheSameBytes() async throws {
        try await withPublisher { fixture in
            // given
            let commit = try await fixture.work.commit(files: Self.files())
            try await fixture.mirror.fetch(try await fixture.mirror.scan().heads)
            // when
            var digests: Set<String> = []
            for _ in 0..<2 {
                let scratch = fixture.versions.scratch()
                try await fixture.mirror.export(commit, into: scratch)
                let made = try await fixture.versions.packSource(
                    tree: scratch, top: "Kit", fileName: "Kit-1.0.0.zip",
                    modified: Timestamp(secondsSinceEpoch: 1_772_366_400))
                digests.insert(made.files[0].artifact.sha256)
                try await fixture.versions.removeScratch(scratch)
            }
            // then
            #expect(digests.count == 1)
            try await fixture.expectVersions([])
        }
    }

    @Test(
        .proves(
            .releases,
            "Registry: `publish: { version: branch, registry: acme.kit }` fills it from the commit, whole or not at all"
        ),
        arguments: [
            (0, 0, "has no Package.swift in its root"), (1, 2 << 20, "is larger than"),
            (33, 1, "has more than 32 manifests"),
        ])
    func testThatWhatIsNoPackageGetsNoNumber(count: Int, size: Int, reason: String) async throws {
        try await withPublisher { fixture in
            // given
            try await fixture.work.branch("release/1.0")
            var files = ["README": "x"]
            for number in 0..<count {
                files[number == 0 ? "Package.swift" : "Package@swift-5.\(number).swift"] = String(
                    repeating: "/", count: size)
            }
            let commit = try await fixture.work.commit(files: files)
            let request = try await fixture.request(commit, registry: package())
            // when
            let error = await #expect(throws: TriggerError.self) { try await fixture.publisher.publish(request) }
            // then
            #expect(error?.description.contains(reason) == true, "\(error?.description ?? "")")
            try await fixture.expectVersions([])
        }
    }

    @Test(
        .proves(
            .releases,
            "Registry: `publish: { version: branch, registry: acme.kit }` fills it from the commit, whole or not at all"
        ))
    func testThatALinkIsNoManifest() async throws {
        try await withPublisher { fixture in
            // given
            try await fixture.work.branch("release/1.0")
            try FileManager.default.createSymbolicLink(
                atPath: fixture.directory.path("work/Package.swift"), withDestinationPath: "/etc/passwd")
            try await fixture.work.git("add", "Package.swift")
            let commit = try await fixture.work.commit(files: ["README": "x"])
            let request = try await fixture.request(commit, registry: package())
            // when / then
            await #expect(throws: TriggerError.self) { try await fixture.publisher.publish(request) }
            try await fixture.expectVersions([])
        }
    }

    @Test(
        .proves(
            .releases,
            "Registry: A package belongs to one product. Another one's is an error before publishing; the owner keeps it, whatever a new file is called"
        ))
    func testThatAPackageOfAnotherProductIsRefusedBeforeAnythingIsPublished() async throws {
        try await withPublisher { fixture in
            // given
            try await fixture.work.branch("release/1.0")
            let commit = try await fixture.work.commit(files: Self.files())
            _ = try await fixture.publisher.publish(try await fixture.request(commit, registry: package()))
            var request = try await fixture.request(commit, registry: package())
            request.product = try Samples.name("app")
            // when
            let error = await #expect(throws: TriggerError.self) { try await fixture.publisher.publish(request) }
            // then
            #expect(error?.description.contains("belongs to the product kit") == true)
            #expect(try await fixture.store.versions(of: request.product).isEmpty)
            #expect(try await fixture.versions.versions(of: request.product).isEmpty)
        }
    }

    /// As for every version: if the daemon stops at any file operation and starts again, the version exists once and complete, with its archive.
    @Test(
        .proves(
            .releases,
            "Registry: `publish: { version: branch, registry: acme.kit }` fills it from the commit, whole or not at all"
        ), arguments: [false, true])
    func testThatAStoppedPublishEndsWithTheArchiveOnce(isDoneFirst: Bool) async throws {
        var count = 0
        var hasSucceeded = false
        while !hasSucceeded {
            count += 1
            try #require(count < 60)
            try await withTemporaryDirectory { directory in
                // given
                let files = FailingFiles(failing: count, isDoneFirst: isDoneFirst)
                let fixture = try await PublisherFixture(directory, operations: files, log: RecordingLogger())
                try await fixture.work.branch("release/1.0")
                let commit = try await fixture.work.commit(files: Self.files())
                let request = try await fixture.request(commit, registry: package())
                // when
                do {
                    _ = try await fixture.publisher.publish(request)
                    hasSucceeded = !files.wasReached
                } catch is ArchiveError {}
                // then
                let again = try await fixture.restarted()
                try await again.publisher.reconcile()
                _ = try await again.publisher.publish(request)
                try await again.expectVersions(["1.0.0"])
                let stored = try await again.store.version(SemanticVersion(1, 0, 0), of: package())
                #expect(stored?.files.map(\.path).contains("Kit-1.0.0.zip") == true, "failure \(count)")
                try again.store.close()
            }
        }
        #expect(count >= 13)
    }

    @Test(
        .proves(
            .releases,
            "Registry: `publish: { version: branch, registry: acme.kit }` fills it from the commit, whole or not at all"
        ))
    func testThatALostDatabaseLosesNoPackage() async throws {
        try await withPublisher { fixture in
            // given
            try await fixture.work.branch("release/1.0")
            let commit = try await fixture.work.commit(files: Self.files())
            _ = try await fixture.publisher.publish(try await fixture.request(commit, registry: package()))
            try fixture.store.close()
            for name in try Directory(opening: fixture.directory.path).entries().map(\.name)
            where name.hasPrefix("martlet.sqlite") {
                try FileManager.default.removeItem(atPath: fixture.directory.path(name))
            }
            // when
            let again = try await PublisherFixture(
                fixture.directory, work: fixture.work, time: fixture.time, log: fixture.log)
            try await again.publisher.reconcile()
            // then
            #expect(try await again.store.outlines(of: package()).map(\.version) == [SemanticVersion(1, 0, 0)])
            try again.store.close()
        }
    }

    /// The directory was moved into place and its row could not be written. Then `registry:` was added or removed, and the triggers were run
    /// again: by another integration, or after a restart of the daemon.
    @Test(
        .proves(
            .releases,
            "Registry: A version is in it as its manifest says, whatever the bot's file says when its row is written at last"
        ), arguments: [false, true], [false, true])
    func testThatTheRowIsAsTheManifestThatLiesThere(wasInRegistry: Bool, isRestarted: Bool) async throws {
        try await withPublisher { fixture in
            // given
            try await fixture.work.branch("release/1.0")
            let commit = try await fixture.work.commit(files: Self.files())
            let request = try await fixture.request(commit, registry: wasInRegistry ? nil : package())
            _ = try await fixture.store.reserve(
                VersionRequest(
                    product: fixture.product, integration: request.integration.id, commit: commit,
                    ref: request.integration.ref, source: .branch(major: 1, minor: 0, newest: nil, isAncestor: false),
                    onDisk: [], registry: request.registry), at: fixture.time.now)
            let manifest = try await fixture.plant(
                "1.0.0", commit: commit, integration: 99, registry: wasInRegistry ? package() : nil,
                repository: "https://git.example/kit.git")
            fixture.time.advance(by: .seconds(3600))
            // when
            if isRestarted {
                try await fixture.publisher.reconcile()
            } else {
                #expect(try await fixture.publisher.publish(request) == .published(SemanticVersion(1, 0, 0)))
            }
            // then
            let record = try #require(try await fixture.store.versions(of: fixture.product).first)
            #expect(record.state == .published)
            #expect(record.registry == manifest.registry)
            #expect(record.integration == manifest.integration)
            #expect(record.publishedAt == manifest.publishedAt)
            #expect(record.repository == "https://git.example/kit.git")
            #expect(record.files == manifest.files)
        }
    }

    /// The repository of the commit stays with the version, without a possible token, because the bot's repository can change.
    @Test(
        .proves(
            .releases, "Registry: A version stays of the repository that it was made of, wherever its bot looks today"))
    func testThatTheVersionSaysItsRepository() async throws {
        try await withPublisher { fixture in
            // given
            try await fixture.work.branch("release/1.0")
            let commit = try await fixture.work.commit(files: Self.files())
            var request = try await fixture.request(commit, registry: package())
            request.bot.repository = "https://ghp_secret@git.example/acme/kit.git"
            // when
            _ = try await fixture.publisher.publish(request)
            // then
            let manifest = try await fixture.versions.manifest(
                product: fixture.product, version: SemanticVersion(1, 0, 0))
            #expect(manifest?.repository == "https://git.example/acme/kit.git")
            #expect(
                try await fixture.store.outlines(of: package()).map(\.repository)
                    == ["https://git.example/acme/kit.git"])
        }
    }

    /// In a tree that was joined from two services, the package belongs to its owner, and the other's version is there without it.
    @Test(
        .proves(
            .releases,
            "Registry: A package belongs to one product. Another one's is an error before publishing; the owner keeps it, whatever a new file is called"
        ))
    func testThatAnAdoptedVersionTakesNoOtherProductsPackage() async throws {
        try await withPublisher { fixture in
            // given
            try await fixture.work.branch("release/1.0")
            let commit = try await fixture.work.commit(files: Self.files())
            _ = try await fixture.publisher.publish(try await fixture.request(commit, registry: package()))
            let app = try Samples.name("app")
            try await fixture.plant("2.0.0", of: app, commit: commit, integration: 1, registry: package())
            // when
            try await fixture.publisher.reconcile()
            // then
            #expect(try await fixture.store.versions(of: app).map(\.registry) == [nil])
            #expect(try await fixture.store.outlines(of: package()).map(\.product) == [fixture.product])
            #expect(
                fixture.log.lines.contains {
                    $0.description.contains("not in the package registry") && $0.description.contains("owner=kit")
                })
        }
    }

    @Test(
        .proves(
            .releases,
            "Registry: `publish: { version: branch, registry: acme.kit }` fills it from the commit, whole or not at all"
        ))
    func testThatALinkThatLeadsOutIsSaidToBeMissing() async throws {
        try await withPublisher { fixture in
            // given
            try await fixture.work.branch("release/1.0")
            try FileManager.default.createSymbolicLink(
                atPath: fixture.directory.path("work/out"), withDestinationPath: "/etc/passwd")
            try await fixture.work.git("add", "out")
            let commit = try await fixture.work.commit(files: Self.files())
            // when
            _ = try await fixture.publisher.publish(try await fixture.request(commit, registry: package()))
            // then
            #expect(
                fixture.log.lines.contains {
                    $0.description.contains("does not have all of the commit") && $0.description.contains("out")
                })
        }
    }

    /// A published version never changes, even if `registry:` is added later.
    @Test(
        .proves(
            .releases,
            "Registry: `registry:` that comes after a commit was published is said, not silently without effect"),
        arguments: [
            (nil, "which is not in the package registry; the next version will be"),
            ("acme.old", "which is in the package registry as acme.old; the next version has the new name"),
            ("acme.kit", nil),
        ] as [(String?, String?)])
    func testThatWhatWasPublishedBeforeSaysThatItIsNotInTheRegistry(
        before: String?, said: String?
    ) async throws {
        try await withPublisher { fixture in
            // given
            try await fixture.work.branch("release/1.0")
            let commit = try await fixture.work.commit(files: Self.files())
            _ = try await fixture.publisher.publish(
                try await fixture.request(commit, registry: before.flatMap { PackageIdentifier($0) }))
            // when
            let publication = try await fixture.publisher.publish(
                try await fixture.request(commit, registry: package()))
            // then
            #expect(publication.sentence == "already 1.0.0" + (said.map { ", \($0)" } ?? ""))
            #expect(publication.version == SemanticVersion(1, 0, 0))
            try await fixture.expectVersions(["1.0.0"])
        }
    }
}
