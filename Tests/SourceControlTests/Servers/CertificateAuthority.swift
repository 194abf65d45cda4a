import TestSupport

/// Makes certificates by openssl.
struct CertificateAuthority {
    let directory: TemporaryDirectory
    /// The authority's own certificate.
    var certificate: String { directory.path("authority/ca.pem") }

    init(in directory: TemporaryDirectory) async throws {
        self.directory = directory
        try directory.makeDirectory("authority")
        try await openssl([
            "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "ca.key", "-out", "ca.pem", "-days", "2",
            "-subj",
            "/CN=Test authority",
        ])
    }

    /// Makes `NAME.pem` and `NAME.key`.
    /// - Parameters:
    ///   - host: For which it is.
    ///   - days: Until its end; negative: it has ended.
    func issue(_ name: String, host: String, days: Int = 2) async throws -> (certificate: String, key: String) {
        try directory.write("authority/\(name).ext", "subjectAltName=\(host == "127.0.0.1" ? "IP" : "DNS"):\(host)\n")
        try await openssl([
            "req", "-newkey", "rsa:2048", "-nodes", "-keyout", "\(name).key", "-out", "\(name).csr", "-subj",
            "/CN=\(host)",
        ])
        // x509 -days takes no negative number in all versions; ca takes dates.
        try directory.write("authority/index-\(name)", "")
        try directory.write(
            "authority/\(name).cnf",
            """
            [ca]
            default_ca = d
            [d]
            database = index-\(name)
            serial = serial-\(name)
            new_certs_dir = .
            default_md = sha256
            policy = p
            [p]
            commonName = supplied
            """)
        try directory.write("authority/serial-\(name)", "0\(1 + name.utf8.count % 8)\n")
        let end = days < 0 ? "20240102000000Z" : "20491231000000Z"
        try await openssl([
            "ca", "-batch", "-notext", "-config", "\(name).cnf", "-cert", "ca.pem", "-keyfile", "ca.key", "-in",
            "\(name).csr", "-out", "\(name).pem", "-startdate", "20240101000000Z", "-enddate", end, "-extfile",
            "\(name).ext",
        ])
        return (directory.path("authority/\(name).pem"), directory.path("authority/\(name).key"))
    }

    private func openssl(_ arguments: [String]) async throws {
        try await runExpectingSuccess(["openssl"] + arguments, in: directory.path("authority"))
    }
}
