import Model
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

    @Test func testThatAVersionIsFoundByItsPackageInAnyCase() async throws {
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
            let found = try await fixture.store.versions(of: try #require(otherCase))
            // then
            #expect(
                found.map(\.version.description) == ["1.1.0", "1.0.0"],
                "only published ones, and only those of the package")
            #expect(found.first?.registry?.description == "Acme.Kit")
        }
    }

    @Test func testThatAPackageBelongsToTheProductThatHasItFirst() async throws {
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
            // when the number was given back
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
            #expect(try await fixture.store.versions(of: try #require(otherCase)) == [record])
        }
    }
}
