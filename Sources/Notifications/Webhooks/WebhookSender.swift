import Basics
import JobProtocol
package import Model
package import Settings
package import Storage
package import Transfer

/// Sends notices as signed requests, by Standard Webhooks (github.com/standard-webhooks, specification).
package struct WebhookSender: OutboxSender {
    private let reading: NoticeReading
    private let bots: any BotSource
    private let secrets: SecretStore
    private let transport: any Transport
    private let clock: WallClock
    private let queue = SerialQueue(label: "webhook-secrets")

    /// The time limits of Standard Webhooks ("Deliverability and reliability": 15 to 30 s). The body of an answer is ignored, whatever its length.
    static let limits = TransferLimits(total: .seconds(30), stall: .seconds(30), response: 64 << 10)

    /// How long a body that a receiver refuses is sent again, at least `Outbox.leastTries` times. The next message about its branch waits for it.
    static let refusedTime = Duration.seconds(3600)

    package var kind: OutboxDestination.Kind { .webhook }

    /// - Parameter url: The URL of the service, for links.
    package init(
        store: Store, bots: any BotSource, secrets: SecretStore, transport: any Transport, clock: WallClock,
        url: String
    ) {
        reading = NoticeReading(store: store, url: url)
        self.bots = bots
        self.secrets = secrets
        self.transport = transport
        self.clock = clock
    }

    /// Sends a message as a webhook; see `OutboxSender`.
    package func send(_ message: OutboxMessage) async -> OutboxOutcome {
        guard let bot = await bots.bot(message.bot) else { return .absent }
        guard let notified = message.content.notice,
            let notice = bot.notices?.first(where: { $0.name == notified.name }),
            case .webhook(let url, let name) = notice.target
        else { return .unneeded("the file of the bot \(message.bot) has no such webhook notice any more") }
        do {
            let (secrets, now) = (secrets, clock.now())
            let values = try await queue.run { () throws(SettingsError) in try secrets.acceptedValues(name, at: now) }
            guard !values.isEmpty else {
                return .failed(
                    OutboxFailure(
                        "the secret \(name) is not set; set it with `martlet secret set \(name)`",
                        isOfDestination: false))
            }
            guard let facts = try await reading.facts(of: message) else {
                return .unneeded("the integration or version that it reports no longer exists")
            }
            let body = NoticePayload.json(of: facts).bytes()
            // The time of this try, because a receiver refuses a request that is older than some minutes.
            let seconds = clock.now().millisecondsSinceEpoch / 1000
            let id = "msg_\(facts.id)"
            let signature = StandardWebhookSignature.header(id: id, seconds: seconds, body: body, secrets: values)
            guard let signature else {
                return .failed(
                    OutboxFailure(
                        "the secret \(name) is not a signing key (whsec_ and base64); make one with `echo whsec_$(openssl "
                            + "rand -base64 32) | martlet secret set \(name)`", isOfDestination: false))
            }
            var request = TransferRequest(
                .post, url,
                headers: [
                    "Content-Type": "application/json", "webhook-id": id, "webhook-timestamp": String(seconds),
                    "webhook-signature": signature,
                ], body: .bytes(body))
            request.limits = Self.limits
            request.destination = .head
            request.isPlainHTTPAllowed = bot.isInsecure
            return outcome(of: try await transport.perform(request), message)
        } catch let error as TransferError {
            return Self.outcome(of: error)
        } catch {
            return .failed(OutboxFailure("\(error)", isOfDestination: false))
        }
    }

    /// Returns the outcome of an answer. 2xx accepts the message, 410 ends it, and every other failure may pass (specification, "Deliverability and
    /// reliability"). A failure due to the request itself passes less often, so it is retried for a limited time.
    private func outcome(of answer: TransferResponse, _ message: OutboxMessage) -> OutboxOutcome {
        if answer.isSuccess { return .sent() }
        // The answer's text is not trusted, and the path and query of the URL may be a secret, so neither is shown.
        let what = "POST \(message.destination) answered \(answer.status)"
        switch answer.status {
        case 410: return .refused("\(what): it wants no more of these; remove the notice from the bot's file")
        case 300..<400: return .failed(OutboxFailure("\(what); redirects are not followed: write the new address"))
        case 429, 502...504:
            return .failed(
                OutboxFailure(
                    what, retryAfter: RetryAfter.duration(in: answer.headers, now: clock.now()),
                    mayHaveArrived: answer.status > 500))
        case 400..<500 where ![401, 403, 404, 408, 425].contains(answer.status):
            let since = message.failedAt.map { clock.now() - $0 } ?? .zero
            guard since >= Self.refusedTime, message.tries >= Outbox.leastTries else {
                return .failed(OutboxFailure(what, isOfDestination: false))
            }
            return .refused(
                "\(what) for an hour: it does not take this one; once the cause is removed, `martlet outbox --retry \(message.id)`"
            )
        default:
            return .failed(
                OutboxFailure(
                    what, isOfDestination: false, mayHaveArrived: answer.status >= 500,
                    isOfCredentials: answer.status == 401))
        }
    }

    private static func outcome(of error: TransferError) -> OutboxOutcome {
        switch error.code {
        case .canceled: .interrupted
        case .invalid, .schemeRefused: .refused("\(shown(error))")
        case .unreachable: .failed(OutboxFailure(shown(error)))
        case .certificate: .failed(OutboxFailure(shown(error), isOfCredentials: true))
        default: .failed(OutboxFailure(shown(error), mayHaveArrived: true))
        }
    }

    /// Returns the error's text without the URL's path.
    private static func shown(_ error: TransferError) -> String { "POST failed: \(error.message)" }
}
