import HTTPTypes

/// One link of a `Link` header (RFC 8288). SwiftPM splits headers at every comma and semicolon, so a target must not contain any.
struct RegistryLink: Sendable, Hashable {
    let target: String
    let relation: String
    /// The attributes after the relation, in this order.
    var attributes: [String] = []

    var text: String {
        (["<\(target)>", "rel=\"\(relation)\""] + attributes).joined(separator: "; ")
    }

    /// Returns whether a text can be a target: visible ASCII without the characters that end a target.
    static func isTarget(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.count <= 2048
            && text.utf8.allSatisfy { (0x21...0x7E).contains($0) && !Array("<>,;\"\\".utf8).contains($0) }
    }

    /// Adds the links whose targets are valid.
    static func add(_ links: [RegistryLink], to headers: inout HTTPFields) {
        let texts = links.filter { isTarget($0.target) }.map(\.text)
        guard !texts.isEmpty, let name = HTTPField.Name("Link") else { return }
        headers[name] = texts.joined(separator: ", ")
    }
}
