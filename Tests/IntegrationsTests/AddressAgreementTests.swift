import Model
import Settings
import SourceControl
import TestSupport
import Testing

/// Every reader of repository addresses decides alike: an address that `martlet lint` accepts can be fetched, and one that a fetch refuses was
/// refused by `martlet lint`.
@Suite(
    .proves(
        .sourceControl,
        "One parser reads all repository addresses, so bot files, `lint`, `init`, submodules, the registry and git refuse the same ones (G1)"
    ))
struct AddressAgreementTests {
    /// - Returns: The messages of lint for a bot file with this address.
    private func lint(_ text: String) -> [String] {
        let quoted = "\"" + text.unicodeScalars.map(Self.escaped).joined() + "\""
        return Lint.file(path: "bots/kit.yml", text: "repository: \(quoted)\ninsecure: true\n").map(\.message)
    }

    /// Returns the character's escape between double quotes in YAML.
    private static func escaped(_ scalar: Unicode.Scalar) -> String {
        if scalar == "\"" || scalar == "\\" { return "\\\(scalar)" }
        let digits = String(scalar.value, radix: 16)
        return scalar.value < 0x20 || scalar.value > 0x7E
            ? "\\U" + String(repeating: "0", count: 8 - digits.count) + digits : String(scalar)
    }

    /// G1.
    @Test(arguments: HostileAddresses.refused)
    func testThatG1EveryReaderRefusesAHostileOne(_ text: String, _ answer: String) async throws {
        // bot files, and the command that lints them
        #expect(!lint(text).isEmpty)
        // git
        let error = await expectRejection(SourceControlError.self, \.code, .invalidURL) {
            try RemoteURL(text, isInsecureAllowed: true)
        }
        #expect(error.map { "\($0)".contains("hunter2") } == false)
        // `martlet init`, the package registry's `?url=`, and the requests to forges
        #expect(InitTemplate.problem(with: text) != nil)
        #expect(RepositoryPlace(text) == nil)
    }

    @Test(arguments: HostileAddresses.allowed)
    func testThatEveryReaderAllowsTheOperatorsWays(_ text: String) throws {
        #expect(lint(text) == [])
        #expect(InitTemplate.problem(with: text) == nil)
        let url = try RemoteURL(text, isInsecureAllowed: false)
        #expect(url.description == text)
        #expect((RepositoryPlace(text) == nil) == (url.kind == .path))
    }
}
