/// A mapping whose keys were held to the known ones.
struct Fields {
    let position: Position
    private let entries: [String: YAMLNode.Entry]
    /// Whether a key was refused, so that what is missing may only be misspelled.
    private(set) var hasRefused = false

    /// Adds an error for each key that is not known, and one when `node` is no mapping.
    /// - Parameter place: What the mapping is, for messages: `a bot file`, `a trigger`.
    /// - Returns: Nothing when `node` is no mapping.
    init?(_ node: YAMLNode, _ keys: [Key], of place: String, _ diagnostics: inout Diagnostics) {
        position = node.position
        if node.isNull {
            entries = [:]
            return
        }
        guard case .mapping(let written) = node.content else {
            let example = Keys.names(keys).prefix(3).map { "`\($0)`" }.joined(separator: ", ")
            diagnostics.error("\(place) is a mapping with keys such as \(example), not \(node.kind)", at: node.position)
            return nil
        }
        var entries: [String: YAMLNode.Entry] = [:]
        for entry in written {
            let key = keys.first { $0.name == entry.key }
            if key?.isLater ?? true { hasRefused = true }
            switch key {
            case let key? where key.isLater:
                diagnostics.error(
                    "`\(key.name)` is not supported yet by this version; remove it from \(place)", at: entry.position)
            case .some: entries[entry.key] = entry
            case nil:
                let names = Keys.names(keys)
                let hint = Suggestion.hint(for: entry.key, in: names)
                let known = hint.isEmpty ? "; \(place) has \(names.map { "`\($0)`" }.joined(separator: ", "))" : hint
                diagnostics.error("\(place) has no key \(Printable.quoted(entry.key))\(known)", at: entry.position)
            }
        }
        self.entries = entries
    }

    /// The value of a key; nothing when the key is not written, or written with nothing after it.
    subscript(key: String) -> YAMLNode? {
        guard let value = entries[key]?.value, !value.isNull else { return nil }
        return value
    }

    /// The value even if nothing was written after the key.
    func written(_ key: String) -> YAMLNode? { entries[key]?.value }

    /// Where a key is written; where the mapping begins when it is not.
    func position(of key: String) -> Position { entries[key]?.position ?? position }
}
