import Basics
import Glibc
import TestSupport
import Transfer

/// A real vsftpd on loopback for the user who runs the tests; its files lie in `remote` of the directory.
///
/// The user is `ftp` with a password from a file: vsftpd's anonymous user, whom it asks for one, since its local users need rows of
/// /etc/passwd and a file of PAM.
struct FTPServer: Sendable {
    let directory: TemporaryDirectory
    let port: Int
    /// The ports for data. Several: a child of vsftpd may still hold the last one while the next asks for its own.
    let dataPorts: [Int]

    static let password = "canary-secret"

    /// Files lie beneath this path of the server.
    func url(isTLS: Bool = true, port: Int? = nil) -> String {
        "\(isTLS ? "ftps" : "ftp")://127.0.0.1:\(port ?? self.port)/"
    }

    /// Whether anybody said a user's name.
    var hasUser: Bool { (try? directory.text("ftp.log"))?.contains("\"USER ") ?? false }

    private static let nextDataPorts = Locked(Int(getpid()) * 101)

    /// Eight in a row that nobody listens at, below those that the kernel gives to connections (ip_local_port_range: 32768 and above), and
    /// that were given to no other server before.
    private static func freeDataPorts() throws -> [Int] {
        for _ in 0..<100 {
            let next = nextDataPorts.withLock { next in
                next += 1
                return next
            }
            let first = 10_000 + next % 2_500 * 8
            let ports = Array(first..<first + 8)
            if !ports.contains(where: LoopbackSocket.isListening) { return ports }
        }
        throw ServerFailure(description: "there are no eight free ports in a row")
    }

    var options: UploadOptions {
        var options = UploadOptions()
        options.credentials = .password(user: "ftp", password: Self.password)
        options.certificateAuthorities = directory.path("certificate.pem")
        options.isPlainHTTPAllowed = true
        options.retries = .immediate
        return options
    }

    /// - Parameter address: Where it listens. A cutting proxy takes the same ports of 127.0.0.1 when it is another: a server says
    ///   the data's port alone.
    /// - Parameter more: Another line of its configuration, over what is said before.
    static func running(
        in directory: TemporaryDirectory, address: String = "127.0.0.1", offersTLS: Bool = true, more: String = "",
        _ body: (FTPServer) async throws -> Void
    ) async throws {
        let port = try LoopbackSocket.freePort()
        let dataPorts = try freeDataPorts()
        try directory.makeDirectory("remote")
        try directory.makeDirectory("empty")
        try directory.write("passwords", password + "\n")
        try await makeCertificate(in: directory)
        let configuration = """
            listen=YES
            listen_address=\(address)
            listen_port=\(port)
            background=NO
            run_as_launching_user=YES
            local_enable=NO
            anonymous_enable=YES
            anon_root=\(directory.path)/remote
            secure_email_list_enable=YES
            email_password_file=\(directory.path)/passwords
            write_enable=YES
            anon_upload_enable=YES
            anon_mkdir_write_enable=YES
            anon_other_write_enable=YES
            anon_world_readable_only=NO
            anon_umask=022
            pasv_min_port=\(dataPorts[0])
            pasv_max_port=\(dataPorts[7])
            ssl_enable=\(offersTLS ? "YES" : "NO")
            allow_anon_ssl=YES
            rsa_cert_file=\(directory.path)/certificate.pem
            rsa_private_key_file=\(directory.path)/key.pem
            ssl_ciphers=HIGH
            seccomp_sandbox=NO
            isolate=NO
            isolate_network=NO
            secure_chroot_dir=\(directory.path)/empty
            xferlog_enable=YES
            log_ftp_protocol=YES
            vsftpd_log_file=\(directory.path)/ftp.log
            \(more)

            """
        let file = try directory.write("vsftpd.conf", configuration)
        try await ServerProcess.running(
            [TestTools.find("vsftpd") ?? "vsftpd", file], log: directory.path("vsftpd.out"),
            isReady: { LoopbackSocket.isListening(port, at: address) }
        ) {
            try await body(FTPServer(directory: directory, port: port, dataPorts: dataPorts))
        }
    }
}

/// A certificate for 127.0.0.1 in `certificate.pem`, its key in `key.pem`.
func makeCertificate(in directory: TemporaryDirectory) async throws {
    try await runExpectingSuccess([
        "openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost",
        "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", directory.path("key.pem"), "-out",
        directory.path("certificate.pem"),
    ])
}

extension UploadOptions {
    /// Over http without TLS, as the tests' own servers speak it.
    static func plain(_ credentials: TransferCredentials? = nil) -> UploadOptions {
        var options = UploadOptions()
        options.isPlainHTTPAllowed = true
        options.credentials = credentials
        return options
    }
}

extension UploadRetries {
    /// As in the product, but without a wait.
    static var immediate: UploadRetries {
        UploadRetries(backoff: .init(first: .zero, limit: .zero))
    }
}
