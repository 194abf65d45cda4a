import Foundation
import Glibc
import TestSupport
import Testing

/// `certificates` in the settings, as the service applies it to what it connects to.
@Suite(.program("openssl")) struct CertificateSettingTests {
    /// Returns what a scan says of a repository on a server with a certificate of a private authority. The server is no git server.
    /// - Parameter isNamed: Whether the settings name the authority.
    private func error(isNamed: Bool) async throws -> String {
        try await withTemporaryDirectory { directory in
            let authority = try await CertificateAuthority(in: directory)
            let issued = try await authority.issue("server", host: "127.0.0.1")
            let port = try LoopbackSocket.freePort()
            var error = ""
            try await ServerProcess.running(
                [
                    "/usr/bin/openssl", "s_server", "-quiet", "-www", "-accept", "127.0.0.1:\(port)", "-cert",
                    issued.certificate, "-key", issued.key,
                ], log: directory.path("server.log"), end: SIGKILL, isReady: { LoopbackSocket.isListening(port) }
            ) {
                let certificates = isNamed ? "certificates: \(authority.certificate)\n" : ""
                try await withDaemon(settings: "isolation: none\n" + certificates) { daemon in
                    try daemon.directory.write("etc/bots/tls.yml", "repository: https://127.0.0.1:\(port)/kit.git\n")
                    try await until("a scan") {
                        let body = try await daemon.get("/api/v1/bots/tls").body
                        error = body.matches(of: /"lookError":"([^"]+)"/).first.map { String($0.1) } ?? ""
                        return !error.isEmpty
                    }
                }
            }
            return error
        }
    }

    @Test(
        .proves(
            .operating,
            "`certificates` in the settings names the authorities that the service's outgoing connections trust"))
    func testThatTheServiceTrustsTheAuthorityThatTheSettingsName() async throws {
        expectContains(try await error(isNamed: false), "certificate")
        let trusted = try await error(isNamed: true)
        #expect(!trusted.contains("certificate"), "\(trusted)")
    }
}
