package import Model

/// A `POST /webhooks/{forge}/{bot}` or `/webhooks/{forge}` as it came. It is not trusted before its signature is verified.
package struct ForgeDelivery: Sendable {
    /// As the URL says.
    package var forge: Forge
    /// The bot in the URL; `nil` for the URL that all bots of a forge share.
    package var bot: Name?
    /// By name in lower case; the values of a header that comes twice are joined by `, `, so that no signature is read from it.
    package var headers: [String: String]
    package var body: WebhookBody

    package init(forge: Forge, bot: Name?, headers: [String: String], body: [UInt8]) {
        self.forge = forge
        self.bot = bot
        self.headers = headers
        self.body = WebhookBody(body)
    }

    /// Whether the headers show what can be verified at all. Without it no body need be read.
    package var showsProof: Bool { WebhookProof(of: self) != nil }

    /// The first half of the delivery's key.
    var hook: String { bot.map { "\(forge)/\($0)" } ?? forge.rawValue }

    /// The first of some headers that is there, empty ones too.
    func first(of names: [String]) -> String? { names.lazy.compactMap { headers[$0] }.first }

    /// The forge's id of this delivery; where it sends none that can be one, the body's digest, so that what is sent again is known.
    /// - Parameter digest: SHA-256 of the body, in hexadecimal.
    func id(digest: String) -> String {
        if let id = first(of: forge.deliveryHeaders), Self.isID(id) { return id }
        // One for all events of a request, so that only the body tells them apart.
        if forge == .gitlab, let id = headers["x-gitlab-event-uuid"], Self.isID(id) {
            return "\(id.prefix(64))/\(digest.prefix(32))"
        }
        return "sha256:" + digest
    }

    /// 1 to 128 visible ASCII characters.
    static func isID(_ text: String) -> Bool {
        (1...PushRequest.maximumDeliveryBytes).contains(text.utf8.count)
            && text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }
    }

    /// The JSON of the delivery: the body, or the field `payload` of a form (GitHub, Gitea, Forgejo and Gogs can send one); `nil` for a form
    /// without it.
    /// - Throws: `.unavailable` if the body cannot be read.
    func json() throws(OperationError) -> [UInt8]? {
        isForm ? FormBody.field("payload", in: try body.bytes()) : try body.bytes()
    }

    /// The bytes that the forge signs.
    /// - Throws: `.unavailable` if the body cannot be read.
    func signed() throws(OperationError) -> WebhookBody {
        guard forge.signsTheFormsField, isForm, let field = try json() else { return body }
        return WebhookBody(field)
    }

    private var isForm: Bool {
        guard forge == .github || forge.signsTheFormsField else { return false }
        return headers["content-type"]?.lowercased().hasPrefix("application/x-www-form-urlencoded") == true
    }
}
