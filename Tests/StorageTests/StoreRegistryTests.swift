import Model
import TestSupport
import Testing

@testable import Storage

@Suite struct StoreRegistryTests {
    private let kit = PackageIdentifier("Acme.Kit")
    private let otherCase = PackageIdentifier("acme.kit")

    private func reserve(
        _ text: String, of product: String, as package: PackageIdentifier?, in fixture: StoreFixture
    ) async throws -> Reservation {
        try await fixture.store.reserve(
            VersionRequest(
                product: name(product), integration: IntegrationID(bot: name("kit"), number: 1), commit: commit(1),
                ref: .line, source: .exactly(version(text)), onDisk: [], registry: package), at: time(1))
    }

    @Test(
        .proves(
            .releases,
            "Registry: `/registry`: releases listed with links, a yanked one with its problem, in any case of letters"))
    func testThatAVersionIsFoundByItsPackageInAnyCase() async throws {
        try await withStore { fixture in
            // given
            let kit = try #require(kit)
            for text in ["1.0.0", "1.1.0"] {
                _ = try await reserve(text, of: "kit", as: kit, in: fixture)
                try await fixture.store.publish(product: name("kit"), version: version(text), files: [], at: time(2))
            }
            _ = try await reserve("1.2.0", of: "kit", as: kit, in: fixture)
            _ = try await reserve("1.3.0", of: "kit", as: nil, in: fixture)
            try await fixture.store.publish(product: name("kit"), version: version("1.3.0"), files: [], at: time(2))
            // when
            let found = try await fixture.store.outlines(of: try #require(otherCase))
            // then
            #expect(
                found.map(\.version.description) == ["1.1.0", "1.0.0"],
                "only published ones, and only those of the package")
            #expect(found.first?.registry?.description == "Acme.Kit")
        }
    }

    @Test(
        .proves(
            .releases,
            "Registry: A package belongs to one product. Another one's is an error before publishing; the owner keeps it, whatever a new file is called"
        ))
    func testThatAPackageBelongsToTheProductThatHasItFirst() async throws {
        try await withStore { fixture in
            // given
            let kit = try #require(kit)
            #expect(try await reserve("1.0.0", of: "kit", as: kit, in: fixture) == .reserved(version("1.0.0")))
            // when
            let answer = try await reserve("1.0.0", of: "app", as: otherCase, in: fixture)
            // then
            guard case .conflict(let reason) = answer else {
                Issue.record("\(answer)")
                return
            }
            #expect(reason.contains("belongs to the product kit"))
            #expect(try await fixture.store.versions(of: name("app")).isEmpty, "no number was taken")
            // when: the number was released
            try await fixture.store.abandon(product: name("kit"), version: version("1.0.0"))
            // then
            #expect(try await reserve("1.0.0", of: "app", as: otherCase, in: fixture) == .reserved(version("1.0.0")))
        }
    }

    @Test func testThatAnAdoptedVersionKeepsItsPackage() async throws {
        try await withStore { fixture in
            // given
            let record = VersionRecord(
                product: try name("kit"), version: try version("1.0.0"), state: .published, commit: try commit(7),
                ref: .line, integration: IntegrationID(bot: try name("lost"), number: 12), publishedAt: time(5),
                registry: kit)
            // when
            try await fixture.store.adopt(record, isFromBranch: true, at: time(6))
            // then
            #expect(try await fixture.store.outlines(of: try #require(otherCase)) == [record])
        }
    }

    /// The manifest counts, which is on the disk and signed, not the last reservation and its request.
    @Test(
        .proves(
            .releases,
            "Registry: A version is in it as its manifest says, whatever the bot's file says when its row is written at last"
        ))
    func testThatTheRowSaysWhatTheManifestSays() async throws {
        try await withStore { fixture in
            // given
            _ = try await reserve("1.0.0", of: "kit", as: nil, in: fixture)
            let integration = IntegrationID(bot: try name("kit"), number: 7)
            // when
            let owner = try await fixture.store.publish(
                PublishedVersion(
                    product: name("kit"), version: version("1.0.0"), integration: integration, files: [],
                    publishedAt: time(2), registry: kit, repository: "https://git.example/kit.git"), at: time(9))
            // then
            let record = try #require(try await fixture.store.versions(of: name("kit")).first)
            #expect(owner == nil)
            #expect(record.registry == kit)
            #expect(record.integration == integration)
            #expect(record.publishedAt == time(2))
            #expect(record.repository == "https://git.example/kit.git")
        }
    }

    /// It is like a tree that was joined from two services.
    @Test(
        .proves(
            .releases,
            "Registry: A package belongs to one product. Another one's is an error before publishing; the owner keeps it, whatever a new file is called"
        ), arguments: [false, true])
    func testThatAnotherProductsPackageIsNotTakenOver(isAdopted: Bool) async throws {
        try await withStore { fixture in
            // given
            let kit = try #require(kit)
            _ = try await reserve("1.0.0", of: "kit", as: kit, in: fixture)
            try await fixture.store.publish(product: name("kit"), version: version("1.0.0"), files: [], at: time(2))
            _ = try await reserve("1.0.0", of: "app", as: nil, in: fixture)
            // when
            let owner: Name?
            if isAdopted {
                owner = try await fixture.store.adopt(
                    VersionRecord(
                        product: name("app"), version: version("1.0.0"), state: .published, commit: commit(1),
                        ref: .line, integration: IntegrationID(bot: name("app"), number: 1), publishedAt: time(5),
                        registry: otherCase), isFromBranch: true, at: time(6))
            } else {
                owner = try await fixture.store.publish(
                    PublishedVersion(
                        product: name("app"), version: version("1.0.0"),
                        integration: IntegrationID(bot: name("app"), number: 1), files: [], publishedAt: time(5),
                        registry: otherCase), at: time(6))
            }
            // then
            #expect(try owner == name("kit"))
            #expect(try await fixture.store.versions(of: name("app")).map(\.state) == [.published])
            #expect(try await fixture.store.outlines(of: kit).map(\.product) == [name("kit")])
            #expect(try await fixture.store.products(of: kit) == [name("kit")])
        }
    }

    @Test(
        .proves(
            .releases, "Registry: A version stays of the repository that it was made of, wherever its bot looks today"))
    func testThatAPackageStaysOfTheRepositoriesThatItsVersionsAreOf() async throws {
        try await withStore { fixture in
            // given
            let kit = try #require(kit)
            for (text, repository) in [
                ("1.0.0", "https://git.example/kit.git"), ("1.1.0", "https://git.example/kit.git"), ("2.0.0", nil),
            ] {
                _ = try await reserve(text, of: "kit", as: kit, in: fixture)
                try await fixture.store.publish(
                    PublishedVersion(
                        product: name("kit"), version: version(text),
                        integration: IntegrationID(bot: name("kit"), number: 1), files: [], publishedAt: time(2),
                        registry: kit, repository: repository), at: time(2))
            }
            // when
            try await fixture.store.register(
                [BotSpecification(name: name("kit"), repository: "https://git.example/other.git")], at: time(3))
            // then
            let packages = try await fixture.store.packages()
            #expect(packages.map(\.repository) == ["https://git.example/kit.git"])
            #expect(packages.map(\.package) == [kit])
        }
    }
}
