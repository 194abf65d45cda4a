import Basics
package import Model
package import Settings
package import Storage
package import Transfer

/// Sends notices as mail, one message for each recipient.
package struct MailSender: OutboxSender {
    private let reading: NoticeReading
    private let bots: any BotSource
    private let settings: MailSettings?
    private let secrets: SecretStore
    private let transport: any Transport
    private let queue = SerialQueue(label: "mail-secrets")

    /// The time limits of RFC 5321, section 4.5.3.2: 5 minutes for the greeting, and 10 minutes for the reply after the text of the mail. Servers
    /// that search for viruses accept it only after that search. A client that does not wait for it sends the mail twice.
    static let limits = TransferLimits(connect: .seconds(300), total: .seconds(1500), stall: .seconds(600))
    /// The pause before a mail that may have arrived is sent again. Few mail programs hide one of two mails with the same Message-ID.
    static let uncertainPause = Duration.seconds(3600)

    package var kind: OutboxDestination.Kind { .mail }

    /// - Parameters:
    ///   - settings: The mail settings. If `nil`, messages wait for a daemon that has some.
    ///   - url: The URL of the service, for links.
    package init(
        store: Store, bots: any BotSource, settings: MailSettings?, secrets: SecretStore, transport: any Transport,
        url: String
    ) {
        reading = NoticeReading(store: store, url: url)
        self.bots = bots
        self.settings = settings
        self.secrets = secrets
        self.transport = transport
    }

    /// Sends a message as a mail; see `OutboxSender`.
    package func send(_ message: OutboxMessage) async -> OutboxOutcome {
        guard let notified = message.content.notice, let recipient = notified.recipient else {
            return .unneeded("it has no recipient")
        }
        guard let bot = await bots.bot(message.bot) else { return .absent }
        guard let notice = bot.notices?.first(where: { $0.name == notified.name }),
            case .mail(let named, _) = notice.target
        else { return .unneeded("the file of the bot \(message.bot) has no mail notice \(notified.name) any more") }
        guard let settings else {
            return .failed(
                OutboxFailure(
                    "no mail can be sent: the settings have no `mail`; write `mail: { server: …, from: … }` and start anew"
                ))
        }
        do {
            var request = TransferRequest(.mail, settings.server)
            if let name = settings.credentials {
                let secrets = secrets
                guard let secret = try await queue.run({ () throws(SettingsError) in try secrets.value(name) }) else {
                    return .failed(
                        OutboxFailure("the secret \(name) is not set; set it with `martlet secret set \(name)`"))
                }
                request.credentials = TransferCredentials(secret: secret, file: nil)
            }
            guard let facts = try await reading.facts(of: message) else {
                return .unneeded("the integration or version that it reports no longer exists")
            }
            let to = named.first { $0.address == recipient } ?? MailAddress(address: recipient)
            guard let to else { return .refused("\(recipient) is not a mail address") }
            let mail = Self.mail(facts, from: settings.from, to: to)
            request.body = .bytes(mail.bytes())
            request.envelope = MailEnvelope(from: settings.from.address, to: recipient)
            request.isPlainMailAllowed = settings.isInsecure
            request.certificateAuthorities = settings.certificates
            request.limits = Self.limits
            return Self.outcome(of: try await transport.perform(request), settings.server)
        } catch let error as TransferError {
            return Self.outcome(of: error)
        } catch {
            return .failed(OutboxFailure("\(error)", isOfDestination: false))
        }
    }

    static func mail(_ facts: NoticeFacts, from: MailAddress, to: MailAddress) -> MailMessage {
        /// Each recipient gets a separate mail, so each has its own id.
        func id(_ message: String) -> String {
            let digest = Digest.sha256(of: Array("\(message) \(to.address)".utf8))
            return "martlet.\(digest.prefix(32))@\(from.domain)"
        }
        // A bot's name may contain dots, which RFC 2919 does not allow here.
        let bot = facts.integration.id.bot.description.replacing(".", with: "-")
        return MailMessage(
            from: from, to: [to], subject: NoticeText.subject(of: facts), text: NoticeText.body(of: facts),
            id: id(facts.id), inReplyTo: facts.transition == .fixed ? facts.brokenID.map(id) : nil,
            list: "\(bot).martlet.\(from.domain)", date: facts.at)
    }

    /// Returns the outcome of a server's answer (RFC 5321, section 4.2.1). 4yz may be accepted later, 5yz will not. 421 is about the server itself,
    /// and 552 is temporary (section 4.5.3.1.10, and full mailboxes).
    private static func outcome(of answer: TransferResponse, _ server: String) -> OutboxOutcome {
        let words = OneLine.text(String(decoding: answer.body, as: UTF8.self), maximum: 300)
        if answer.isSuccess { return .sent(note: "\(answer.status) \(words)") }
        let what = "\(server) answered \(answer.status) \(words)"
        guard answer.status < 500 || answer.status == 552 else { return .refused(what) }
        return .failed(OutboxFailure(what, isOfDestination: answer.status == 421))
    }

    private static func outcome(of error: TransferError) -> OutboxOutcome {
        switch error.code {
        case .canceled: return .interrupted
        case .invalid: return .refused("\(error)")
        // The messages wait until an operator corrects the settings, the secret or the server.
        case .unreachable, .certificate, .credentials, .schemeRefused, .denied:
            return .failed(OutboxFailure("\(error)", isOfCredentials: error.isOfCredentials))
        default:
            guard error.mayHaveArrived else { return .failed(OutboxFailure("\(error)")) }
            // Other messages may be delivered meanwhile.
            return .failed(
                OutboxFailure(
                    "\(error); it may have arrived, so it is sent again in an hour at the earliest",
                    retryAfter: uncertainPause, isOfDestination: false, mayHaveArrived: true))
        }
    }
}
