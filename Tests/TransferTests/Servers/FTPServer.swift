import Basics
import Glibc
import TestSupport
import Transfer

/// A real vsftpd on the loopback for the user who runs the tests. Its files are in `remote` of the directory.
///
/// Its user is `ftp`, vsftpd's anonymous user, with a password from a file. vsftpd's local users would need rows of /etc/passwd and a file of PAM.
struct FTPServer: Sendable {
    let directory: TemporaryDirectory
    let port: Int
    /// The ports for data. There are several, because a child of vsftpd may still hold the last one when the next asks for its own.
    let dataPorts: [Int]

    static let password = "canary-secret"

    /// Returns the URL of the path below which the files are.
    func url(isTLS: Bool = true, port: Int? = nil) -> String {
        "\(isTLS ? "ftps" : "ftp")://127.0.0.1:\(port ?? self.port)/"
    }

    /// Whether a client has sent a user's name.
    var hasUser: Bool { (try? directory.text("ftp.log"))?.contains("\"USER ") ?? false }

    private static let nextDataPorts = Locked(Int(getpid()) * 101)

    /// Returns eight consecutive free ports. They are below the ports that the kernel gives to connections (ip_local_port_range: 32768 and above),
    /// and no other server had them before.
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

    /// - Parameter address: The address to listen at. If it is not 127.0.0.1, a cutting proxy takes the same ports of 127.0.0.1, because a server
    ///   only sends the port for data.
    /// - Parameter more: Another line of the configuration, which overrides earlier ones.
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

/// Makes a certificate for 127.0.0.1 in `certificate.pem`, with its key in `key.pem`.
func makeCertificate(in directory: TemporaryDirectory) async throws {
    try await runExpectingSuccess([
        "openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost",
        "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", directory.path("key.pem"), "-out",
        directory.path("certificate.pem"),
    ])
}

extension UploadOptions {
    /// Options for http without TLS, which the tests' own servers speak.
    static func plain(_ credentials: TransferCredentials? = nil) -> UploadOptions {
        var options = UploadOptions()
        options.isPlainHTTPAllowed = true
        options.credentials = credentials
        return options
    }
}

extension UploadRetries {
    /// The product's retries, without a pause.
    static var immediate: UploadRetries {
        UploadRetries(backoff: .init(first: .zero, limit: .zero))
    }
}
