import Foundation

/// A certificate authority for tests, by openssl.
package struct CertificateAuthority {
    /// The paths of the PEM files of a certificate and its key.
    package struct Issued: Sendable {
        package let certificate: String
        package let key: String

        package init(certificate: String, key: String) {
            self.certificate = certificate
            self.key = key
        }
    }

    private let directory: TemporaryDirectory
    private let place: String
    /// The authority's own certificate.
    package var certificate: String { directory.path("\(place)/ca.pem") }

    /// Creates the authority.
    /// - Parameter place: The name of its folder in the directory.
    package init(in directory: TemporaryDirectory, place: String = "authority") async throws {
        self.directory = directory
        self.place = place
        try directory.makeDirectory(place)
        try await openssl([
            "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "ca.key", "-out", "ca.pem", "-days", "2",
            "-subj", "/CN=Test authority \(place)",
        ])
    }

    /// Makes the certificate `NAME.pem` and its key `NAME.key`.
    /// - Parameters:
    ///   - host: The host that the certificate is for.
    ///   - days: The days until it expires; negative if it has expired.
    ///   - isEarly: Whether it is not valid yet.
    ///   - issuer: The certificate that signs it, which follows it in the file; `nil` for the authority itself.
    ///   - extensions: Further lines of its extensions, as in openssl's files.
    package func issue(
        _ name: String, host: String, days: Int = 2, isEarly: Bool = false, by issuer: Issued? = nil,
        extensions: [String] = []
    ) async throws -> Issued {
        let own = "subjectAltName=\(host == "127.0.0.1" ? "IP" : "DNS"):\(host)"
        try directory.write("\(place)/\(name).ext", ([own] + extensions).joined(separator: "\n") + "\n")
        try await openssl([
            "req", "-newkey", "rsa:2048", "-nodes", "-keyout", "\(name).key", "-out", "\(name).csr", "-subj",
            "/CN=\(host)",
        ])
        // `openssl x509 -days` does not accept negative numbers in all versions, so dates are given to `openssl ca`.
        try directory.write("\(place)/index-\(name)", "")
        try directory.write(
            "\(place)/\(name).cnf",
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
        try directory.write("\(place)/serial-\(name)", "0\(1 + name.utf8.count % 8)\n")
        let begin = isEarly ? "20480101000000Z" : "20240101000000Z"
        let end = days < 0 ? "20240102000000Z" : "20491231000000Z"
        try await openssl([
            "ca", "-batch", "-notext", "-config", "\(name).cnf", "-cert", issuer?.certificate ?? "ca.pem", "-keyfile",
            issuer?.key ?? "ca.key", "-in", "\(name).csr", "-out", "\(name).pem", "-startdate", begin, "-enddate", end,
            "-extfile", "\(name).ext",
        ])
        if let issuer {
            let chain =
                try directory.text("\(place)/\(name).pem") + String(contentsOfFile: issuer.certificate, encoding: .utf8)
            try directory.write("\(place)/\(name).pem", chain)
        }
        return Issued(certificate: directory.path("\(place)/\(name).pem"), key: directory.path("\(place)/\(name).key"))
    }

    private func openssl(_ arguments: [String]) async throws {
        try await runExpectingSuccess(["openssl"] + arguments, in: directory.path(place))
    }
}

extension TemporaryDirectory {
    /// Writes a file for `OPENSSL_CONF` with which OpenSSL accepts every offered version and cipher, as it does on some machines.
    /// - Returns: The file's path.
    package func writeLaxOpenSSL() throws -> String {
        try write(
            "openssl.cnf",
            """
            openssl_conf = all
            [all]
            ssl_conf = tls
            [tls]
            system_default = old
            [old]
            MinProtocol = TLSv1
            CipherString = DEFAULT:@SECLEVEL=0
            """)
    }
}
