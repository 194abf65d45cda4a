import Foundation
import TestSupport
import Testing
import Transfer

/// Mails that real servers accept or refuse.
@Suite struct MailTransferTests {
    private static let message = "From: ci@acme.example\r\nSubject: hello\r\n\r\n.\r\n..dots\r\nlast\r\n"

    private static func mail(
        _ url: String, to recipient: String = "ann@acme.example", password: String? = nil, authorities: String? = nil,
        isPlain: Bool = false
    ) -> TransferRequest {
        var request = TransferRequest(
            .mail, url, body: .bytes(Array(message.utf8)),
            credentials: password.map { .password(user: "ci", password: $0) })
        request.envelope = MailEnvelope(from: "ci@acme.example", to: recipient)
        request.certificateAuthorities = authorities
        request.isPlainMailAllowed = isPlain
        return request
    }

    @Suite(.mailServer) struct GivenExim {
        private func withServer(
            offersTLS: Bool = true, needsUser: Bool = false, _ body: (MailServer, CurlTransport) async throws -> Void
        ) async throws {
            try await withTemporaryDirectory { directory in
                try await MailServer.running(in: directory, offersTLS: offersTLS, needsUser: needsUser) { server in
                    try await body(server, CurlTransport())
                }
            }
        }

        @Test(.proves(.notices, "Mail by SMTP through libcurl, at a real Exim: smtps, STARTTLS, AUTH, whole bodies"))
        func testThatAMailArrivesWholeByEachWay() async throws {
            try await withServer(needsUser: true) { server, transport in
                // when
                for (index, url) in [server.tlsURL, server.plainURL].enumerated() {
                    let answer = try await transport.perform(
                        mail(
                            url, to: "ann\(index)@acme.example", password: "secret", authorities: server.certificate))
                    #expect(answer.status == 250)
                }
                // then
                let mails = try await server.mails(count: 2)
                let expected = (0..<2).map { index in
                    "Return-path: <ci@acme.example>\nEnvelope-to: ann\(index)@acme.example\n"
                        + message.replacing("\r\n", with: "\n")
                }
                #expect(Set(mails) == Set(expected))
                let log = try server.log()
                #expect(log.components(separatedBy: " P=esmtpsa ").count == 3, "with TLS and a password both: \(log)")
            }
        }

        @Test(
            .proves(
                .programs,
                "`doctor` examines the service with the user and the PATH of its unit: unit, daemon, bot files, secrets, repositories and targets, each finding with its remedy; `--json`"
            ))
        func testThatAServerCanBeAskedWithoutAMail() async throws {
            try await withServer(needsUser: true) { server, transport in
                for url in [server.tlsURL, server.plainURL] {
                    // given
                    var request = TransferRequest(
                        .head, url, credentials: .password(user: "ci", password: "secret"))
                    request.certificateAuthorities = server.certificate
                    // when, then
                    let answer = try await transport.perform(request)
                    #expect(answer.isSuccess)
                    request.credentials = .password(user: "ci", password: "wrong")
                    await expectRejection(TransferError.self, \.code, .credentials) {
                        try await transport.perform(request)
                    }
                }
                let log = try server.log()
                #expect(!log.contains(" <= "))
            }
        }

        @Test func testThatASettingCanDoWithoutTLS() async throws {
            try await withServer(offersTLS: false) { server, transport in
                let answer = try await transport.perform(mail(server.plainURL, isPlain: true))
                #expect(answer.status == 250)
                #expect(try await server.mails(count: 1).count == 1)
                await expectRejection(TransferError.self, \.code, .credentials) {
                    try await transport.perform(mail(server.plainURL, password: "secret", isPlain: true))
                }
            }
        }

        @Test(
            .proves(.notices, "No STARTTLS and bad certificates end it before the password and the mail are sent (T3)"))
        func testThatAServerWithoutSTARTTLSGetsNoPasswordAndNoMail() async throws {
            try await withServer(offersTLS: false) { server, transport in
                let error = await expectRejection(TransferError.self, \.code, .schemeRefused) {
                    try await transport.perform(mail(server.plainURL, password: "secret"))
                }
                expectContains(error?.message ?? "", "offers no STARTTLS")
                let log = try server.log()
                #expect(!log.contains(" <= ") && !log.contains("authenticator"))
            }
        }

