import Foundation
import TestSupport
import Transfer

/// A real OpenSSH with sftp on the loopback, for the user who runs the tests.
struct SSHServer: Sendable {
    let directory: TemporaryDirectory
    let port: Int
    let user: String

    /// The URL of the path below which the files are.
    var url: String { "sftp://\(user)@127.0.0.1:\(port)\(directory.path)/remote/" }
    /// The same path, relative to the user's home.
    var urlAtHome: String { "sftp://\(user)@127.0.0.1:\(port)/~/remote/" }
    var knownHosts: String { directory.path("known_hosts") }

    var options: UploadOptions {
        var options = UploadOptions()
        options.credentials = .privateKey(user: nil, path: directory.path("key"), passphrase: nil)
        options.knownHosts = knownHosts
        return options
    }

    static func running(
        in directory: TemporaryDirectory, port: Int? = nil, _ body: (SSHServer) async throws -> Void
    ) async throws {
        let port = try port ?? LoopbackSocket.freePort()
        for name in ["hostkey", "key", "stranger"] {
            try await runExpectingSuccess(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", directory.path(name)])
        }
        try directory.makeDirectory("remote")
        let user = try await runExpectingSuccess(["id", "-un"]).split(separator: "\n")[0]
        // sshd's own unit makes this directory. Without it sshd does not start as root.
        if user == "root" { _ = try await run(["mkdir", "-p", "/run/sshd"]) }
        let configuration = """
            Port \(port)
            ListenAddress 127.0.0.1
            HostKey \(directory.path)/hostkey
            PidFile \(directory.path)/sshd.pid
            AuthorizedKeysFile \(directory.path)/key.pub
            PermitRootLogin yes
            StrictModes no
            UsePAM no
            PasswordAuthentication no
            KbdInteractiveAuthentication no
            Subsystem sftp internal-sftp -d \(directory.path)

            """
        let file = try directory.write("sshd_config", configuration)
        let hostKey = try directory.text("hostkey.pub").split(separator: " ").prefix(2).joined(separator: " ")
        try directory.write("known_hosts", "[127.0.0.1]:\(port) \(hostKey)\n")
        try await ServerProcess.running(
            // sshd closes inherited descriptors, which Foundation takes for its exit. Foundation would then wait for it and notice no other exit.
            // So a shell starts it and stays.
            [
                "/bin/sh", "-c", "setpriv --pdeathsig KILL \"$@\"; exit $?", "sh", TestTools.find("sshd") ?? "sshd",
                "-D",
                "-e", "-f", file,
            ], log: directory.path("sshd.log"),
            isReady: { LoopbackSocket.isListening(port) }
        ) {
            try await body(SSHServer(directory: directory, port: port, user: String(user)))
        }
    }
}
