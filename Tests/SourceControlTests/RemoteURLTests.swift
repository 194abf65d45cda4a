import Model
import SourceControl
import TestSupport
import Testing

@Suite struct RemoteURLTests {
    @Test(arguments: [
        ("https://github.com/acme/kit.git", "https://github.com/acme/kit.git"),
        ("HTTPS://GitHub.com:443/acme/kit", "https://github.com:443/acme/kit"),
        ("ssh://git@host:2222/srv/kit.git", "ssh://git@host:2222/srv/kit.git"),
        ("git@github.com:acme/kit.git", "git@github.com:acme/kit.git"),
        ("host:kit.git", "host:kit.git"),
        ("https://[::1]:8443/kit.git", "https://[::1]:8443/kit.git"),
        ("/srv/git/kit.git", "/srv/git/kit.git"),
        ("/srv/it's me/kit".replacing(" ", with: "_"), "/srv/it's_me/kit"),
    ])
    func testThatItAllowsTheOperatorsWays(_ text: String, _ expected: String) throws {
        #expect(try RemoteURL(text, isInsecureAllowed: false).description == expected)
    }

    /// G1 and its relatives.
    @Test(
        .threat("G1"),
        arguments: [
            "", "file:///etc", "File:///etc", "ext::sh -c touch% /tmp/p", "ExT::sh", "ext::sh", "fd::17",
            "ssh://-oProxyCommand=x/y",
            "ssh://-oProxyCommand=x@h/y", "-u./x", "--upload-pack=x", "https:///h/x", "https://h/%0a/x",
            "https://h/%0D",
            "https://user@h\nhost=evil/x", "https://h/x\u{0}", "https://user:token@h/x", "-oProxyCommand=x:y",
            "host:-x",
            "user@-oProxyCommand=x:y", "ssh://h/it's", "ssh://h/$(id)", "ssh://h/`id`", "https://h", "https://h/",
            "https://h/../x",
            "/srv/../etc", "/", "/h:x", "relative/path", "./x", "C:\\repo", "https://h:0/x", "https://h:99999/x",
            "https://h:+1/x",
            "ftp://h/x", "gopher://h/x", "javascript:alert(1)//::", "https://a..b/x", "https://h/x?y", "https://h/x#y",
            "ssh://[::1/x", "git@host::x", "\u{202e}https://h/x", " https://h/x",
        ])
    func testThatItRefuses(_ text: String) async {
        await expectRejection(SourceControlError.self, \.code, .invalidURL) {
            try RemoteURL(text, isInsecureAllowed: true)
        }
    }

    @Test(arguments: ["http://h/x", "git://h/x", "GIT://h/x"])
    func testThatItAllowsInsecureOnesOnlyWhenToldSo(_ text: String) async throws {
        let error = await expectRejection(SourceControlError.self, \.code, .invalidURL) {
            try RemoteURL(text, isInsecureAllowed: false)
        }
        expectContains("\(try #require(error))", "insecure: true")
        _ = try RemoteURL(text, isInsecureAllowed: true)
    }

    @Test func testThatItRefusesOverlongOnes() async {
        await expectRejection(SourceControlError.self, \.code, .invalidURL) {
            try RemoteURL(
                "https://h/" + String(repeating: "x", count: RepositoryAddress.maximumLength), isInsecureAllowed: true)
        }
    }

    @Test func testThatItNeverShowsAPassword() async throws {
        let error = await expectRejection(SourceControlError.self, \.code, .invalidURL) {
            try RemoteURL("https://ada:s3cret@h/x", isInsecureAllowed: false)
        }
        #expect(!"\(try #require(error))".contains("s3cret"))
    }

    @Test(arguments: [
        ("https://h/acme/My_Kit.git", "my_kit"), ("/srv/git/kit.git", "kit"), ("git@h:kit", "kit"),
        ("https://h/%E2%82%AC.git", "e2-82-ac"),
    ])
    func testThatItNamesTheRepository(_ text: String, _ name: String) throws {
        #expect(try RemoteURL(text, isInsecureAllowed: false).name.description == name)
    }
}
