import Basics
import Glibc
import Model
import TestSupport
import Testing

@testable import SourceControl

/// libgit2 behind a proxy, each in a process of its own: the environment is read once.
@Suite struct HTTPProxyTests {
    private static let commit = CommitID("00000000000000000000000000000000000000aa")

    /// What a look finds, as text: its heads or the error.
    private static func look(
        _ url: String, proxy: String, except: String = "", in root: String
    ) async throws -> String {
        for (name, value) in [("http_proxy", proxy), ("https_proxy", proxy), ("no_proxy", except)] {
            setenv(name, value, 1)
        }
        // One that libcurl alone would heed.
        setenv("ALL_PROXY", "http://127.0.0.1:1", 1)
        let mirrors = Mirrors(
            directory: root + "/mirrors", configuration: GitConfiguration(files: []), engine: .library)
        let mirror = mirrors.mirror(of: try RemoteURL(url, isInsecureAllowed: true))
        do throws(SourceControlError) {
            return try await mirror.look().heads.map { "\($0.key) \($0.value)" }.joined()
        } catch {
            return "\(error.code): \(error)"
        }
    }

    @Test(arguments: ["", "http://", "http://ada:s3cret@"])
    func testThatPlainHTTPGoesThroughIt(_ prefix: String) async throws {
        try await withTemporaryDirectory { directory in
            let commit = try #require(Self.commit)
            let answer = SmartHTTPAnswer.answer(SmartHTTPAnswer.listType, SmartHTTPAnswer.list(commit))
            try await ScriptedHTTPServer.serving(bytes: { _ in answer }) { proxy in
                let (address, root) = ("\(prefix)127.0.0.1:\(proxy.port)", directory.path)
                await #expect(processExitsWith: .success) { [address = address as String, root = root as String] in
                    let found = try await Self.look("http://git.example.invalid:81/kit", proxy: address, in: root)
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

    @Test func testThatAnHTTPSServerIsAskedForByNameAndARefusalIsSaid() async throws {
        try await withTemporaryDirectory { directory in
            let answer = "HTTP/1.1 403 No\r\nContent-Type: text/html\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
            try await ScriptedHTTPServer.serving({ _ in answer }) { proxy in
                let (address, root) = ("http://ada:s3cret@127.0.0.1:\(proxy.port)", directory.path)
                await #expect(processExitsWith: .success) { [address = address as String, root = root as String] in
                    let found = try await Self.look("https://git.example.invalid/kit", proxy: address, in: root)
                    #expect(found.hasPrefix("unreachable: "))
                    expectContains(found, "403")
                    #expect(!found.contains("s3cret"))
                }
                #expect(proxy.requests.count == 1)
                #expect(proxy.requests.first?.hasPrefix("CONNECT git.example.invalid:443 HTTP/1.1\r\n") == true)
            }
        }
    }

    @Test(arguments: [
        "socks9://ada:s3cret@127.0.0.1:1", "http://ada:s3cret@127.0.0.1:99999999", "http://ada:s3cret@[x",
    ])
    func testThatOneThatCannotBeReadIsNamedWithoutItsPassword(_ proxy: String) async throws {
        try await withTemporaryDirectory { directory in
            let root = directory.path
            await #expect(processExitsWith: .success) { [proxy = proxy as String, root = root as String] in
                let found = try await Self.look("http://git.example.invalid/kit", proxy: proxy, in: root)
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
                        let found = try await Self.look(url, proxy: address, except: except, in: root)
                        #expect(found.hasPrefix("refs/heads/main "), "\(found)")
                    }
                    #expect(proxy.connections == 0)
                    #expect(server.connections == 1)
                }
            }
        }
    }
}
