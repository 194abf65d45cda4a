import Basics
import Glibc
import Model
import SourceControl
import TestSupport
import Testing

/// Tests with a real OpenSSH that runs git-shell, and with gitolite.
@Suite(.enabled(if: GitSSHServer.isPossible, "needs sshd and an account that may log in: deploy/packages --test"))
struct GitSSHTests {
    static func mirror(
        _ server: GitSSHServer, _ path: String, _ credentials: Credentials, engine: GitEngine = .automatic,
        in name: String = "mirrors"
    ) throws -> Mirror {
        let url = try RemoteURL("ssh://\(server.user)@127.0.0.1:\(server.port)\(path)", isInsecureAllowed: false)
        return Mirrors(
            directory: server.directory.path(name), configuration: GitConfiguration(files: []), engine: engine
        ).mirror(of: url, credentials: credentials)
    }

    /// The key, and the server's line of known_hosts, as they are stored in secrets.
    @Test(
        .proves(
            .sourceControl,
            "ssh by Ed25519 and RSA keys and known hosts of secrets; another host key is refused before a key is offered (G9)"
        ), arguments: ["ed25519", "rsa"])
    func testThatItFetchesFromGitShellByAKeyAndKnownHostsOfSecrets(_ kind: String) async throws {
        try await withOrigin { fixture in
            try await GitSSHServer.serving(in: fixture.directory, kind: kind) { server in
                // given
                let credentials = Credentials(
                    user: "git", key: .text(try server.privateKey("key")), knownHosts: try server.knownHosts())
                let mirror = try Self.mirror(server, fixture.origin.path, credentials)

                // when
                try await mirror.fetch(try await mirror.scan().heads)
                let later = try await fixture.origin.commit(files: ["b": "2\n"])
                try await mirror.fetch(try await mirror.scan().heads)

                // then: no file of the secrets is left, and each scan and fetch took one connection
                #expect(try await mirror.contains(later))
                #expect(try server.log().ranges(of: "Accepted publickey").count == 4)
                #expect(try Directory(opening: mirror.path).status("martlet-git") == nil)
                let found = try await run(
                    ["grep", "-rlF", try server.privateKey("key").split(separator: "\n")[2].description, mirror.path])
                #expect(found.stdout == "")
            }
        }
    }

    /// G9: the server's key is not the one in the secret. Our key is not even offered.
    @Test(
        .proves(
            .sourceControl,
            "ssh by Ed25519 and RSA keys and known hosts of secrets; another host key is refused before a key is offered (G9)"
        ), .threat("G9"))
    func testThatAnotherHostKeyIsRefusedBeforeAnyKeyIsOffered() async throws {
        try await withOrigin { fixture in
            try await GitSSHServer.serving(in: fixture.directory) { server in
                for known in ["other", "key"] {
                    let credentials = Credentials(
                        key: .text(try server.privateKey("key")), knownHosts: try server.knownHosts(known))
                    let mirror = try Self.mirror(server, fixture.origin.path, credentials)
                    let error = await expectRejection(SourceControlError.self, \.code, .serverUntrusted) {
                        try await mirror.scan()
                    }
                    expectContains("\(try #require(error))", "git-127.0.0.1-known-hosts")
                    expectContains("\(try #require(error))", "ssh-keyscan -p \(server.port) 127.0.0.1 prints")
                }
                #expect(try !server.log().contains("Accepted"))
                #expect(try !server.log().contains("publickey"))
            }
        }
    }

    @Test func testThatAKeyThatIsNotTakenIsRefused() async throws {
        try await withOrigin { fixture in
            try await GitSSHServer.serving(in: fixture.directory) { server in
                let credentials = Credentials(
                    key: .text(try server.privateKey("other")), knownHosts: try server.knownHosts())
                let mirror = try Self.mirror(server, fixture.origin.path, credentials)
                await expectRejection(SourceControlError.self, \.code, .credentialsRefused) { try await mirror.scan() }
            }
        }
    }

    @Test func testThatGitShellGivesNothingButRepositories() async throws {
        try await withOrigin { fixture in
            try await GitSSHServer.serving(in: fixture.directory) { server in
                let credentials = Credentials(
                    key: .text(try server.privateKey("key")), knownHosts: try server.knownHosts())
                let mirror = try Self.mirror(server, "/nowhere/kit", credentials)
                await expectRejection(SourceControlError.self, \.code, .repositoryNotFound) { try await mirror.scan() }
            }
        }
    }

    @Test(
        .proves(.sourceControl, "Where git is not installed, what libgit2 cannot do is said"),
        arguments: ["ed25519", "rsa"])
    func testThatWithoutTheCommandItSaysWhatIsMissing(_ kind: String) async throws {
        try await withOrigin { fixture in
            try await GitSSHServer.makeKeys(in: fixture.directory, kind: kind)
            let server = GitSSHServer(directory: fixture.directory, port: 1, user: "git")
            let credentials = Credentials(
                key: .text(try server.privateKey("key")), knownHosts: kind == "rsa" ? nil : try server.knownHosts())
            let mirror = try Self.mirror(server, fixture.origin.path, credentials, engine: .library)
            let error = await expectRejection(SourceControlError.self, \.code, .unsupported) { try await mirror.scan() }
            expectContains("\(try #require(error))", kind == "rsa" ? "RSA key; install git" : "known hosts of a secret")
        }
    }

    @Suite(.enabled(if: TestTools.find("gitolite") != nil, "needs gitolite3: deploy/packages --test"))
    struct GivenGitolite {
        @Test(
            .proves(
                .sourceControl,
                "ssh by Ed25519 and RSA keys and known hosts of secrets; another host key is refused before a key is offered (G9)"
            ))
        func testThatItFetchesWhatTheKeyMayReadAndNothingElse() async throws {
            try await withOrigin { fixture in
                // given: gitolite in a home of its own, with a repository that its admin pushed
                let directory = fixture.directory
                let home = try directory.makeDirectory("gitolite")
                try await GitSSHServer.makeKeys(in: directory, kind: "ed25519")
                let environment = GitRepository.environment().merging([
                    "HOME": home, "USER": "git", "PATH": "/usr/local/bin:/usr/bin:/bin:/usr/share/gitolite3",
                ]) { $1 }
                try directory.write("admin.pub", try directory.text("ssh/key.pub"))
                try await runExpectingSuccess(
                    ["gitolite", "setup", "-pk", directory.path("admin.pub")], in: home, environment: environment)
                let testing = home + "/repositories/testing.git"
                // It is not pushed, because gitolite's hook requires that a push comes through gitolite.
                try await runExpectingSuccess(
                    ["git", "-C", testing, "fetch", "-q", fixture.origin.path, "main:main"], environment: environment)

                try await GitSSHServer.serving(
                    in: directory, authorizedKeys: home + "/.ssh/authorized_keys", home: home
                ) { server in
                    // when
                    let credentials = Credentials(
                        key: .text(try server.privateKey("key")), knownHosts: try server.knownHosts())
                    let mirror = try GitSSHTests.mirror(server, "/testing", credentials)
                    let heads = try await mirror.scan().heads
                    try await mirror.fetch(heads)

                    // then
                    #expect(try await mirror.contains(try #require(heads[fixture.main])))
                    await expectRejection(SourceControlError.self, \.code, .repositoryNotFound) {
                        try await GitSSHTests.mirror(server, "/secret", credentials).scan()
                    }
                }
            }
        }
    }
}