        @Test(
            .proves(.notices, "No STARTTLS and bad certificates end it before the password and the mail are sent (T3)"))
        func testT3ThatACertificateThatIsNotTrustedEndsItBeforeThePassword() async throws {
            try await withServer { server, transport in
                let named = server.tlsURL.replacing("127.0.0.1", with: "localhost")
                for (url, authorities) in [
                    (server.tlsURL, nil), (server.plainURL, nil), (named, server.certificate as String?),
                ] {
                    await expectRejection(TransferError.self, \.code, .certificate) {
                        try await transport.perform(mail(url, password: "secret", authorities: authorities))
                    }
                }
                let log = try server.log()
                #expect(!log.contains(" <= ") && !log.contains("authenticator"))
            }
        }

        @Test(
            .proves(
                .notices,
                "4yz is retried; 5yz is given up with the server's message, except refusals of everything and 552; silence and lost answers are recognized"
            ))
        func testThatWhatTheServerSaysIsTheAnswer() async throws {
            try await withServer { server, transport in
                // given
                func answer(_ recipient: String) async throws -> TransferResponse {
                    try await transport.perform(mail(server.tlsURL, to: recipient, authorities: server.certificate))
                }
                // when
                let nobody = try await answer("nobody@acme.example")
                let first = try await answer("grey@acme.example")
                try server.letIn()
                let second = try await answer("grey@acme.example")
                // then
                #expect([nobody, first, second].map(\.status) == [550, 451, 250])
                #expect(String(decoding: nobody.body, as: UTF8.self) == "no such user here")
                #expect(String(decoding: first.body, as: UTF8.self) == "greylisted, come again")
                _ = try await server.mails(count: 1)
            }
        }

        @Test func testThatAWrongPasswordIsSaidWithoutIt() async throws {
            try await withServer { server, transport in
                let error = await expectRejection(TransferError.self, \.code, .credentials) {
                    try await transport.perform(
                        mail(server.tlsURL, password: "hunter2", authorities: server.certificate))
                }
                expectContains(error?.description ?? "", "535 Incorrect authentication data")
                #expect(error?.description.contains("hunter2") == false)
            }
        }
    }

    @Suite(.program("python3")) struct GivenAnOddServer {
        /// The server must have the mail before this time is over.
        private let passing = Duration.milliseconds(TestLimits.passing(milliseconds: 700))

        private func answer(_ manner: String, limit: Duration = .seconds(60)) async throws -> TransferResponse {
            try await withTemporaryDirectory { directory in
                var result: TransferResponse?
                try await OddMailServer.running(as: manner, in: directory) { server in
                    var request = mail(server.url, isPlain: true)
                    request.limits.total = limit
                    result = try await CurlTransport().perform(request)
                }
                return try #require(result)
            }
        }

        @Test func testThatABusyServersWordsAreTheAnswer() async throws {
            let answer = try await answer("busy")
            #expect(answer.status == 421)
            #expect(String(decoding: answer.body, as: UTF8.self) == "4.3.2 too many 4.3.2 connections, come again")
        }

        @Test(
            .proves(
                .notices,
                "4yz is retried; 5yz is given up with the server's message, except refusals of everything and 552; silence and lost answers are recognized"
            ))
        func testThatNobodyKnowsWhatBecameOfAMailWhoseAnswerWasLost() async throws {
            await expectRejection(TransferError.self, \.code, .interrupted) { try await answer("lossy") }
        }

        @Test func testThatASlowServerIsWaitedForOnlySoLong() async throws {
            let error = await expectRejection(TransferError.self, \.code, .timedOut) {
                try await answer("slow", limit: passing)
            }
            #expect(error?.mayHaveArrived == true)
        }

        /// libcurl waits for the answer to the farewell when its limit is over.
        @Test(
            .proves(
                .notices,
                "A mail server has RFC 5321's time to answer; a later answer counts; a mail that may have arrived waits for an hour; the daemon can stop meanwhile"
            ))
        func testThatAnAnswerThatComesAfterTheLimitIsOne() async throws {
            let answer = try await answer("late", limit: passing)
            #expect(answer.status == 250)
            #expect(String(decoding: answer.body, as: UTF8.self) == "taken as 7")
        }

        @Test(
            .proves(
                .notices,
                "4yz is retried; 5yz is given up with the server's message, except refusals of everything and 552; silence and lost answers are recognized"
            ), arguments: [("closed", "554 5.7.1 your address"), ("stranger", "530 5.7.0 authentication required")])
        func testThatARefusalOfEverybodyIsNotOneOfTheMail(_ manner: String, _ words: String) async throws {
            let error = await expectRejection(TransferError.self, \.code, .denied) { try await answer(manner) }
            expectContains(error?.message ?? "", words)
            #expect(error?.mayHaveArrived == false)
        }

        /// Then libcurl waits within one call, in which its thread handles no other request.
        @Test(
            .proves(
                .notices,
                "A mail server has RFC 5321's time to answer; a later answer counts; a mail that may have arrived waits for an hour; the daemon can stop meanwhile"
            ))
        func testThatCancelingEndsTheWaitForTheAnswer() async throws {
            try await withTemporaryDirectory { directory in
                try await OddMailServer.running(as: "slow", in: directory) { server in
                    var request = mail(server.url, isPlain: true)
                    request.limits = TransferLimits(total: .seconds(100), stall: .seconds(100))
                    let task = Task { [request] in try await CurlTransport().perform(request) }
                    await until("the mail's end") { server.hasMail }
                    task.cancel()
                    await expectRejection(TransferError.self, \.code, .canceled) { try await task.value }
                }
            }
        }
    }

