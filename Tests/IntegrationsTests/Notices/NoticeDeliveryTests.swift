import Archives
import Basics
import BotSupport
import Foundation
import Integrations
import JobProtocol
import Model
import Notifications
import Settings
import Storage
import TestSupport
import Testing
import Transfer

/// From a push to the delivered message.
@Suite struct NoticeDeliveryTests {
    /// The mail at a real mail server, as a mail program reads it.
    @Test(
        .proves(.notices, "From a push to a mail at a real server, and one that answers it when it is fixed"),
        .mailServer)
    func testThatARedPushIsOneMailAndTheGreenOneAnswersIt() async throws {
        try await withTemporaryDirectory { directory in
            try await MailServer.running(in: directory) { server in
                // given
                let settings = MailSettings(
                    server: server.plainURL, from: try #require(MailAddress("Jörgs CI <ci@acme.example>")),
                    isInsecure: true)
                let plan = try NotifyingBot.plan(
                    NotifyingBot.mail, settings: settings, transport: CurlTransport())
                try await withBot(plan) { bot in
                    // when
                    for commit in [Commit.succeeding, .failing("debug"), .failing("debug"), .succeeding] {
                        try await bot.integrated(commit)
                    }
                    // then
                    let mails = try await server.mails(count: 2)
                    #expect(mails.count == 2)
                    let broke = try #require(mails.first { $0.contains("broke:") })
                    let fixed = try #require(mails.first { $0.contains("fixed:") })
                    for mail in mails {
                        #expect(mail.hasPrefix("Return-path: <ci@acme.example>\nEnvelope-to: ann@acme.example\n"))
                        expectContains(
                            mail, "\nFrom: =?UTF-8?B?SsO2cmdzIENJ?=\n <ci@acme.example>\nTo: Ann <ann@acme.example>\n")
                    }
                    expectContains(broke, "\nSubject: [kit] broke: main at ")
                    expectContains(broke, "Tests that fail now (1):\n  KitTests/subtracts")
                    expectContains(broke, "\nhttp://martlet.example/bots/kit/2\n")
                    let id = try #require(broke.components(separatedBy: "\nMessage-ID: ").last).prefix { $0 != "\n" }
                    expectContains(fixed, "\nIn-Reply-To: \(id)\nReferences: \(id)\n")
                    let messages = try await bot.outboxIsSent()
                    #expect(messages.map(\.state) == [.sent, .sent])
                    expectContains(messages[0].note ?? "", "250 OK id=")
                }
            }
        }
    }

    /// The service's own settings, secret and transport, with a real server: TLS from the first byte or by STARTTLS, and each mechanism.
    @Test(
        .proves(
            .notices,
            "Mail is sent over TLS: smtps and STARTTLS, AUTH PLAIN and LOGIN, with own certificates; without TLS or trust it waits"
        ), .mailServer, arguments: ["smtps", "smtp"], ["PLAIN", "LOGIN"])
    func testThatAMailGoesByTLSWithAPassword(_ scheme: String, _ mechanism: String) async throws {
        try await withTemporaryDirectory { directory in
            try await MailServer.running(in: directory, needsUser: true, mechanisms: [mechanism]) { server in
                // given
                let settings = MailSettings(
                    server: scheme == "smtps" ? server.tlsURL : server.plainURL,
                    from: try #require(MailAddress("ci@acme.example")), credentials: "mail",
                    certificates: server.certificate)
                let plan = try NotifyingBot.plan(NotifyingBot.mail, settings: settings, transport: CurlTransport())
                try await withBot(plan) { bot in
                    try bot.secrets.set("mail", "ci:secret")
                    // when
                    try await bot.integrated(.failing("debug"))
                    _ = try await server.mails(count: 1)
                    // then
                    #expect(try await bot.outboxIsSent().map(\.state) == [.sent])
                    expectContains(try server.log(), " P=esmtpsa ")
                    expectContains(try server.log(), " A=\(mechanism.lowercased()):ci ")
                }
            }
        }
    }

    @Test(
        .proves(
            .notices,
            "Mail is sent over TLS: smtps and STARTTLS, AUTH PLAIN and LOGIN, with own certificates; without TLS or trust it waits"
        ), .mailServer)
    func testT3ThatWithoutTLSOrTrustThePasswordIsNotSentAndTheMailWaits() async throws {
        for offersTLS in [false, true] {
            try await withTemporaryDirectory { directory in
                try await MailServer.running(in: directory, offersTLS: offersTLS, needsUser: true) { server in
                    let settings = MailSettings(
                        server: server.plainURL, from: try #require(MailAddress("ci@acme.example")),
                        credentials: "mail", certificates: offersTLS ? nil : server.certificate)
                    let plan = try NotifyingBot.plan(NotifyingBot.mail, settings: settings, transport: CurlTransport())
                    try await withBot(plan) { bot in
                        try bot.secrets.set("mail", "ci:secret")
                        try await bot.integrated(.failing("debug"))
                        let waiting = try await bot.message("the refusal") { $0.note != nil && $0.state == .waiting }
                        expectContains(waiting.note ?? "", offersTLS ? "certificate" : "offers no STARTTLS")
                        let log = try server.log()
                        #expect(!log.contains("authenticator") && !log.contains(" <= "))
                    }
                }
            }
        }
    }

