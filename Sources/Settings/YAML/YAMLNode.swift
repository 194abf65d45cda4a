/// A node of a YAML document with its position. Scalars stay text and are interpreted by the schema: `off` is never converted to a Boolean, and
/// `1.10` never to a number.
struct YAMLNode: Sendable {
    indirect enum Content: Sendable {
        /// `isPlain`: the text is written without quotes, so that an empty one or `~` is null.
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
    /// Whether the node is written in braces or brackets.
    var isFlow = false

    /// Whether the value is null: an empty plain scalar, `~` or `null`.
    var isNull: Bool {
        if case .scalar(let text, isPlain: true) = content { return ["", "~", "null"].contains(text) }
        return false
    }

    /// The kind of node, for messages.
    var kind: String {
        switch content {
        case .scalar: isNull ? "nothing" : "a text"
        case .sequence: "a list"
        case .mapping: "a mapping"
        }
    }
}

/// A position in a text. Both numbers count from 1.
struct Position: Hashable, Comparable, Sendable {
    var line: Int
    var column: Int

    static let start = Position(line: 1, column: 1)

    static func < (left: Position, right: Position) -> Bool { (left.line, left.column) < (right.line, right.column) }
}
