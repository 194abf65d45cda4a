import Basics
import Glibc
import Model
import SourceControl
import TestSupport
import Testing

/// The servers that get our credentials.
@Suite struct CredentialTests {
    private static let challenge =
        "HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Basic realm=\"x\"\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"

    private static func mirror(_ port: Int, in directory: TemporaryDirectory, _ credentials: Credentials?) throws
        -> Mirror
    {
        Mirrors(directory: directory.path("repositories"), configuration: GitConfiguration(files: []))
            .mirror(
                of: try RemoteURL("http://127.0.0.1:\(port)/kit", isInsecureAllowed: true), credentials: credentials)
    }

    @Test func testThatAPrivateRepositoryAsksForASecret() async throws {
        try await withTemporaryDirectory { directory in
            try await ScriptedHTTPServer.serving({ _ in Self.challenge }) { server in
                let mirror = try Self.mirror(server.port, in: directory, nil)
                let error = await expectRejection(SourceControlError.self, \.code, .credentialsMissing) {
                    try await mirror.scan()
                }
                expectContains("\(try #require(error))", "martlet secret set git-127.0.0.1")
            }
        }
    }

    @Test func testThatRefusedCredentialsAreTriedOnceAndNeverShown() async throws {
        try await withTemporaryDirectory { directory in
            try await ScriptedHTTPServer.serving({ _ in Self.challenge }) { server in
                let mirror = try Self.mirror(server.port, in: directory, Credentials(user: "ada", password: "s3cret"))
                let error = await expectRejection(SourceControlError.self, \.code, .credentialsRefused) {
                    try await mirror.scan()
                }
                #expect(!"\(try #require(error))".contains("s3cret"))
                #expect(server.requests.filter { $0.lowercased().contains("authorization: basic") }.count == 1)
            }
        }
    }

    /// G3.
    @Test(arguments: [301, 302, 307], ["127.0.0.1", "localhost"])
    func testThatARedirectIsNotFollowed(_ status: Int, _ host: String) async throws {
        try await withTemporaryDirectory { directory in
            try await ScriptedHTTPServer.serving({ _ in Self.challenge }) { other in
                let answer =
                    "HTTP/1.1 \(status) Moved\r\nLocation: http://\(host):\(other.port)/kit/info/refs?service=git-upload-pack"
                    + "\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
                try await ScriptedHTTPServer.serving({ _ in answer }) { server in
                    let mirror = try Self.mirror(
                        server.port, in: directory, Credentials(user: "ada", password: "s3cret"))
                    await expectRejection(SourceControlError.self, \.code, .redirected) { try await mirror.scan() }
                    #expect(other.requests.isEmpty)
                }
            }
        }
    }

