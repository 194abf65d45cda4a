import Archives
import Model
import Testing

@Suite struct ArtifactNameTests {
    private let commit = CommitID("0123456789abcdef0123456789abcdef01234567")

    @Test func testThatItNamesTheSourceAndTheProducts() throws {
        // given
        let kit = try #require(Name("kit"))
        let release = try #require(Name("release"))
        let commit = try #require(commit)
        let source = try #require(ArtifactName(product: kit, kind: .source))
        let products = try #require(
            ArtifactName(product: kit, kind: .products(configuration: release, triple: "x86_64-unknown-linux-gnu")))

        // then
        #expect(source.name(of: commit) == "kit-0123456789ab-source.tar.gz")
        #expect(products.name(of: commit) == "kit-0123456789ab-release-x86_64-unknown-linux-gnu.tar.zst")
    }

    @Test(arguments: ["", "../x", "a b", "x\n", ".x", "-x", String(repeating: "x", count: 65)])
    func testThatItRefusesATripleThatIsNone(triple: String) throws {
        let kit = try #require(Name("kit"))
        #expect(ArtifactName(product: kit, kind: .products(configuration: kit, triple: triple)) == nil)
    }

    @Test(arguments: [
        ("kit-0123456789ab-source.tar.gz", "kit-1.4.2-source.tar.gz"),
        ("kit-0123456789ab-release-x.tar.zst", "kit-1.4.2-release-x.tar.zst"),
        ("kit-manual.pdf", "kit-manual.pdf"),
        ("other-0123456789ab-source.tar.gz", "other-0123456789ab-source.tar.gz"),
    ])
    func testThatItRenamesForPublishingWhatIsOurs(name: String, expected: String) throws {
        let kit = try #require(Name("kit"))
        let commit = try #require(commit)
        #expect(
            ArtifactName.published(name, product: kit, commit: commit, version: SemanticVersion(1, 4, 2)) == expected)
    }
}
