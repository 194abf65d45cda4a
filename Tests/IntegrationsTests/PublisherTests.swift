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

@Suite struct PublisherTests {
    @Suite struct GivenAReleaseBranch {
        @Test(.proves(.versions, "`version: branch`: release/1.4 → 1.4.0, 1.4.1"))
        func testThatItCountsPatchesFromZero() async throws {
            try await withPublisher { fixture in
                // given
                try await fixture.work.branch("release/1.0")

                // when, then
                #expect(try await fixture.publish(fixture.commit("a")) == .published(SemanticVersion(1, 0, 0)))
                #expect(try await fixture.publish(fixture.commit("b")) == .published(SemanticVersion(1, 0, 1)))
                #expect(try await fixture.publish(fixture.commit("c")) == .published(SemanticVersion(1, 0, 2)))
                try await fixture.expectVersions(["1.0.0", "1.0.1", "1.0.2"])
            }
        }

        @Test(.proves(.versions, "Move 4: the row is published"), .proves(.triggers, "Publish"))
        func testThatItPublishesTheFilesUnderTheVersionsName() async throws {
            try await withPublisher { fixture in
                // given
                try await fixture.work.branch("release/1.0")
                let commit = try await fixture.commit("a")

                // when
                try await fixture.publish(commit, content: "the library")

                // then
                expectFile(fixture.directory.path("files/kit/1.0.0/kit-1.0.0-source.tar.gz"), "the library")
                let manifest = try #require(
                    try await fixture.versions.manifest(product: fixture.product, version: SemanticVersion(1, 0, 0)))
                #expect(manifest.commit == commit)
                #expect(manifest.ref.shortName == "release/1.0")
                #expect(manifest.isolation == "none")
            }
        }

        @Test func testThatTwoBranchesCountApart() async throws {
            try await withPublisher { fixture in
                // given
                try await fixture.work.branch("release/1.0")
                try await fixture.publish(fixture.commit("a"))
                try await fixture.work.branch("release/2.3")
                let other = RefName(branch: "release/2.3")

                // when
                let publication = try await fixture.publish(fixture.commit("b"), ref: other)

                // then
                #expect(publication == .published(SemanticVersion(2, 3, 0)))
                try await fixture.expectVersions(["1.0.0", "2.3.0"])
            }
        }

        @Test(arguments: ["main", "release/next", "release/1.0.0"])
        func testThatABranchWithoutMajorAndMinorGetsASentence(branch: String) async throws {
            try await withPublisher { fixture in
                // given
                try await fixture.work.branch(branch)
                let request = try await fixture.request(fixture.commit("a"), ref: RefName(branch: branch))

                // when, then
                await expectRejection(
                    TriggerError.self, \.description,
                    "\(branch) names no MAJOR.MINOR; name release branches such as release/1.4"
                ) { try await fixture.publisher.publish(request) }
                try await fixture.expectVersions([])
            }
        }

        @Suite struct WhenTheVersionExists {
            @Test(
                .proves(
                    .releases,
                    "Versions: Two integrations of one branch that race, a nightly run of an unchanged branch, a rerun: each ends as defined, no number twice"
                ))
            func testThatTheSameCommitIsAlreadyPublished() async throws {
                try await withPublisher { fixture in
                    // given
                    try await fixture.work.branch("release/1.0")
                    let commit = try await fixture.commit("a")
                    try await fixture.publish(commit, content: "first")

                    // when: a rerun with different bytes
                    let publication = try await fixture.publish(commit, content: "second")

                    // then
                    #expect(publication == .already(SemanticVersion(1, 0, 0)))
                    #expect(publication.sentence == "already 1.0.0")
                    try await fixture.expectVersions(["1.0.0"])
                    expectFile(fixture.directory.path("files/kit/1.0.0/kit-1.0.0-source.tar.gz"), "first")
                }
            }

            @Test(
                .proves(.versions, "`version: branch`: release/1.4 → 1.4.0, 1.4.1"),
                .proves(
                    .releases,
                    "Versions: Two integrations of one branch that race, a nightly run of an unchanged branch, a rerun: each ends as defined, no number twice"
                ))
            func testThatAnAncestorIsSuperseded() async throws {
                try await withPublisher { fixture in
                    // given
                    try await fixture.work.branch("release/1.0")
                    let (old, new) = (try await fixture.commit("a"), try await fixture.commit("b"))
                    try await fixture.publish(new)

                    // when
                    let publication = try await fixture.publish(old)

                    // then
                    #expect(publication == .superseded(by: SemanticVersion(1, 0, 0)))
                    #expect(publication.sentence == "superseded by 1.0.0")
                    try await fixture.expectVersions(["1.0.0"])
                }
            }

