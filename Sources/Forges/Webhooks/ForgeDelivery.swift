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