    @Test(
        .proves(
            .notices,
            "4yz is retried; 5yz is given up with the server's message, except refusals of everything and 552; silence and lost answers are recognized"
        ))
    func testThatASilentServerIsWaitedForOnlySoLong() async throws {
        let socket = try LoopbackSocket()
        defer { socket.stop() }
        var request = Self.mail("smtp://127.0.0.1:\(socket.port)", isPlain: true)
        request.limits.connect = .milliseconds(300)
        let transport = try CurlTransport()
        await expectRejection(TransferError.self, \.code, .timedOut) { [request] in try await transport.perform(request)
        }
    }

    @Test(
        .proves(.notices, "Subject, names and text of others stay in their line, header and size (X6, T1)"),
        arguments: [
            "ann@acme.example>\r\nRCPT TO:<eve@x.example", "ann@acme.example\nDATA", "a b@acme.example", "ann", "",
            "ann@acme.example\0", "<ann@acme.example>", "ann@acme.example,eve@x.example", "ä@acme.example",
            String(repeating: "a", count: 251) + "@b.c",
        ])
    func testT1ThatAnAddressCannotEndTheCommand(_ address: String) async throws {
        let socket = try LoopbackSocket()
        defer { socket.stop() }
        let transport = try CurlTransport()
        var request = Self.mail("smtp://127.0.0.1:\(socket.port)", to: address, isPlain: true)
        await expectRejection(TransferError.self, \.code, .invalid) { [request] in try await transport.perform(request)
        }
        request.envelope = MailEnvelope(from: address, to: "ann@acme.example")
        await expectRejection(TransferError.self, \.code, .invalid) { [request] in try await transport.perform(request)
        }
        #expect(!socket.hasCaller)
    }

    @Test func testThatOnlyAMailGoesToAMailServerAndNothingElseDoes() async throws {
        let transport = try CurlTransport()
        var unaddressed = Self.mail("smtps://mail.acme.example")
        unaddressed.envelope = nil
        var other = Self.mail("https://mail.acme.example/")
        other.certificateAuthorities = nil
        for request in [
            TransferRequest(.get, "smtps://mail.acme.example"), unaddressed, other,
            Self.mail("smtps://mail.acme.example/path"), Self.mail("smtps://ci@mail.acme.example"),
        ] {
            await expectRejection(TransferError.self, \.code, .invalid) { try await transport.perform(request) }
        }
        var token = Self.mail("smtps://mail.acme.example")
        token.credentials = .bearer(token: "x")
        await expectRejection(TransferError.self, \.code, .credentials) { [token] in try await transport.perform(token)
        }
    }
}
