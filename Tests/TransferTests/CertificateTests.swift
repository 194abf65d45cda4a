import Basics
import Foundation
import TestSupport
import Testing

@testable import Transfer

/// Row T3 of the threats: no data of ours reaches a server that cannot prove its identity.
@Suite(
    .proves(
        .transfer,
        "A server with an expired, early, self-signed or foreign certificate, or with TLS below 1.2, gets nothing (T3)"),
    .program("openssl"), .program("python3"))
struct CertificateTests {
    enum Fault: String, CaseIterable, Sendable {
        case none, expired, notYetValid, selfSigned, otherAuthority, otherHost, otherPurpose, issuedByNoAuthority
    }

    private func issue(_ fault: Fault, _ authority: CertificateAuthority, in directory: TemporaryDirectory)
        async throws -> CertificateAuthority.Issued
    {
        let here = "127.0.0.1"
        switch fault {
        case .none: return try await authority.issue("server", host: here, extensions: ["extendedKeyUsage=serverAuth"])
        case .expired: return try await authority.issue("server", host: here, days: -1)
        case .notYetValid: return try await authority.issue("server", host: here, isEarly: true)
        case .selfSigned:
            try await makeCertificate(in: directory)
            return .init(certificate: directory.path("certificate.pem"), key: directory.path("key.pem"))
        case .otherAuthority:
            return try await CertificateAuthority(in: directory, place: "other").issue("server", host: here)
        case .otherHost: return try await authority.issue("server", host: "files.example")
        case .otherPurpose:
            return try await authority.issue("server", host: here, extensions: ["extendedKeyUsage=clientAuth"])
        case .issuedByNoAuthority:
            let holder = try await authority.issue(
                "holder", host: "holder.example", extensions: ["basicConstraints=CA:FALSE"])
            return try await authority.issue("server", host: here, by: holder)
        }
    }

    @Test(arguments: Fault.allCases) func testT3ThatAWrongOneIsRefusedAndGetsNothing(fault: Fault) async throws {
        try await withTemporaryDirectory { directory in
            // given
            let authority = try await CertificateAuthority(in: directory)
            let issued = try await issue(fault, authority, in: directory)
            try await PythonServer.running(in: directory, isTLS: true, issued: issued) { server in
                let transport = try CurlTransport()
                var request = TransferRequest(.put, server.origin + "/a", body: .bytes([1]))
                request.certificateAuthorities = authority.certificate
                request.credentials = .password(user: "ci", password: "secret")

                // when, then
                if fault == .none {
                    #expect(try await transport.perform(request).status == 201)
                } else {
                    let error = await expectRejection(TransferError.self, \.code, .certificate) {
                        try await transport.perform(request)
                    }
                    expectContains(error?.message ?? "", "not trusted")
                    #expect(try server.requests() == [])
                }
            }
        }
    }