    @Test(.proves(.notices, "Webhooks signed by Standard Webhooks; the interface's names; bounded"))
    func testThatAWebhookIsSignedAndSaysWhatTheInterfaceSays() async throws {
        try await NotifyingBot.with(NotifyingBot.webhook) { bot in
            // when
            try await bot.integrated()
            let done = try await bot.integrated(.failing("debug"))
            _ = try await bot.outboxIsSent()
            // then
            let requests = bot.transport.takeRequests()
            let request = try #require(requests.first)
            #expect(requests.count == 1 && request.url == NotifyingBot.hook)
            let id = try #require(request.headers["webhook-id"])
            let seconds = try #require(request.headers["webhook-timestamp"])
            let key = try #require(Data(base64Encoded: String(NotifyingBot.key.dropFirst(6))))
            let code = Digest.hmacSHA256(key: Array(key), message: Array("\(id).\(seconds).".utf8) + request.body)
            #expect(request.headers["webhook-signature"] == "v1," + Data(code).base64EncodedString())
            #expect(Int64(seconds) == bot.time.now.millisecondsSinceEpoch / 1000)
            #expect(request.headers["content-type"] == "application/json")
            let body = try JSON(request.body, limit: 1 << 20)
            #expect(body["type"]?.text == "integration.broke")
            let told = body["data"]?["integration"]
            #expect(told?["commit"]?.text == done.record.commit.description)
            #expect(told?["verdict"]?.text == "test-failures")
            #expect(body["data"]?["newIssues"]?.integer == 1)
            #expect(body["data"]?["issues"]?.elements?.first?["rule"]?.text?.contains("subtracts") == true)
        }
    }

    /// A try whose answer was lost is repeated as the same message.
    @Test(
        .proves(
            .notices,
            "A notification that is sent twice has the same Message-ID or webhook-id. A daemon that stops or is killed leaves it to the next"
        ), arguments: [NotifyingBot.mail, NotifyingBot.webhook])
    func testThatOneSentTwiceIsKnownToBeTheSame(_ file: String) async throws {
        try await NotifyingBot.with(file) { bot in
            // given
            bot.transport.fail(request: 1, with: .after(.interrupted))
            // when
            try await bot.integrated(.failing("debug"))
            let message = try await bot.message("the second try") { $0.state == .sent }
            // then
            #expect(message.tries == 2)
            let requests = bot.transport.takeRequests()
            #expect(requests.count == 2)
            let names = requests.map { $0.headers["webhook-id"] ?? $0.header("Message-ID") ?? "" }
            #expect(names[0] == names[1] && !names[0].isEmpty)
            if file == NotifyingBot.mail {
                let dates = requests.map { $0.header("Date") }
                #expect(dates[0] == dates[1] && dates[0] != nil)
            } else {
                #expect(requests[0].body == requests[1].body)
                let stamps = requests.compactMap { $0.headers["webhook-timestamp"].flatMap(Int64.init) }
                #expect(stamps.count == 2 && stamps[0] < stamps[1], "of each try's own time")
            }
        }
    }

    /// Servers that scan for viruses accept a mail after minutes. A client that does not wait sends it twice.
    @Test(
        .proves(
            .notices,
            "A mail server has RFC 5321's time to answer; a later answer counts; a mail that may have arrived waits for an hour; the daemon can stop meanwhile"
        ))
    func testThatAMailServerHasItsTimeAndAnUncertainMailItsPause() async throws {
        try await NotifyingBot.with(NotifyingBot.mail) { bot in
            // given: one with an unknown result, and one that certainly did not arrive
            bot.transport.fail(request: 1, with: .after(.timedOut))
            bot.transport.fail(request: 2, with: .before(.timedOut))
            // when
            try await bot.integrated(.failing("debug"))
            let first = try await bot.message("the first try") { $0.tries == 1 && $0.state == .waiting }
            #expect(try first.nextAt - #require(first.failedAt) > .seconds(3590) && first.isUncertain)
            let last = try await bot.message("the third try") { $0.state == .sent }
            // then
            #expect(last.tries == 3)
            for request in bot.transport.takeRequests() {
                let stall = try #require(request.limits.stall)
                let total = try #require(request.limits.total)
                #expect(stall >= .seconds(600) && total >= stall + request.limits.connect)
            }
        }
    }

