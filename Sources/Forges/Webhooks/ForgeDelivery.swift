import Basics
import Encodings
package import Model
import Storage

/// A `POST /webhooks/{forge}/{bot}` or `/webhooks/{forge}` as received. It is not trusted before its signature is verified.
package struct ForgeDelivery: Sendable {
    /// The forge in the URL.
    package var forge: Forge
    /// The bot in the URL; `nil` for the URL that all bots of a forge share.
    package var bot: Name?
    /// The headers, by name in lower case. The values of a header that comes twice are joined by `, `, so that no signature is read from it.
    package var headers: [String: String]
    package var body: WebhookBody

    package init(forge: Forge, bot: Name?, headers: [String: String], body: [UInt8]) {
        self.forge = forge
        self.bot = bot
        self.headers = headers
        self.body = WebhookBody(body)
    }

    /// Whether the headers contain a proof that can be verified. If not, the body need not be read.
    package var showsProof: Bool { WebhookProof(of: self) != nil }

    /// The first part of the delivery's key.
    package var hook: String { bot.map { "\(forge)/\($0)" } ?? forge.rawValue }

    /// Returns the value of the first of these headers that is present, even if it is empty. `nil` if none is present.
    func first(of names: [String]) -> String? { names.lazy.compactMap { headers[$0] }.first }

    /// Returns the forge's id of this delivery. If it sends no valid id, returns one made from the body's digest, so that a delivery that is sent
    /// again is recognized.
    /// - Parameter digest: The SHA-256 of the body, in hexadecimal.
    package func id(digest: String) -> String {
        if let id = first(of: forge.deliveryHeaders), NewEvent.isDeliveryID(id) { return id }
        // GitLab sends one such id for all events of a request, so the body's digest is added.
        if forge == .gitlab, let id = headers["x-gitlab-event-uuid"], NewEvent.isDeliveryID(id) {
            return "\(id.prefix(64))/\(digest.prefix(32))"
        }
        return "sha256:" + digest
    }

    /// Returns the JSON of the delivery. It is the body, or the field `payload` of a form, which GitHub, Gitea, Forgejo and Gogs can send. `nil` for
    /// a form without that field.
    /// - Throws: `.unavailable` if the body cannot be read.
    func json() throws(ForgeError) -> [UInt8]? {
        isForm ? FormBody.field("payload", in: try body.bytes()) : try body.bytes()
    }

    /// Returns the bytes that the forge signs.
    /// - Throws: `.unavailable` if the body cannot be read.
    package func signed() throws(ForgeError) -> WebhookBody {
        guard forge.signsTheFormsField, isForm, let field = try json() else { return body }
        return WebhookBody(field)
    }

    private var isForm: Bool {
        guard forge == .github || forge.signsTheFormsField else { return false }
        return headers["content-type"]?.lowercased().hasPrefix("application/x-www-form-urlencoded") == true
    }
}

/// A signed `POST /webhooks/push/{bot}` as received. It is not trusted before the signature over the raw bytes is verified.
package struct PushRequest: Sendable {
    package var bot: Name
    /// The value of `X-Hub-Signature-256`: `sha256=` and 64 hexadecimal digits. `nil` without the header.
    package var signature: String?
    /// The value of `X-Martlet-Delivery`: the sender's own id of this delivery, the same when it is sent again. `nil` without the header.
    package var delivery: String?
    package var body: WebhookBody

    /// The largest body, in bytes. GitHub's payloads have up to 25 MB, and one limit applies to all senders.
    package static let maximumBodyBytes = 26 * 1024 * 1024
    /// The most ref updates in one push.
    package static let maximumUpdates = 10_000

    package init(bot: Name, signature: String?, delivery: String?, body: WebhookBody) {
        self.bot = bot
        self.signature = signature
        self.delivery = delivery
        self.body = body
    }
}

/// The reason why a delivery cannot be read. The message is fit for its sender: it names what was sent and what to do.
package struct ForgeError: Error, CustomStringConvertible {
    /// The kinds of errors.
    package enum Code: String, Sendable {
        /// The delivery is malformed, or belongs to another forge.
        case invalid
        /// The delivery exceeds a limit.
        case tooLarge
        /// The delivery cannot be read now, but may be sent again.
        case unavailable
    }

    package let code: Code
    package let message: String
    /// The cause, for the log only.
    package let underlying: (any Error)?

    package init(_ code: Code, _ message: String, underlying: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.underlying = underlying
    }

    package var description: String { message }
}

/// A body of `application/x-www-form-urlencoded` (URL Standard, section 5.1).
enum FormBody {
    /// Returns the first value of a field, decoded. `nil` if there is no such field, or if its value has a broken escape.
    static func field(_ name: String, in body: [UInt8]) -> [UInt8]? {
        for pair in body.split(separator: UInt8(ascii: "&")) where pair.starts(with: (name + "=").utf8) {
            return decode(pair.dropFirst(name.utf8.count + 1))
        }
        return nil
    }

    private static func decode(_ text: ArraySlice<UInt8>) -> [UInt8]? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count)
        var index = text.startIndex
        while index < text.endIndex {
            let byte = text[index]
            index += 1
            switch byte {
            case UInt8(ascii: "+"): bytes.append(0x20)
            case UInt8(ascii: "%"):
                guard index + 1 < text.endIndex,
                    let escaped = Hexadecimal.decode(String(decoding: text[index...index + 1], as: UTF8.self))
                else { return nil }
                bytes += escaped
                index += 2
            default: bytes.append(byte)
            }
        }
        return bytes
    }
}