            @Test func testThatACommitBesideItIsTheNextVersion() async throws {
                try await withPublisher { fixture in
                    // given: the branch was rewritten
                    try await fixture.work.branch("release/1.0")
                    let base = try await fixture.commit("a")
                    try await fixture.publish(fixture.commit("b"))
                    try await fixture.work.branch("release/1.0", at: base.description)

                    // when
                    let publication = try await fixture.publish(fixture.commit("c"))

                    // then
                    #expect(publication == .published(SemanticVersion(1, 0, 1)))
                }
            }

            @Test(
                .proves(.versions, "Move 3: renamed without replacing"),
                .proves(.testsAndPages, "Suites are nested for contexts"))
            func testThatItRefusesOtherBytes() async throws {
                try await withPublisher { fixture in
                    // given: the reserved number is in the tree, made by another integration of another commit
                    try await fixture.work.branch("release/1.0")
                    let (first, second) = (try await fixture.commit("a"), try await fixture.commit("b"))
                    let request = try await fixture.request(second, content: "other")
                    _ = try await fixture.store.reserve(
                        VersionRequest(
                            product: fixture.product, integration: request.integration.id, commit: second,
                            ref: request.integration.ref,
                            source: .branch(major: 1, minor: 0, newest: nil, isAncestor: false), onDisk: []),
                        at: fixture.time.now)
                    try await fixture.plant("1.0.0", commit: first, integration: 99)

                    // when
                    let error = await #expect(throws: TriggerError.self) {
                        try await fixture.publisher.publish(request)
                    }

                    // then
                    #expect(error?.description == "kit 1.0.0 exists there already, made by kit#99")
                    expectFile(fixture.directory.path("files/kit/1.0.0/kit-1.0.0-source.tar.gz"), "planted")
                    let place = fixture.directory.path("files/kit/1.0.0")
                    #expect(try VersionCheck(of: place, signers: AllowedSigners()).problems == [])
                }
            }