    @Test(arguments: [
        (
            "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
            SourceControlError.Code.repositoryNotFound
        ),
        ("HTTP/1.1 500 Oops\r\nContent-Length: 0\r\nConnection: close\r\n\r\n", .unreachable),
        (
            "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 5\r\nConnection: close\r\n\r\n<htm>",
            .unreachable
        ),
        ("nonsense\u{1b}[2J\r\n\r\n", .unreachable), ("", .unreachable),
    ])
    func testThatAWrongAnswerIsNamed(_ answer: String, _ code: SourceControlError.Code) async throws {
        try await withTemporaryDirectory { directory in
            try await ScriptedHTTPServer.serving({ _ in answer }) { server in
                let mirror = try Self.mirror(server.port, in: directory, nil)
                let error = await expectRejection(SourceControlError.self, \.code, code) { try await mirror.scan() }
                if let error { #expect(!error.description.unicodeScalars.contains { $0.value < 0x20 }) }
            }
        }
    }

    /// G10: a server's own message with escape sequences, in the error of git's protocol.
    @Test(.threat("G10")) func testThatAServersWordsAreShownEscaped() async throws {
        try await withTemporaryDirectory { directory in
            let words = "ERR \u{1b}]0;pwned\u{7}\rnot found\n"
            let length = String(words.utf8.count + 4, radix: 16)
            let body =
                "001e# service=git-upload-pack\n0000" + String(repeating: "0", count: 4 - length.count) + length + words
            let answer =
                "HTTP/1.1 200 OK\r\nContent-Type: application/x-git-upload-pack-advertisement\r\n"
                + "Content-Length: \(body.utf8.count)\r\nConnection: close\r\n\r\n\(body)"
            try await ScriptedHTTPServer.serving({ _ in answer }) { server in
                let mirror = try Self.mirror(server.port, in: directory, nil)
                let error = await expectRejection(SourceControlError.self, \.code, .repositoryNotFound) {
                    try await mirror.scan()
                }
                let text = "\(try #require(error))"
                #expect(!text.unicodeScalars.contains { $0.value < 0x20 })
                expectContains(text, "\\u{1b}]0;pwned")
            }
        }
    }

    @Suite(.enabled(if: TestTools.find("openssl") != nil, "needs openssl"))
    struct GivenASelfSignedCertificate {
        @Test func testThatItIsRefusedAndGetsNoCredentials() async throws {
            try await withTemporaryDirectory { directory in
                try await runExpectingSuccess(
                    [
                        "openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "k", "-out", "c",
                        "-subj", "/CN=localhost",
                    ],
                    in: directory.path)
                let port = try LoopbackSocket.freePort()
                let log = directory.path("log")
                let command = "exec openssl s_server -quiet -accept 127.0.0.1:\(port) -key k -cert c > '\(log)' 2>&1"
                try await BackgroundServer.running(command, in: directory.path, port: port) {
                    let url = try RemoteURL("https://127.0.0.1:\(port)/kit", isInsecureAllowed: false)
                    let mirror = Mirrors(directory: directory.path("repositories"))
                        .mirror(of: url, credentials: Credentials(user: "ada", password: "s3cret"))
                    let error = await expectRejection(SourceControlError.self, \.code, .serverUntrusted) {
                        try await mirror.scan()
                    }
                    expectContains("\(try #require(error))", "certificate")
                    #expect(!(try directory.text("log")).lowercased().contains("authorization"))
                }
            }
        }
    }

    @Suite(.enabled(if: canServeSSH, "needs sshd and an account that may log in"))
    struct GivenSSH {
        @Test(arguments: [GitEngine.library, .automatic])
        func testThatAnUnknownHostIsRefusedAndAKnownOneServes(_ engine: GitEngine) async throws {
            try await withOrigin { fixture in
                // given: sshd as this account, which only runs upload-pack
                let directory = fixture.directory
                let port = try LoopbackSocket.freePort()
                for name in ["host", "key"] {
                    try await runExpectingSuccess(
                        ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", directory.path(name)])
                }
                try directory.write("authorized_keys", try directory.text("key.pub"))
                try directory.write(
                    "sshd_config",
                    """
                    Port \(port)
                    ListenAddress 127.0.0.1
                    HostKey \(directory.path("host"))
                    PidFile none
                    AuthorizedKeysFile \(directory.path("authorized_keys"))
                    StrictModes no
                    UsePAM no
                    PasswordAuthentication no
                    KbdInteractiveAuthentication no
                    PermitRootLogin yes
                    """)
                let program = try #require(TestTools.find("sshd"))
                let user = try #require(getpwuid(geteuid()).map { String(cString: $0.pointee.pw_name) })
                let command = "exec \(program) -D -e -f sshd_config > sshd.log 2>&1"
                let url = try RemoteURL(
                    "ssh://\(user)@127.0.0.1:\(port)\(fixture.origin.path)", isInsecureAllowed: false)
                let key = Credentials.Key.files(privateKey: directory.path("key"), publicKey: nil)
                try directory.makeDirectory("home/.ssh")
                try await BackgroundServer.running(command, in: directory.path, port: port) {
                    // when: the host is unknown
                    let unknown = await expectRejection(SourceControlError.self, \.code, .serverUntrusted) {
                        try await Mirrors(directory: directory.path("others"), engine: engine)
                            .mirror(of: url, credentials: Credentials(key: key)).scan()
                    }

                    // then
                    expectContains("\(try #require(unknown))", "known_hosts")
                    #expect(!(try directory.text("sshd.log")).contains("Accepted"))

                    // when: it is known, in a separate process, because libgit2 reads HOME once
                    let host = try directory.text("host.pub").split(separator: " ").prefix(2).joined(separator: " ")
                    try directory.write("home/.ssh/known_hosts", "[127.0.0.1]:\(port) \(host)\n")
                    try await runExpectingSuccess(
                        ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", directory.path("other")])
                    let (root, address, isLibrary) = (directory.path, url.description, engine == .library)
                    await #expect(processExitsWith: .success) {
                        [root = root as String, address = address as String, isLibrary = isLibrary as Bool] in
                        try await Self.fetch(address, root, isLibrary ? .library : .automatic)
                    }
                    // One connection each. The command asks for the list again, because each mirror here is a new one.
                    #expect(try directory.text("sshd.log").components("Accepted publickey") == (isLibrary ? 3 : 4))
                }
            }
        }

        /// The part that needs a home directory of its own.
        private static func fetch(_ address: String, _ root: String, _ engine: GitEngine) async throws {
            setenv("HOME", root + "/home", 1)
            let url = try RemoteURL(address, isInsecureAllowed: false)
            func mirror(_ key: Credentials.Key?) -> Mirror {
                Mirrors(directory: root + "/others", engine: engine).mirror(of: url, credentials: Credentials(key: key))
            }
            func file(_ name: String) -> Credentials.Key { .files(privateKey: "\(root)/\(name)", publicKey: nil) }
            let heads = try await mirror(file("key")).scan().heads
            let text = String(decoding: try WholeFile.read(root + "/key", limit: 10_000), as: UTF8.self)
            try await mirror(.text(text)).fetch(heads)
            guard let commit = heads.values.first, try await mirror(nil).contains(commit) else { exit(2) }
            // Without a key of the bot: the account's usual key.
            try await runExpectingSuccess(["cp", root + "/key", root + "/home/.ssh/id_ed25519"])
            try await runExpectingSuccess(["cp", root + "/key.pub", root + "/home/.ssh/id_ed25519.pub"])
            guard try await mirror(nil).scan().heads == heads else { exit(3) }
            // A key that the server refuses.
            do throws(SourceControlError) {
                _ = try await mirror(file("other")).scan()
                exit(4)
            } catch {
                guard error.code == .credentialsRefused else { exit(5) }
            }
            // The host's key has changed.
            try await runExpectingSuccess(
                [
                    "sh", "-c",
                    "awk '{print k, $1, $2}' k=\"$(cut -d' ' -f1 home/.ssh/known_hosts)\" other.pub > k && mv k home/.ssh/known_hosts",
                ],
                in: root)
            do throws(SourceControlError) {
                _ = try await mirror(file("key")).scan()
                exit(6)
            } catch {
                guard error.code == .serverUntrusted else { exit(7) }
            }
        }
    }
}

extension String {
    /// Returns how often a part occurs.
    fileprivate func components(_ part: String) -> Int { ranges(of: part).count }
}

/// sshd runs a command by the account's shell.
private var canServeSSH: Bool {
    let shell = getpwuid(geteuid()).map { String(cString: $0.pointee.pw_shell) } ?? ""
    return TestTools.find("sshd") != nil && !shell.hasSuffix("nologin") && !shell.hasSuffix("false")
}