    /// A refusal of every mail is a fault that will be fixed; mails wait for that.
    @Test(
        .proves(
            .notices,
            "4yz is retried; 5yz is given up with the server's message, except refusals of everything and 552; silence and lost answers are recognized"
        ))
    func testThatAMailServerThatRefusesEverybodyIsWaitedFor() async throws {
        try await NotifyingBot.with(NotifyingBot.mail) { bot in
            bot.transport.fail(request: 1, with: .before(.denied))
            bot.transport.fail(request: 2, with: .status(552))
            try await bot.integrated(.failing("debug"))
            let message = try await bot.message("the mail") { $0.state == .sent || $0.state == .givenUp }
            #expect(message.state == .sent && message.tries == 3)
        }
    }

    @Test(
        .proves(
            .notices,
            "2xx takes a webhook, whatever comes after the head; a body that is not taken holds its branch up for an hour"
        ))
    func testThatAReceiverThatAnswersAtLengthHasTakenIt() async throws {
        try await NotifyingBot.with(NotifyingBot.webhook) { bot in
            bot.transport.answer(
                .post, NotifyingBot.hook,
                with: TransferResponse(status: 200, body: Array(repeating: 0x20, count: 100_000)))
            try await bot.integrated(.failing("debug"))
            let message = try await bot.message("the answer") { $0.note != nil || $0.state == .sent }
            #expect(message.state == .sent && message.tries == 1)
        }
    }

    /// If a receiver does not accept a body, the next messages of the branch wait for an hour.
    @Test(
        .proves(
            .notices,
            "2xx takes a webhook, whatever comes after the head; a body that is not taken holds its branch up for an hour"
        ), arguments: [400, 413, 422])
    func testThatABodyThatIsNotTakenHoldsItsBranchUpForAnHour(_ status: Int) async throws {
        try await NotifyingBot.with(NotifyingBot.webhook) { bot in
            // given
            let start = bot.time.now
            bot.transport.answer(.post, NotifyingBot.hook, with: TransferResponse(status: status))
            try await bot.integrated(.failing("debug"))
            try await bot.integrated(.succeeding)
            // when
            let broke = try await bot.message("its end") { $0.state == .givenUp }
            bot.transport.answer(.post, NotifyingBot.hook, with: TransferResponse(status: 204))
            // then
            #expect(broke.content.notice?.transition == .broke && broke.tries >= Outbox.leastTries)
            let took = try #require(broke.endedAt) - start
            #expect(took >= .seconds(3600) && took < .seconds(4 * 3600), "\(took)")
            expectContains(broke.note ?? "", "answered \(status) for an hour")
            let fixed = try await bot.message("the next") { $0.state == .sent }
            #expect(fixed.content.notice?.transition == .fixed)
        }
    }

    @Test(
        .proves(
            .notices,
            "A notification that is sent twice has the same Message-ID or webhook-id. A daemon that stops or is killed leaves it to the next"
        ), arguments: [NotifyingBot.mail, NotifyingBot.webhook])
    func testThatADaemonThatStopsLeavesItToTheNext(_ file: String) async throws {
        try await NotifyingBot.with(file) { bot in
            // given
            bot.transport.fail(request: 1, with: .silence)
            try await bot.integrated(.failing("debug"))
            await until("the first try") { bot.transport.count == 1 }
            // when
            try await bot.stop()
            try await bot.start()
            let message = try await bot.message("the second try") { $0.state == .sent }
            // then
            #expect(message.tries == 2)
            #expect(try await bot.store.outbox().items.count == 1)
        }
    }

    // MARK: What does not arrive

    @Test(
        .proves(
            .notices,
            "4yz is retried; 5yz is given up with the server's message, except refusals of everything and 552; silence and lost answers are recognized"
        ))
    func testThatAMailServersWordsDecide() async throws {
        try await NotifyingBot.with(NotifyingBot.mail) { bot in
            func answers(_ status: Int, _ words: String) {
                bot.transport.answer(
                    .mail, NotifyingBot.server, with: TransferResponse(status: status, body: Array(words.utf8)))
            }
            // given
            answers(451, "greylisted, come again")
            try await bot.integrated(.failing("debug"))
            let waiting = try await bot.message("the refusal for now") { $0.note != nil && $0.state == .waiting }
            expectContains(waiting.note ?? "", "smtps://mail.acme.example answered 451 greylisted, come again")
            // when
            answers(550, "no such\u{1B}[31m user\r\nhere")
            let refused = try await bot.message("the refusal for good") { $0.state == .givenUp }
            // then
            expectContains(refused.note ?? "", "answered 550 no such [31m user here")
            #expect(refused.note?.hasPrefix("given up") == false, "at once, not after a day")
        }
    }

