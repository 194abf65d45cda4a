import Model

/// The collector of traces: `traces` of the settings.
package struct TraceSettings: Hashable, Sendable {
    /// The base URL of an OTLP/HTTP receiver, without a trailing slash; `/v1/traces` is appended.
    package var endpoint: String
    /// The name of a secret that is sent as the header `Authorization`.
    package var authorization: String?
    /// Whether http is used to another machine. It is never set with `authorization`.
    package var isInsecure: Bool

    package init(endpoint: String, authorization: String? = nil, isInsecure: Bool = false) {
        self.endpoint = endpoint
        self.authorization = authorization
        self.isInsecure = isInsecure
    }

    static func read(_ node: YAMLNode?, _ diagnostics: inout Diagnostics) -> TraceSettings? {
        guard let node, let fields = Fields(node, Keys.traces, of: "`traces`", &diagnostics) else { return nil }
        let authorization = diagnostics.secretName(fields["authorization"], "authorization")
        let isInsecure = diagnostics.truth(fields["insecure"], "insecure") ?? false
        guard let endpoint = fields["endpoint"] else {
            diagnostics.error(
                "`traces` needs `endpoint`: `traces: { endpoint: http://127.0.0.1:4318 }`", at: fields.position)
            return nil
        }
        guard var text = diagnostics.line(endpoint, "endpoint") else { return nil }
        while text.hasSuffix("/") { text.removeLast() }
        guard let parts = AddressText.parts(of: text), ["http", "https"].contains(parts.scheme), !parts.host.isEmpty,
            !parts.hasPassword, text.utf8.count <= AddressText.maximumLength,
            !text.contains(where: { $0.isWhitespace || $0 == "?" || $0 == "#" || $0 == "@" })
        else {
            diagnostics.error(
                "`endpoint` is the URL of an OTLP/HTTP receiver without /v1/traces, such as http://127.0.0.1:4318, not "
                    + Printable.quoted(AddressText.withoutPassword(text)), at: endpoint.position)
            return nil
        }
        let isLoopback = ["127.0.0.1", "localhost", "[::1]"].contains {
            parts.host == $0 || parts.host.hasPrefix($0 + ":")
        }
        if parts.scheme == "http", !isLoopback, !isInsecure {
            diagnostics.error(
                "traces would go to another machine without TLS; write https://, or `insecure: true`",
                at: endpoint.position)
        } else if parts.scheme == "http", !isLoopback, authorization != nil {
            diagnostics.error(
                "without TLS the secret would be readable on the way; write https://, or remove `authorization`",
                at: endpoint.position)
        }
        return TraceSettings(endpoint: text, authorization: authorization, isInsecure: isInsecure)
    }
}
