import Basics
import Glibc
import Model
import SourceControl
import TestSupport
import Testing

/// Tests with git's own http-backend behind nginx, as run by `SmartHTTPServer`.
@Suite(.enabled(if: SmartHTTPServer.isPossible, "needs nginx, fcgiwrap and openssl: deploy/packages --test"))
struct SmartHTTPTests {
    static let engines = [GitEngine.library, .program]

    static func mirror(
        _ url: String, _ engine: GitEngine, in directory: TemporaryDirectory, _ credentials: Credentials? = nil
    ) throws -> Mirror {
        Mirrors(directory: directory.path("mirrors"), configuration: GitConfiguration(files: []), engine: engine)
            .mirror(of: try RemoteURL(url, isInsecureAllowed: true), credentials: credentials)
    }

    @Test(
        .proves(
            .sourceControl,
            "The git command behind the same interface, kept from every configuration but ours: https, ssh, paths, first mirrors"
        ),
        .proves(
            .sourceControl,
            "http and https need no git: libgit2 uses libcurl with our sockets, credentials and limits. A redirect ends the look, not the daemon (G3)"
        ), arguments: engines)
    func testThatItFetchesWhatAnybodyMayRead(_ engine: GitEngine) async throws {
        try await withOrigin { fixture in
            try await SmartHTTPServer.serving(fixture.directory.path("origin"), in: fixture.directory) { server in
                // given
                let mirror = try Self.mirror(server.origin + "/pub/kit", engine, in: fixture.directory)
                let first = try await mirror.scan().heads
                try await mirror.fetch(first)
                try await fixture.origin.tag("1.0.0", message: "One")
                let later = try await fixture.origin.commit(files: ["b": "2\n"])

                // when
                let second = try await mirror.scan()
                try await mirror.fetch(second.heads)

                // then
                let tagged = try #require(first[fixture.main])
                #expect(second.heads == [fixture.main: later, RefName(tag: "1.0.0"): tagged])
                #expect(second.defaultBranch == fixture.main)
                let tag = try await mirror.resolve("refs/tags/1.0.0")
                #expect(tag == first[fixture.main])
                #expect(try await mirror.contains(later))
                #expect(try server.authorized().isEmpty)
                try await runExpectingSuccess(["git", "-C", mirror.path, "fsck", "--full", "--strict"])
            }
        }
    }

    @Suite struct GivenAPrivateRepository {
        @Test(
            .proves(
                .sourceControl,
                "https by user and password or token, tried once, shown nowhere, sent to no redirect's target"),
            arguments: engines, [Credentials(user: "ci", password: "secret")])
        func testThatItFetchesByUserAndPassword(_ engine: GitEngine, _ credentials: Credentials) async throws {
            try await withOrigin { fixture in
                try await SmartHTTPServer.serving(fixture.directory.path("origin"), in: fixture.directory) { server in
                    let mirror = try SmartHTTPTests.mirror(
                        server.origin + "/git/kit", engine, in: fixture.directory, credentials)
                    try await mirror.fetch(try await mirror.scan().heads)
                    let head = try await fixture.origin.head()
                    #expect(try await mirror.contains(head))
                    // base64 of ci:secret; no other credentials were ever sent.
                    #expect(try server.authorized().allSatisfy { $0.hasSuffix(" Basic Y2k6c2VjcmV0") })
                    #expect(try !server.authorized().isEmpty)
                }
            }
        }

        @Test(
            .proves(
                .sourceControl,
                "https by user and password or token, tried once, shown nowhere, sent to no redirect's target"),
            arguments: engines)
        func testThatAWrongPasswordIsTriedOnceAndNeverShown(_ engine: GitEngine) async throws {
            try await withOrigin { fixture in
                try await SmartHTTPServer.serving(fixture.directory.path("origin"), in: fixture.directory) { server in
                    let mirror = try SmartHTTPTests.mirror(
                        server.origin + "/git/kit", engine, in: fixture.directory,
                        Credentials(user: "ci", password: "guessed"))
                    let error = await expectRejection(SourceControlError.self, \.code, .credentialsRefused) {
                        try await mirror.scan()
                    }
                    #expect(!"\(try #require(error))".contains("guessed"))
                    // nginx writes its log after its answer.
                    await until("the server has logged it") { (try? server.authorized().isEmpty) == false }
                    #expect(try server.authorized().count == 1)
                }
            }
        }

        @Test(arguments: engines)
        func testThatItAsksForASecret(_ engine: GitEngine) async throws {
            try await withOrigin { fixture in
                try await SmartHTTPServer.serving(fixture.directory.path("origin"), in: fixture.directory) { server in
                    let mirror = try SmartHTTPTests.mirror(server.origin + "/git/kit", engine, in: fixture.directory)
                    let error = await expectRejection(SourceControlError.self, \.code, .credentialsMissing) {
                        try await mirror.scan()
                    }
                    expectContains("\(try #require(error))", "martlet secret set git-127.0.0.1")
                }
            }
        }
    }

    /// G3: to another host's name, although it is the same server.
    @Test(
        .proves(
            .sourceControl,
            "https by user and password or token, tried once, shown nowhere, sent to no redirect's target"),
        .threat("G3"), arguments: engines)
    func testThatARedirectIsNotFollowed(_ engine: GitEngine) async throws {
        try await withOrigin { fixture in
            try await SmartHTTPServer.serving(fixture.directory.path("origin"), in: fixture.directory) { server in
                let mirror = try Self.mirror(
                    server.origin + "/moved/kit", engine, in: fixture.directory,
                    Credentials(user: "ci", password: "secret")
                )
                await expectRejection(SourceControlError.self, \.code, .redirected) { try await mirror.scan() }
                // The log is written while the answer is sent.
                try await until("the server tells of the request") { try !server.log().isEmpty }
                #expect(try server.log().count == 1)
                #expect(try server.authorized().isEmpty)
            }
        }
    }