    @Test(arguments: [
        (410, OutboxMessage.State.givenUp), (302, .waiting), (404, .waiting), (500, .waiting), (429, .waiting),
    ])
    func testThatAWebhooksReceiverDecides(_ status: Int, _ state: OutboxMessage.State) async throws {
        try await NotifyingBot.with(NotifyingBot.webhook) { bot in
            bot.transport.answer(
                .post, NotifyingBot.hook,
                with: TransferResponse(
                    status: status, headers: ["Location": "https://evil.example/", "Retry-After": "60"],
                    body: Array("hook?key=path-secret".utf8)))
            try await bot.integrated(.failing("debug"))
            let message = try await bot.message("the answer") { $0.note != nil && $0.state == state }
            #expect(message.note?.hasPrefix("POST https://chat.acme.example answered \(status)") == true)
            #expect(bot.transport.takeRequests().allSatisfy { $0.url == NotifyingBot.hook })
        }
    }

    @Test(
        .proves(.intake, "A destination is left alone for as long as its `Retry-After` says, in seconds or as a date"),
        arguments: ["3600", "Sun, 01 Mar 2026 13:00:00 GMT"])
    func testThatAWebhooksReceiverIsLeftAloneForAsLongAsItSays(_ text: String) async throws {
        try await NotifyingBot.with(NotifyingBot.webhook) { bot in
            bot.transport.answer(
                .post, NotifyingBot.hook, with: TransferResponse(status: 503, headers: ["Retry-After": text]))
            try await bot.integrated(.failing("debug"))
            let message = try await bot.message("the answer") { $0.note != nil && $0.state == .waiting }
            let end =
                text == "3600"
                ? try #require(message.failedAt) + .seconds(3590) : Timestamp(millisecondsSinceEpoch: 1_772_370_000_000)
            #expect(message.nextAt >= end && message.nextAt <= end + .seconds(600), "\(message.nextAt)")
        }
    }

    /// Row S2: credentials are in no row and no line.
    @Test(
        .proves(.notices, "Passwords, keys and the paths of webhooks are in no row and no line (S2)"),
        arguments: [TransferError.Code.interrupted, .timedOut, .certificate, .other])
    func testS2ThatNoSecretIsInARowOrALine(_ code: TransferError.Code) async throws {
        let file = NotifyingBot.mail + NotifyingBot.webhook.dropFirst("notify:\n".count)
        try await NotifyingBot.with(file) { bot in
            // given
            for number in 1...2 { bot.transport.fail(request: number, with: .before(code)) }
            // when
            try await bot.integrated(.failing("debug"))
            let store = try bot.store
            await until("both tries") { (try? await store.outbox().items.count { $0.note != nil }) == 2 }
            // then
            let secrets = ["mail-password", NotifyingBot.key, "MfKQ9r8G", "path-secret"]
            let rows = try await store.outbox().items.map { "\($0)" }
            let lines = bot.log.lines.map { "\($0)" }
            #expect(rows.count == 2)
            #expect(!(rows + lines).contains { text in secrets.contains { text.contains($0) } })
        }
    }

    @Test func testThatWhatTheOperatorHasToMendIsSaidAndWaitsForIt() async throws {
        try await NotifyingBot.with(NotifyingBot.webhook) { bot in
            // given
            try bot.secrets.set("chat", "a word that users choose")
            try await bot.integrated(.failing("debug"))
            let message = try await bot.message("the refusal") { $0.note != nil && $0.state == .waiting }
            expectContains(message.note ?? "", "the secret chat is not a signing key")
            #expect(bot.transport.takeRequests().isEmpty)
            // when
            try bot.secrets.set("chat", NotifyingBot.key)
            // then
            _ = try await bot.message("the webhook") { $0.state == .sent }
        }
    }

    @Test func testThatANoticeThatIsGoneIsNotSent() async throws {
        try await NotifyingBot.with(NotifyingBot.mail) { bot in
            // given
            for number in 1...100 { bot.transport.fail(request: number, with: .before(.unreachable)) }
            try await bot.integrated(.failing("debug"))
            _ = try await bot.message("the first try") { $0.note != nil && $0.state == .waiting }
            // when
            try bot.writeFile("")
            let message = try await bot.message("its end") { $0.state == .unneeded }
            // then
            expectContains(message.note ?? "", "has no mail notice team any more")
        }
    }
}
