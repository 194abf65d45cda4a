import Testing

@testable import Forges
@testable import Integrations

@Suite struct NamedRepositoryTests {
    @Test(arguments: [
        ("https://github.com/acme/kit.git", "github.com/acme/kit"),
        ("https://GitHub.com/Acme/Kit", "github.com/acme/kit"),
        ("https://me:word@git.example:8443/acme/kit.git/", "git.example/acme/kit"),
        ("ssh://git@git.example:2222/acme/kit", "git.example/acme/kit"),
        ("git@git.example:acme/kit.git", "git.example/acme/kit"), ("git.example:acme/kit", "git.example/acme/kit"),
        ("http://[::1]:3000/acme/kit", "[::1]/acme/kit"), ("git@git.example:/srv/kit.git", "git.example/srv/kit"),
    ])
    func testThatAllAddressesOfARepositoryAreOne(url: String, key: String) {
        #expect(NamedRepository.key(of: url) == key)
    }

    @Test(arguments: [
        "", "/", "/srv/git/kit.git", "kit", "https://", "https://git.example", "https://git.example/", ":", "://", "@:",
    ])
    func testThatWhatIsNoAddressOfAHostIsNone(url: String) { #expect(NamedRepository.key(of: url) == nil) }

    @Test func testThatOwnerAndNameAreComparedWhole() {
        let named = NamedRepository(path: "Acme/Kit")
        #expect(named.hasPath(of: "https://git.example/acme/kit.git"))
        #expect(named.hasPath(of: "/srv/git/acme/kit.git"))
        #expect(named.hasPath(of: "https://git.example/group/acme/kit"))
        #expect(!named.hasPath(of: "https://git.example/macme/kit"))
        #expect(!named.hasPath(of: "https://git.example/acme/kit2"))
        #expect(!NamedRepository(path: "kit").hasPath(of: "/srv/git/kit.git"))
        #expect(!NamedRepository(path: "").hasPath(of: "/"))
    }
}
