import Settings
import TestSupport
import Testing

@Suite struct PublicAddressTests {
    @Test(
        .proves(
            .releases, "Registry: A version stays of the repository that it was made of, wherever its bot looks today"),
        arguments: [
            ("https://git.example/acme/kit.git", "https://git.example/acme/kit.git"),
            ("https://ghp_token@git.example:8443/acme/kit.git", "https://git.example:8443/acme/kit.git"),
            ("https://git.example/acme/kit.git?token=x#y", "https://git.example/acme/kit.git"),
            ("https://git@git.example/acme/kit.git", "https://git.example/acme/kit.git"),
            ("ssh://git@git.example/acme/kit.git", "ssh://git@git.example/acme/kit.git"),
            ("ssh://ann@git.example:29418/kit", "ssh://git.example:29418/kit"),
            ("git@git.example:acme/kit.git", "ssh://git@git.example/acme/kit.git"),
            ("git@git.example:/srv/kit.git", "ssh://git@git.example/srv/kit.git"),
            ("token@git.example:acme/kit.git", "ssh://git.example/acme/kit.git"),
            ("git.example:acme/kit.git", "ssh://git.example/acme/kit.git"),
            ("/srv/kit.git", nil), ("file:///srv/kit.git", nil), ("", nil), ("kit", nil), ("https://", nil),
        ])
    func testThatItHasNoSecretAndLeadsThere(repository: String, told: String?) {
        #expect(PublicAddress.of(repository) == told)
    }
}
