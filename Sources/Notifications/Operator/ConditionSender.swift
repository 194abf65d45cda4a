import Basics
import Foundation
import Model
package import Settings
package import Storage
import Synchronization
package import Transfer

/// A way of telling the operator.
package protocol ConditionSender: Sendable {
    var channel: ConditionRecord.Channel { get }
    /// Whether the settings name a receiver now.
    var isWanted: Bool { get async }
    /// Sends that a trouble has begun, or that it is over if it has ended.
    /// - Returns: What failed; `nil` if it was sent.
    func send(_ record: ConditionRecord) async -> String?
}

/// The receivers, which a reload of the settings can change.
package final class OperatorPlace: Sendable {
    private let settings: Mutex<OperatorSettings?>

    package init(_ settings: OperatorSettings?) { self.settings = Mutex(settings) }

    package var current: OperatorSettings? { settings.withLock { $0 } }
    /// Applies what a reload has read.
    package func set(_ new: OperatorSettings?) { settings.withLock { $0 = new } }
}

/// The texts of messages to the operator.
enum ConditionText {
    static func subject(_ record: ConditionRecord) -> String {
        let state = record.endedAt == nil ? "trouble" : "over"
        let subject = record.condition.subject.isEmpty ? "" : " (\(record.condition.subject))"
        return "[martlet] \(state): \(record.condition.kind.sentence)\(subject)"
    }

    static func body(_ record: ConditionRecord, url: String) -> String {
        var text = ""
        if let end = record.endedAt {
            text += "This is over. It lasted from \(record.begunAt) to \(end).\n\n\(record.condition.reason)\n"
        } else {
            text += "\(record.condition.reason)\n\nWhat to do: \(record.condition.remedy)\n\nSince \(record.begunAt)."
            text += " You hear of it again when it is over.\n"
        }
        return text + "\n\(url)\n"
    }
}

/// Sends them as mails, one for each recipient.
package struct ConditionMailSender: ConditionSender {
    package let channel = ConditionRecord.Channel.mail
    private let place: OperatorPlace
    private let mail: MailSettings?
    private let secrets: SecretStore
    private let transport: any Transport
    private let url: String
    private let queue = SerialQueue(label: "operator-secrets")

    /// Shorter than those of notices: one message is worth less than the next one's time.
    static let limits = TransferLimits(connect: .seconds(30), total: .seconds(120), stall: .seconds(60))

    package init(
        place: OperatorPlace, mail: MailSettings?, secrets: SecretStore, transport: any Transport, url: String
    ) {
        (self.place, self.mail, self.secrets, self.transport, self.url) = (place, mail, secrets, transport, url)
    }

    /// See `ConditionSender`.
    package var isWanted: Bool { place.current?.mail.isEmpty == false }

    /// See `ConditionSender`. A recipient whom the server refuses for good is left out of it.
    package func send(_ record: ConditionRecord) async -> String? {
        guard let mail, let recipients = place.current?.mail else { return "the settings have no `mail`" }
        var failures: [String] = []
        for recipient in recipients {
            do {
                let answer = try await transport.perform(try await request(record, to: recipient, mail))
                guard answer.isSuccess else {
                    failures.append("\(mail.server) answered \(answer.status) for \(recipient.address)")
                    continue
                }
            } catch {
                failures.append("\(error)")
            }
        }
        return failures.count == recipients.count ? failures.first : nil
    }

    private func request(
        _ record: ConditionRecord, to recipient: MailAddress, _ mail: MailSettings
    ) async throws -> TransferRequest {
        var request = TransferRequest(.mail, mail.server)
        if let name = mail.credentials {
            let secrets = secrets
            guard let secret = try await queue.run({ () throws(SettingsError) in try secrets.value(name) }) else {
                throw SettingsError(
                    code: .unreadable, operation: "read secret \(name)",
                    message: "it is not set; set it with `martlet secret set \(name)`")
            }
            request.credentials = TransferCredentials(secret: secret, file: nil)
        }
        let key =
            "\(record.condition.kind.rawValue) \(record.condition.subject) \(record.begunAt.millisecondsSinceEpoch)"
        func id(_ phase: String) -> String {
            let digest = Digest.sha256(of: Array("\(key) \(phase) \(recipient.address)".utf8))
            return "martlet.\(digest.prefix(32))@\(mail.from.domain)"
        }
        let isOver = record.endedAt != nil
        let message = MailMessage(
            from: mail.from, to: [recipient], subject: ConditionText.subject(record),
            text: ConditionText.body(record, url: url), id: id(isOver ? "end" : "begin"),
            inReplyTo: isOver ? id("begin") : nil, list: "operator.martlet.\(mail.from.domain)",
            date: record.endedAt ?? record.begunAt)
        request.body = .bytes(message.bytes())
        request.envelope = MailEnvelope(from: mail.from.address, to: recipient.address)
        request.isPlainMailAllowed = mail.isInsecure
        request.certificateAuthorities = mail.certificates
        request.limits = Self.limits
        return request
    }
}

