import Basics
import Glibc
import Model
import SourceControl
import TestSupport
import Testing

/// The parts of a secret that other users of the machine can see while `git` uses it.
@Suite(
    .proves(.sourceControl, "A password and a key are in no argument, environment or file while git uses them"),
    .enabled(if: TestTools.find("git") != nil && TestTools.find("ssh") != nil, "needs git and ssh"))
struct SecretExposureTests {
    /// Returns command lines and environments of all processes, and all files below a directory.
    private static func visible(_ directory: TemporaryDirectory) throws -> [String] {
        var texts: [String] = []
        for entry in try Directory(opening: "/proc").entries() where entry.name.allSatisfy(\.isNumber) {
            for file in ["cmdline", "environ"] {
                // The process may have exited since.
                guard let bytes = try? WholeFile.read("/proc/\(entry.name)/\(file)", limit: 1 << 22) else { continue }
                texts.append(String(decoding: bytes, as: UTF8.self))
            }
        }
        let files = try Directory(opening: directory.path)
        try files.walk(limit: 10_000) { path, status in
            guard status.kind == .file, let bytes = try? files.read(path, limit: 1 << 22) else { return }
            texts.append(String(decoding: bytes, as: UTF8.self))
        }
        return texts
    }

    private static func mirror(_ url: String, _ directory: TemporaryDirectory, _ credentials: Credentials) throws
        -> Mirror
    {
        Mirrors(
            directory: directory.path("mirrors"), configuration: GitConfiguration(files: []), engine: .program
        ).mirror(of: try RemoteURL(url, isInsecureAllowed: true), credentials: credentials)
    }

    @Test func testThatAPasswordIsInNoArgumentEnvironmentOrFile() async throws {
        try await withTemporaryDirectory { directory in
            // given: a server that searches before it answers
            let password = "pass-\(UInt64.random(in: .min ... .max))"
            let seen = Locked<[String]>([])
            let challenge =
                "HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Basic realm=\"x\"\r\nContent-Length: 0\r\n"
                + "Connection: close\r\n\r\n"
            try await ScriptedHTTPServer.serving({ _ in
                let texts = (try? Self.visible(directory)) ?? []
                seen.withLock { $0 += texts }
                return challenge
            }) { server in
                // when
                let mirror = try Self.mirror(
                    "http://127.0.0.1:\(server.port)/kit", directory, Credentials(user: "ci", password: password))
                await expectRejection(SourceControlError.self, \.code, .credentialsRefused) { try await mirror.scan() }

                // then: the secret was in use, by processes that were seen
                #expect(server.requests.contains { $0.lowercased().contains("authorization: basic") })
                #expect(seen.value.contains { $0.contains("ls-remote") && $0.contains("127.0.0.1:\(server.port)/kit") })
                #expect(!seen.value.contains { $0.contains(password) })
            }
        }
    }

    @Test func testThatAKeyIsInNoArgumentEnvironmentOrFile() async throws {
        try await withTemporaryDirectory { directory in
            // given: a server that accepts and sends nothing
            let line = "key\(UInt64.random(in: .min ... .max))"
            let key = "-----BEGIN OPENSSH PRIVATE KEY-----\n\(line)\n-----END OPENSSH PRIVATE KEY-----\n"
            let server = try LoopbackSocket()
            defer { server.stop() }
            let mirror = try Self.mirror(
                "ssh://git@127.0.0.1:\(server.port)/kit", directory,
                Credentials(user: "git", key: .text(key), knownHosts: "[127.0.0.1]:\(server.port) \(line)"))

            // when
            let scan = Task { try await mirror.scan() }
            await server.connection()
            let seen = try Self.visible(directory)
            scan.cancel()
            _ = await scan.result

            // then
            #expect(seen.contains { $0.contains("IdentityFile=") && $0.contains("\(server.port)") })
            #expect(!seen.contains { $0.contains(line) })
        }
    }
}