            @Test func testThatATagOfAnotherCommitIsRefused() async throws {
                try await withPublisher { fixture in
                    // given
                    try await fixture.work.branch("release/1.0")
                    try await fixture.publish(fixture.commit("a"), content: "first")
                    let other = try await fixture.commit("b")
                    try await fixture.work.tag("1.0.0")
                    let request = try await fixture.request(other, ref: RefName(tag: "1.0.0"), source: .tag)

                    // when
                    let error = await #expect(throws: TriggerError.self) {
                        try await fixture.publisher.publish(request)
                    }

                    // then
                    expectContains(error?.description ?? "", "never changes")
                    try await fixture.expectVersions(["1.0.0"])
                    expectFile(fixture.directory.path("files/kit/1.0.0/kit-1.0.0-source.tar.gz"), "first")
                }
            }
        }

        @Suite struct WhenTheNumberLiesOnTheDiskAlone {
            @Test func testThatItIsNotGivenAgain() async throws {
                try await withPublisher { fixture in
                    // given: the database was lost
                    try await fixture.work.branch("release/1.0")
                    let commit = try await fixture.commit("a")
                    try await fixture.plant("1.0.7", commit: commit, integration: 99)

                    // when
                    let publication = try await fixture.publish(fixture.commit("b"))

                    // then
                    #expect(publication == .published(SemanticVersion(1, 0, 8)))
                }
            }

            @Test(
                .proves(
                    .versions,
                    "On start: reserved and there → published; reserved and not there → staged again; there without a row → adopted"
                ))
            func testThatTheNextStartAdoptsIt() async throws {
                try await withPublisher { fixture in
                    // given
                    try await fixture.work.branch("release/1.0")
                    let commit = try await fixture.commit("a")
                    try await fixture.plant("1.0.7", commit: commit, integration: 99)

                    // when
                    try await fixture.publisher.reconcile()

                    // then
                    try await fixture.expectVersions(["1.0.7"])
                    #expect(try await fixture.publish(commit) == .already(SemanticVersion(1, 0, 7)))
                    #expect(try await fixture.publish(fixture.commit("b")) == .published(SemanticVersion(1, 0, 8)))
                }
            }

            @Test func testThatAYankedOneIsAdoptedYanked() async throws {
                try await withPublisher { fixture in
                    // given
                    try await fixture.work.branch("release/1.0")
                    try await fixture.plant("1.0.7", commit: try await fixture.commit("a"), integration: 99)
                    try await fixture.versions.yank(
                        product: fixture.product, version: SemanticVersion(1, 0, 7), reason: "no", at: fixture.time.now)

                    // when
                    try await fixture.publisher.reconcile()

                    // then
                    #expect(try await fixture.store.versions(of: fixture.product).map(\.isYanked) == [true])
                }
            }
        }

        @Suite(
            .proves(
                .releases,
                "Versions: Two integrations of one branch that race, a nightly run of an unchanged branch, a rerun: each ends as defined, no number twice"
            ))
        struct WhenTwoIntegrationsRace {
            @Test func testThatEachCommitGetsANumberAndNoneIsLeftOut() async throws {
                try await withPublisher { fixture in
                    // given: commits that do not supersede each other
                    try await fixture.work.branch("release/1.0")
                    let base = try await fixture.commit("base")
                    var requests: [Publisher.Request] = []
                    for number in 1...6 {
                        try await fixture.work.branch("side-\(number)", at: base.description)
                        requests.append(try await fixture.request(fixture.commit("\(number)"), content: "\(number)"))
                    }
                    let publisher = fixture.publisher

                    // when
                    let publications = try await withThrowingTaskGroup(of: Publisher.Publication.self) { group in
                        for request in requests { group.addTask { try await publisher.publish(request) } }
                        return try await group.reduce(into: Set<String>()) { $0.insert($1.sentence) }
                    }

                    // then
                    #expect(publications == Set((0..<6).map { "published 1.0.\($0)" }))
                    try await fixture.expectVersions((0..<6).map { "1.0.\($0)" })
                }
            }

            @Test func testThatTheSameCommitIsPublishedOnce() async throws {
                try await withPublisher { fixture in
                    // given
                    try await fixture.work.branch("release/1.0")
                    let commit = try await fixture.commit("a")
                    let requests = [
                        try await fixture.request(commit, content: "x"),
                        try await fixture.request(commit, content: "y"),
                    ]
                    let publisher = fixture.publisher

                    // when
                    let publications = try await withThrowingTaskGroup(of: Publisher.Publication.self) { group in
                        for request in requests { group.addTask { try await publisher.publish(request) } }
                        return try await group.reduce(into: Set<String>()) { $0.insert($1.sentence) }
                    }

                    // then
                    #expect(publications == ["published 1.0.0", "already 1.0.0"])
                    try await fixture.expectVersions(["1.0.0"])
                }
            }
        }
    }

    @Suite struct GivenATag {
        @Test(
            .proves(.versions, "`version: tag`: 1.4.0 or v1.4.0"),
            arguments: [("1.4.0", "1.4.0"), ("v1.4.0", "1.4.0"), ("2.0.0-beta.1", "2.0.0-beta.1")])
        func testThatItsNameIsTheVersion(tag: String, version: String) async throws {
            try await withPublisher { fixture in
                // given
                let commit = try await fixture.commit("a")
                try await fixture.work.tag(tag, message: "annotated")

                // when
                let publication = try await fixture.publish(commit, ref: RefName(tag: tag), source: .tag)

                // then
                #expect(publication == .published(try fixture.version(version)))
                try await fixture.expectVersions([version])
            }
        }

        @Test(
            .proves(.versions, "`version: tag`: 1.4.0 or v1.4.0"), arguments: ["latest", "1.4", "release-1.4.0", "v"])
        func testThatANameThatIsNoVersionGetsASentence(tag: String) async throws {
            try await withPublisher { fixture in
                // given
                let commit = try await fixture.commit("a")
                try await fixture.work.tag(tag)
                let request = try await fixture.request(commit, ref: RefName(tag: tag), source: .tag)

                // when, then
                await expectRejection(
                    TriggerError.self, \.description,
                    "\(tag) is not a tag that names a version; tags such as 1.4.0 or v1.4.0 do"
                ) { try await fixture.publisher.publish(request) }
            }
        }

        @Test func testThatABranchIsNoTag() async throws {
            try await withPublisher { fixture in
                let request = try await fixture.request(
                    fixture.commit("a"), ref: RefName(branch: "main"), source: .tag)
                await #expect(throws: TriggerError.self) { try await fixture.publisher.publish(request) }
            }
        }

        @Test func testThatATagWithoutItsRowIsAConflictUntilTheNextStart() async throws {
            try await withPublisher { fixture in
                // given
                let commit = try await fixture.commit("a")
                try await fixture.work.tag("1.4.0")
                try await fixture.plant("1.4.0", commit: commit, integration: 99)
                let request = try await fixture.request(commit, ref: RefName(tag: "1.4.0"), source: .tag)

                // when, then
                let error = await #expect(throws: TriggerError.self) { try await fixture.publisher.publish(request) }
                expectContains(error?.description ?? "", "restart the daemon")
                try await fixture.publisher.reconcile()
                #expect(try await fixture.publisher.publish(request) == .already(SemanticVersion(1, 4, 0)))
            }
        }
    }

    @Test func testThatFilesThatCannotBePublishedLeaveNoNumberBehind() async throws {
        try await withPublisher { fixture in
            // given
            try await fixture.work.branch("release/1.0")
            let request = try await fixture.request(fixture.commit("a"), fileName: "manifest.json")

            // when
            await expectRejection(ArchiveError.self, \.code, .invalidName) {
                try await fixture.publisher.publish(request)
            }

            // then
            try await fixture.expectVersions([])
            #expect(try await fixture.publish(fixture.commit("b")) == .published(SemanticVersion(1, 0, 0)))
        }
    }
}