    @Test(arguments: engines)
    func testThatItSaysWhenThereIsNoRepository(_ engine: GitEngine) async throws {
        try await withOrigin { fixture in
            try await SmartHTTPServer.serving(fixture.directory.path("origin"), in: fixture.directory) { server in
                let mirror = try Self.mirror(server.origin + "/pub/absent", engine, in: fixture.directory)
                await expectRejection(SourceControlError.self, \.code, .repositoryNotFound) { try await mirror.scan() }
            }
        }
    }

    /// G9: no credentials reach a server that cannot prove its identity.
    @Suite(
        .proves(
            .sourceControl,
            "A wrong certificate (unknown issuer, expired, another host, TLS 1.1) is refused and gets no request (G9), by libgit2 as by git"
        ))
    struct GivenTLS {
        @Test(
            .proves(
                .transfer,
                "`certificates` of the settings, SSL_CERT_FILE and SSL_CERT_DIR apply to everything that leaves the service: git, notices, uploads, sign-in, traces and commands"
            ), arguments: engines, [false, true])
        func testThatACertificateOfAKnownAuthorityServes(_ engine: GitEngine, _ isDirectory: Bool) async throws {
            try await withOrigin { fixture in
                let authority = try await CertificateAuthority(in: fixture.directory)
                let folder = try fixture.directory.makeDirectory("trusted")
                let pem = try WholeFile.read(authority.certificate, limit: 1 << 20)
                try fixture.directory.write("trusted/authority.pem", pem)
                try await runExpectingSuccess(["openssl", "rehash", folder])
                let issued = try await authority.issue("good", host: "localhost")
                let tls = SmartHTTPServer.TLS(certificate: issued.certificate, key: issued.key)
                try await SmartHTTPServer.serving(
                    fixture.directory.path("origin"), in: fixture.directory, tls: tls
                ) { server in
                    // In a separate process, because libgit2 reads the list of authorities once.
                    let (root, url, trusted) = (
                        fixture.directory.path, server.origin + "/git/kit", isDirectory ? folder : authority.certificate
                    )
                    let isLibrary = engine == .library
                    await #expect(processExitsWith: .success) {
                        [
                            root = root as String, url = url as String, trusted = trusted as String,
                            isLibrary = isLibrary as Bool
                        ] in
                        try CertificateVariables.set(trusted)
                        let mirror = Mirrors(directory: root + "/mirrors", engine: isLibrary ? .library : .automatic)
                            .mirror(
                                of: try RemoteURL(url, isInsecureAllowed: false),
                                credentials: Credentials(user: "ci", password: "secret"))
                        try await mirror.fetch(try await mirror.scan().heads)
                    }
                    let authorized = try server.authorized()
                    #expect(authorized.count >= 2)
                }
            }
        }

        @Test(arguments: [
            (GitEngine.library, "self-signed"), (.library, "expired"), (.library, "another host"),
            (.library, "TLS 1.1"),
            (.automatic, "self-signed"), (.automatic, "expired"), (.automatic, "another host"), (.automatic, "TLS 1.1"),
        ])
        func testThatAWrongOneIsRefusedAndGetsNothing(_ engine: GitEngine, _ fault: String) async throws {
            try await withOrigin { fixture in
                // given
                let authority = try await CertificateAuthority(in: fixture.directory)
                var trusted = authority.certificate
                let host = fault == "another host" ? "git.example.org" : "localhost"
                let issued = try await authority.issue("bad", host: host, days: fault == "expired" ? -1 : 2)
                var tls = SmartHTTPServer.TLS(certificate: issued.certificate, key: issued.key)
                if fault == "self-signed" { trusted = "/etc/ssl/certs/ca-certificates.crt" }
                if fault == "TLS 1.1" { tls.protocols = "TLSv1.1" }
                try await SmartHTTPServer.serving(
                    fixture.directory.path("origin"), in: fixture.directory, tls: tls
                ) { server in
                    let openSSL = try fixture.directory.writeLaxOpenSSL()
                    if fault == "TLS 1.1" {
                        // The server itself serves every client that accepts it.
                        try await runExpectingSuccess(
                            ["env", "OPENSSL_CONF=\(openSSL)"] + TestTools.curl + [
                                "-f", "-k", "--tlsv1.1", "-u", "ci:secret", "-o", "/dev/null",
                                server.origin + "/git/kit/info/refs?service=git-upload-pack",
                            ])
                        #expect(try server.log().first?.hasPrefix("200 /git/") == true)
                    }
                    let before = try server.log().count

                    // when
                    let (root, url, isLibrary) = (
                        fixture.directory.path, server.origin + "/git/kit", engine == .library
                    )
                    await #expect(processExitsWith: .success) {
                        [
                            root = root as String, url = url as String, trusted = trusted as String,
                            isLibrary = isLibrary as Bool, openSSL = openSSL as String
                        ] in
                        setenv("SSL_CERT_FILE", trusted, 1)
                        setenv("OPENSSL_CONF", openSSL, 1)
                        let mirror = Mirrors(directory: root + "/mirrors", engine: isLibrary ? .library : .automatic)
                            .mirror(
                                of: try RemoteURL(url, isInsecureAllowed: false),
                                credentials: Credentials(user: "ci", password: "secret"))
                        let error = await expectRejection(SourceControlError.self, \.code, .serverUntrusted) {
                            try await mirror.scan()
                        }
                        if error == nil { exit(2) }
                    }

                    // then
                    let log = try server.log().dropFirst(before)
                    #expect(log.allSatisfy { $0.hasSuffix(" -") && !$0.contains("/git/") })
                }
            }
        }
    }
}
