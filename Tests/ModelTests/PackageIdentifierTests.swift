import Foundation
import Model
import TestSupport
import Testing

@Suite struct PackageIdentifierTests {
    /// The rules of "Swift Package Registry Service Specification", 3.6.1 and 3.6.2.
    @Test(arguments: [
        "acme.kit", "mona.LinkedList", "a.b", "a-b.c-d_e", "1.2", "A1-B2.c3",
        String(repeating: "s", count: 39) + "." + String(repeating: "n", count: 100),
    ]) func testThatItReads(text: String) throws {
        #expect(try #require(PackageIdentifier(text)).description == text)
    }

    @Test(arguments: [
        "", ".", "acme", "acme.", ".kit", "acme.kit.more", "-acme.kit", "acme-.kit", "ac--me.kit", "ac_me.kit",
        "acme._kit",
        "acme.kit_", "acme.k--t", "acme.k-_t", "acme.kït", "acme.k t", "acme/kit", "acme.kit\n",
        String(repeating: "s", count: 40) + ".n", "s." + String(repeating: "n", count: 101),
    ]) func testThatItRefuses(text: String) {
        #expect(PackageIdentifier(text) == nil)
    }

    @Test func testThatCaseMakesNoOther() throws {
        // given
        let (upper, lower) = (try #require(PackageIdentifier("Acme.KIT")), try #require(PackageIdentifier("acme.kit")))
        // then
        #expect(upper == lower)
        #expect(Set([upper, lower]).count == 1)
        #expect(upper.description == "Acme.KIT")
        #expect(
            try JSONDecoder().decode(PackageIdentifier.self, from: JSONEncoder().encode(upper)).description
                == "Acme.KIT")
    }
}

@Suite struct ManifestNameTests {
    @Test(arguments: [
        ("Package@swift-5.swift", [5, 0, 0]), ("Package@swift-5.9.swift", [5, 9, 0]),
        ("Package@swift-6.1.2.swift", [6, 1, 2]),
    ]) func testThatItReadsTheNumbers(name: String, numbers: [Int]) throws {
        #expect(try #require(ManifestName(name)).swift == numbers)
    }

    @Test(arguments: [
        "package.swift", "Package@swift-.swift", "Package@swift-5.9.1.2.swift", "Package@swift-5..swift",
        "Package@swift-x.swift", "Package@swift-5.9.swift.orig", "Package.resolved",
        "Package@swift-99999999999999999999999.swift",
    ]) func testThatItRefuses(name: String) {
        #expect(ManifestName(name) == nil)
    }

    @Test func testThatTheUsualOneComesFirst() {
        let names = ["Package@swift-5.10.swift", "Package@swift-5.9.swift", "Package.swift"].compactMap {
            ManifestName($0)
        }
        #expect(names.sorted().map(\.description) == names.reversed().map(\.description))
    }

    @Test(
        .proves(.releases, "Registry: `/registry`: manifests by tools version"),
        arguments: [
            ("// swift-tools-version:5.9\nimport PackageDescription", "5.9"), ("// swift-tools-version: 6.0", "6.0"),
            ("//swift-tools-version:5.3.1;experimental", "5.3.1"), ("// Swift-Tools-Version:4\r\n", "4.0"),
            ("\n  \n// swift-tools-version:5.9", "5.9"), ("// a license\n// swift-tools-version:6.0\n", "6.0"),
            ("import PackageDescription\n// swift-tools-version:5.9", "3.1"), ("", "3.1"),
            ("// swift-tools-version:\"evil\", <x>", "3.1"),
        ])
    func testThatItReadsTheToolsVersion(text: String, version: String) {
        #expect(ManifestName.toolsVersion(of: Array(text.utf8)) == version)
    }
}
