/// A piece of a YAML document with its place. Scalars stay text: what a text means is the schema's business, so `off`
/// is never turned into a truth value, nor `1.10` into a number.
struct YAMLNode: Sendable {
    indirect enum Content: Sendable {
        /// `isPlain`: written without quotes, so that an empty one or `~` means nothing.
        case scalar(String, isPlain: Bool)
        case sequence([YAMLNode])
        case mapping([Entry])
    }

    struct Entry: Sendable {
        var key: String
        var position: Position
        var value: YAMLNode
    }

    var position: Position
    var content: Content
    /// Written between braces or brackets.
    var isFlow = false

    /// Whether nothing was written: an empty plain scalar, `~` or `null`.
    var isNull: Bool {
        if case .scalar(let text, isPlain: true) = content { return ["", "~", "null"].contains(text) }
        return false
    }

    /// What it is, for messages.
    var kind: String {
        switch content {
        case .scalar: isNull ? "nothing" : "a text"
        case .sequence: "a list"
        case .mapping: "a mapping"
        }
    }
}
