import Model
import TestSupport
import Testing

@Suite struct RepositoryAddressTests {
    @Test(arguments: HostileAddresses.allowed)
    func testThatItAllowsTheOperatorsWays(_ text: String) throws {
        #expect(try RepositoryAddress(text, isInsecureAllowed: false).description == text)
    }

    @Test func testThatSchemeAndHostAreInLowerCase() throws {
        let address = try RepositoryAddress("HTTPS://Ada@GitHub.com:8443/Acme/Kit", isInsecureAllowed: false)
        #expect(address.description == "https://Ada@github.com:8443/Acme/Kit")
        #expect((address.user, address.host, address.port, address.path) == ("Ada", "github.com", 8443, "/Acme/Kit"))
    }

    /// G1.
    @Test(
        .proves(
            .sourceControl,
            "One parser reads all repository addresses, so bot files, `lint`, `init`, submodules, the registry and git refuse the same ones (G1)"
        ), arguments: HostileAddresses.refused)
    func testThatG1AHostileOneIsRefused(_ text: String, _ answer: String) {
        let refusal = #expect(throws: RepositoryAddress.Refusal.self) {
            try RepositoryAddress(text, isInsecureAllowed: true)
        }
        expectContains(refusal?.description ?? "", answer)
    }

    @Test(arguments: ["http://h/x", "git://h/x", "GIT://h/x"])
    func testThatInsecureOnesAreAllowedOnlyWhereItIsSaid(_ text: String) throws {
        #expect(throws: RepositoryAddress.Refusal.self) { try RepositoryAddress(text, isInsecureAllowed: false) }
        _ = try RepositoryAddress(text, isInsecureAllowed: true)
    }

    @Test func testThatTheLongestHasItsLimit() throws {
        let beginning = "https://h/"
        let rest = RepositoryAddress.maximumLength - beginning.utf8.count
        _ = try RepositoryAddress(beginning + String(repeating: "x", count: rest), isInsecureAllowed: false)
        #expect(throws: RepositoryAddress.Refusal.self) {
            try RepositoryAddress(beginning + String(repeating: "x", count: rest + 1), isInsecureAllowed: false)
        }
    }

    @Test(
        .proves(
            .sourceControl,
            "One parser reads all repository addresses, so bot files, `lint`, `init`, submodules, the registry and git refuse the same ones (G1)"
        ), arguments: HostileAddresses.refused.map(\.text) + HostileAddresses.allowed)
    func testThatWhatIsShownHasNoPasswordAndIsOneLine(_ text: String) {
        let shown = RepositoryAddress.shown(text)
        #expect(!shown.contains("hunter2"))
        #expect(!shown.unicodeScalars.contains { $0.isHiddenInText })
    }
}