/// Sends them as signed requests, by Standard Webhooks.
package struct ConditionWebhookSender: ConditionSender {
    package let channel = ConditionRecord.Channel.webhook
    private let place: OperatorPlace
    private let secrets: SecretStore
    private let transport: any Transport
    private let clock: WallClock
    private let url: String
    private let queue = SerialQueue(label: "operator-webhook-secrets")

    package init(
        place: OperatorPlace, secrets: SecretStore, transport: any Transport, clock: WallClock, url: String
    ) {
        (self.place, self.secrets, self.transport, self.clock, self.url) = (place, secrets, transport, clock, url)
    }

    /// See `ConditionSender`.
    package var isWanted: Bool { place.current?.webhook != nil }

    private struct Payload: Encodable {
        var type: String
        var timestamp: String
        var data: Content

        struct Content: Encodable {
            var kind: String
            var subject: String?
            var reason: String
            var remedy: String
            var begun: String
            var ended: String?
            var url: String
        }
    }

    private func payload(_ record: ConditionRecord) throws -> [UInt8] {
        let condition = record.condition
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return Array(
            try encoder.encode(
                Payload(
                    type: record.endedAt == nil ? "condition.begun" : "condition.ended",
                    timestamp: (record.endedAt ?? record.begunAt).description,
                    data: .init(
                        kind: condition.kind.rawValue, subject: condition.subject.isEmpty ? nil : condition.subject,
                        reason: condition.reason, remedy: condition.remedy, begun: record.begunAt.description,
                        ended: record.endedAt?.description, url: url))))
    }

    /// See `ConditionSender`.
    package func send(_ record: ConditionRecord) async -> String? {
        guard let settings = place.current, let target = settings.webhook, let name = settings.secret else {
            return "the settings have no `webhook`"
        }
        do {
            let (secrets, now) = (secrets, clock.now())
            let values = try await queue.run { () throws(SettingsError) in try secrets.acceptedValues(name, at: now) }
            guard !values.isEmpty else {
                return "the secret \(name) is not set; set it with `martlet secret set \(name)`"
            }
            let body = try payload(record)
            let seconds = clock.now().millisecondsSinceEpoch / 1000
            let key =
                "\(record.condition.kind.rawValue) \(record.condition.subject) \(record.begunAt) \(record.endedAt == nil)"
            let id = "msg_condition_\(Digest.sha256(of: Array(key.utf8)).prefix(32))"
            let signature = StandardWebhookSignature.header(id: id, seconds: seconds, body: body, secrets: values)
            guard let signature else { return "the secret \(name) is not a signing key (whsec_ and base64)" }
            var request = TransferRequest(
                .post, target,
                headers: [
                    "Content-Type": "application/json", "webhook-id": id, "webhook-timestamp": String(seconds),
                    "webhook-signature": signature,
                ], body: .bytes(body))
            request.limits = WebhookSender.limits
            request.destination = .head
            request.isPlainHTTPAllowed = settings.isInsecure
            let answer = try await transport.perform(request)
            return answer.isSuccess ? nil : "the operator's webhook answered \(answer.status)"
        } catch let error as TransferError {
            return "the operator's webhook failed: \(error.message)"
        } catch {
            return "\(error)"
        }
    }
}
