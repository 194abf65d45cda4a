import Basics
import Glibc
import TestSupport
import Testing

/// A real OpenSSH that lets one key run git-shell, or gitolite, as the account that runs the tests.
struct GitSSHServer {
    let directory: TemporaryDirectory
    let port: Int
    let user: String

    /// sshd runs commands by the account's shell.
    static let isPossible: Bool = {
        let shell = getpwuid(geteuid()).map { String(cString: $0.pointee.pw_shell) } ?? ""
        return TestTools.find("sshd") != nil && !shell.hasSuffix("nologin") && !shell.hasSuffix("false")
    }()

    /// Returns the server's line for known_hosts.
    func knownHosts(_ key: String = "host") throws -> String {
        let parts = try directory.text("ssh/\(key).pub").split(separator: " ").prefix(2)
        return "[127.0.0.1]:\(port) \(parts.joined(separator: " "))\n"
    }

    func privateKey(_ name: String) throws -> String { try directory.text("ssh/\(name)") }
    func log() throws -> String { try directory.text("ssh/log") }

    /// Runs the server with the keys `host`, `key` (allowed) and `other` (not allowed).
    /// - Parameters:
    ///   - kind: `ed25519` or `rsa`, for all three.
    ///   - authorizedKeys: The file that gitolite wrote; `nil` to let `key` run git-shell.
    ///   - home: The HOME of the commands.
    static func serving(
        in directory: TemporaryDirectory, kind: String = "ed25519", authorizedKeys: String? = nil, home: String? = nil,
        _ body: (GitSSHServer) async throws -> Void
    ) async throws {
        let port = try LoopbackSocket.freePort()
        try await makeKeys(in: directory, kind: kind)
        if authorizedKeys == nil {
            let shell = "git-shell -c \\\"$SSH_ORIGINAL_COMMAND\\\""
            try directory.write(
                "ssh/authorized_keys", "restrict,command=\"\(shell)\" \(try directory.text("ssh/key.pub"))")
        }
        // sshd's own unit makes this directory. Without it sshd does not start as root.
        if geteuid() == 0 { _ = try await run(["mkdir", "-p", "/run/sshd"]) }
        try directory.write(
            "ssh/sshd_config",
            """
            Port \(port)
            ListenAddress 127.0.0.1
            HostKey \(directory.path("ssh/host"))
            PidFile none
            AuthorizedKeysFile \(authorizedKeys ?? directory.path("ssh/authorized_keys"))
            StrictModes no
            UsePAM no
            PasswordAuthentication no
            KbdInteractiveAuthentication no
            PermitRootLogin yes
            \(home.map { "SetEnv HOME=\($0)" } ?? "")
            """)
        let program = try #require(TestTools.find("sshd"))
        let user = try #require(getpwuid(geteuid()).map { String(cString: $0.pointee.pw_name) })
        try await BackgroundServer.running(
            "exec \(program) -D -e -f sshd_config > log 2>&1", in: directory.path("ssh"), port: port
        ) {
            try await body(GitSSHServer(directory: directory, port: port, user: user))
        }
    }

    static func makeKeys(in directory: TemporaryDirectory, kind: String) async throws {
        try directory.makeDirectory("ssh")
        for name in ["host", "key", "other"] where try directory.directory().status("ssh/\(name)") == nil {
            try await runExpectingSuccess(
                ["ssh-keygen", "-q", "-t", kind, "-N", "", "-f", directory.path("ssh/\(name)")])
        }
    }
}