    @Test(
        .proves(
            .transfer,
            "`certificates` of the settings, SSL_CERT_FILE and SSL_CERT_DIR apply to everything that leaves the service: git, notices, uploads, sign-in, traces and commands"
        ), arguments: ["file", "directory"])
    func testThatTheEnvironmentsCertificatesAreTrustedInPlaceOfTheMachines(kind: String) async throws {
        try await withTemporaryDirectory { directory in
            // given
            let authority = try await CertificateAuthority(in: directory)
            let issued = try await authority.issue("server", host: "127.0.0.1")
            let trusted = try directory.makeDirectory("trusted")
            try directory.write("trusted/authority.pem", try WholeFile.read(authority.certificate, limit: 1 << 20))
            try await runExpectingSuccess(["openssl", "rehash", trusted])
            try await PythonServer.running(in: directory, isTLS: true, issued: issued) { server in
                let (url, path) = (server.origin + "/headers", kind == "file" ? authority.certificate : trusted)
                // when, then: in a separate process, whose environment changes
                await #expect(processExitsWith: .success) {
                    [url = url as String, path = path as String] in
                    let transport = try CurlTransport()
                    await expectRejection(TransferError.self, \.code, .certificate) {
                        try await transport.perform(TransferRequest(.get, url))
                    }
                    try CertificateVariables.set(path)
                    let answer = try await transport.perform(TransferRequest(.get, url))
                    if answer.status != 200 { exit(2) }
                    // Those of a request come first.
                    var request = TransferRequest(.get, url)
                    request.certificateAuthorities = "/etc/hostname"
                    await expectRejection(TransferError.self, \.code, .certificate) {
                        try await transport.perform(request)
                    }
                }
            }
        }
    }

    @Test func testThatAWrongPathIsRefused() throws {
        #expect(throws: FileError.self) { try CertificateVariables.set("/nowhere.pem") }
        #expect(throws: FileError.self) { try CertificateVariables.set("/dev/null") }
    }

    @Test(
        .proves(
            .badInput,
            "`certificates` that name a file or a directory without a certificate keep the service from starting, with a sentence"
        ))
    func testThatFilesWithoutACertificateAreRefused() async throws {
        try await withTemporaryDirectory { directory in
            // given
            let authority = try await CertificateAuthority(in: directory)
            let issued = try await authority.issue("server", host: "127.0.0.1")
            let pem = try String(contentsOfFile: authority.certificate, encoding: .utf8)
            let unnamed = try directory.makeDirectory("unnamed")
            try directory.write("unnamed/authority.pem", pem)
            let refused = [
                try directory.write("text", "trust everybody\n"), issued.key,
                try directory.write("empty", ""), try directory.write("cut", String(pem.prefix(pem.count / 2))),
                try directory.write(
                    "short", pem.replacing(try Regex("(?s)\n[^-]*\n-----END"), with: "\nMIIC\n-----END")),
                try directory.makeDirectory("none"), unnamed,
            ]
            // when, then
            for path in refused {
                let error = #expect(throws: FileError.self, "\(path)") { try CertificateVariables.set(path) }
                expectContains(error?.message ?? "", "it has no certificate")
            }
        }
    }

    @Test(.program("curl"), .oldPythonTLS) func testT3ThatNothingOlderThanTLS12IsSpoken() async throws {
        try await withTemporaryDirectory { directory in
            // given
            let openSSL = try directory.writeLaxOpenSSL()
            let authority = try await CertificateAuthority(in: directory)
            let issued = try await authority.issue("server", host: "127.0.0.1")
            try await PythonServer.running(in: directory, isTLS: true, issued: issued, isOld: true) { server in
                // The server itself serves every client that accepts it.
                try await runExpectingSuccess(
                    ["env", "OPENSSL_CONF=\(openSSL)"] + TestTools.curl + [
                        "-f", "--cacert", authority.certificate, "--tlsv1.1", "-o", "/dev/null",
                        server.origin + "/headers",
                    ])
                #expect(try server.requests().count == 1)

                // when: in a separate process, because OpenSSL reads its file once
                let (url, trusted) = (server.origin + "/headers", authority.certificate)
                await #expect(processExitsWith: .success) {
                    [url = url as String, trusted = trusted as String, openSSL = openSSL as String] in
                    setenv("OPENSSL_CONF", openSSL, 1)
                    var request = TransferRequest(.get, url)
                    request.certificateAuthorities = trusted
                    let transport = try CurlTransport()
                    let error = await expectRejection(TransferError.self, \.code, .certificate) {
                        try await transport.perform(request)
                    }
                    if error == nil { exit(2) }
                }

                // then
                #expect(try server.requests().count == 1)
            }
        }
    }
}

extension Trait where Self == ConditionTrait {
    /// Skips the test, with that reason, if a server in Python cannot speak TLS 1.1. Debian's can.
    static var oldPythonTLS: Self {
        .enabled("python3 speaks no TLS 1.1 here") {
            try await run(["/usr/bin/python3", "-c", "import ssl, sys; sys.exit(not ssl.HAS_TLSv1_1)"]).status == 0
        }
    }
}
