import Basics
import Glibc
import Model
import TestSupport
import Testing

@testable import SourceControl

/// libgit2 behind a proxy. Each test is a separate process, because the environment is read once.
@Suite struct HTTPProxyTests {
    private static let commit = CommitID("00000000000000000000000000000000000000aa")

    /// Returns the result of a scan as text: its heads or the error.
    private static func scan(
        _ url: String, proxy: String, except: String = "", in root: String
    ) async throws -> String {
        for (name, value) in [("http_proxy", proxy), ("https_proxy", proxy), ("no_proxy", except)] {
            setenv(name, value, 1)
        }
        // A variable that only libcurl reads.
        setenv("ALL_PROXY", "http://127.0.0.1:1", 1)
        let mirrors = Mirrors(
            directory: root + "/mirrors", configuration: GitConfiguration(files: []), engine: .library)
        let mirror = mirrors.mirror(of: try RemoteURL(url, isInsecureAllowed: true))
        do throws(SourceControlError) {
            return try await mirror.scan().heads.map { "\($0.key) \($0.value)" }.joined()
        } catch {
            return "\(error.code): \(error)"
        }
    }

    @Test(
        .proves(
            .sourceControl,
            "Without git, http and https use the environment's proxy, whose password is shown nowhere; addresses in commits use none"
        ), arguments: ["", "http://", "http://ada:s3cret@"])
    func testThatPlainHTTPGoesThroughIt(_ prefix: String) async throws {
        try await withTemporaryDirectory { directory in
            let commit = try #require(Self.commit)
            let answer = SmartHTTPAnswer.answer(SmartHTTPAnswer.listType, SmartHTTPAnswer.list(commit))
            try await ScriptedHTTPServer.serving(bytes: { _ in answer }) { proxy in
                let (address, root) = ("\(prefix)127.0.0.1:\(proxy.port)", directory.path)
                await #expect(processExitsWith: .success) { [address = address as String, root = root as String] in
                    let found = try await Self.scan("http://git.example.invalid:81/kit", proxy: address, in: root)
                    #expect(found == "refs/heads/main 00000000000000000000000000000000000000aa")
                }
                let request = try #require(proxy.requests.first)
                #expect(
                    request.hasPrefix(
                        "GET http://git.example.invalid:81/kit/info/refs?service=git-upload-pack HTTP/1.1\r\n"))
                // base64 of ada:s3cret.
                #expect(request.contains("\r\nProxy-Authorization: Basic YWRhOnMzY3JldA==\r\n") == prefix.contains("@"))
                #expect(proxy.requests.count == 1)
            }
        }
    }

    @Test(
        .proves(
            .sourceControl,
            "Without git, http and https use the environment's proxy, whose password is shown nowhere; addresses in commits use none"
        ))
    func testThatAnHTTPSServerIsAskedForByNameAndARefusalIsSaid() async throws {
        try await withTemporaryDirectory { directory in
            let answer = "HTTP/1.1 403 No\r\nContent-Type: text/html\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
            try await ScriptedHTTPServer.serving({ _ in answer }) { proxy in
                let (address, root) = ("http://ada:s3cret@127.0.0.1:\(proxy.port)", directory.path)
                await #expect(processExitsWith: .success) { [address = address as String, root = root as String] in
                    let found = try await Self.scan("https://git.example.invalid/kit", proxy: address, in: root)
                    #expect(found.hasPrefix("unreachable: "))
                    expectContains(found, "403")
                    #expect(!found.contains("s3cret"))
                }
                #expect(proxy.requests.count == 1)
                #expect(proxy.requests.first?.hasPrefix("CONNECT git.example.invalid:443 HTTP/1.1\r\n") == true)
            }
        }
    }

    /// TLS is with the server, through the proxy, and so are the credentials.
    @Test(
        .proves(
            .sourceControl,
            "Without git, http and https use the environment's proxy, whose password is shown nowhere; addresses in commits use none"
        ), .enabled(if: SmartHTTPServer.isPossible, "needs nginx, fcgiwrap and openssl: deploy/packages --test"))
    func testThatHTTPSGoesThroughIt() async throws {
        try await withOrigin { fixture in
            let authority = try await CertificateAuthority(in: fixture.directory)
            let issued = try await authority.issue("good", host: "git.example.invalid")
            let tls = SmartHTTPServer.TLS(certificate: issued.certificate, key: issued.key)
            try await SmartHTTPServer.serving(fixture.directory.path("origin"), in: fixture.directory, tls: tls) {
                server in
                try await TunnelProxy.serving(to: server.port) { proxy in
                    let (address, root, trusted) = (
                        "http://ada:s3cret@127.0.0.1:\(proxy.port)", fixture.directory.path, authority.certificate
                    )
                    await #expect(processExitsWith: .success) {
                        [address = address as String, root = root as String, trusted = trusted as String] in
                        setenv("SSL_CERT_FILE", trusted, 1)
                        setenv("https_proxy", address, 1)
                        let mirror = Mirrors(directory: root + "/mirrors", engine: .library).mirror(
                            of: try RemoteURL("https://git.example.invalid/git/kit", isInsecureAllowed: false),
                            credentials: Credentials(user: "ci", password: "secret"))
                        try await mirror.fetch(try await mirror.scan().heads)
                    }
                    let (requests, authorized) = (proxy.requests, try server.authorized())
                    #expect(requests.allSatisfy { $0.hasPrefix("CONNECT git.example.invalid:443 HTTP/1.1\r\n") })
                    // base64 of ada:s3cret for the proxy, and of ci:secret only for the server.
                    #expect(requests.allSatisfy { $0.contains("\r\nProxy-Authorization: Basic YWRhOnMzY3JldA==\r\n") })
                    #expect(requests.allSatisfy { !$0.contains("Y2k6c2VjcmV0") })
                    #expect(authorized.allSatisfy { $0.hasSuffix(" Basic Y2k6c2VjcmV0") })
                    // One connection for the scan, one for the fetch with its two requests.
                    #expect(requests.count == 2)
                    #expect(authorized.count == 3)
                }
            }
        }
    }

    @Test(
        .proves(
            .sourceControl,
            "Without git, http and https use the environment's proxy, whose password is shown nowhere; addresses in commits use none"
        ),
        arguments: [
            "socks9://ada:s3cret@127.0.0.1:1", "http://ada:s3cret@127.0.0.1:99999999", "http://ada:s3cret@[x",
        ])
    func testThatOneThatCannotBeReadIsNamedWithoutItsPassword(_ proxy: String) async throws {
        try await withTemporaryDirectory { directory in
            let root = directory.path
            await #expect(processExitsWith: .success) { [proxy = proxy as String, root = root as String] in
                let found = try await Self.scan("http://git.example.invalid/kit", proxy: proxy, in: root)
                #expect(found.hasPrefix("unreachable: "), "\(found)")
                #expect(!found.contains("s3cret"), "\(found)")
            }
        }
    }

    @Test(arguments: ["127.0.0.1", "127.0.0.0/8"])
    func testThatWhatIsExceptedDoesNot(_ except: String) async throws {
        try await withTemporaryDirectory { directory in
            let commit = try #require(Self.commit)
            let answer = SmartHTTPAnswer.answer(SmartHTTPAnswer.listType, SmartHTTPAnswer.list(commit))
            try await ScriptedHTTPServer.serving(bytes: { _ in answer }) { server in
                try await ScriptedHTTPServer.serving(bytes: { _ in answer }) { proxy in
                    let (address, url, root) = (
                        "http://127.0.0.1:\(proxy.port)", "http://127.0.0.1:\(server.port)/kit", directory.path
                    )
                    await #expect(processExitsWith: .success) {
                        [
                            address = address as String, url = url as String, root = root as String,
                            except = except as String
                        ] in
                        let found = try await Self.scan(url, proxy: address, except: except, in: root)
                        #expect(found.hasPrefix("refs/heads/main "), "\(found)")
                    }
                    #expect(proxy.connections == 0)
                    #expect(server.connections == 1)
                }
            }
        }
    }
}
