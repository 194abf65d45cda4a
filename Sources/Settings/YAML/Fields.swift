/// A mapping whose keys have been checked against the known keys.
struct Fields {
    let position: Position
    private let entries: [String: YAMLNode.Entry]
    /// Whether a key was refused. If so, a missing key may only be misspelled.
    private(set) var hasRefused = false

    /// Adds an error for each unknown key, and one if `node` is no mapping. An old name is a warning, and its value is found under the new name.
    /// - Parameter place: What the mapping is, for messages: `a bot file`, `a trigger`.
    /// - Returns: `nil` if `node` is no mapping.
    init?(_ node: YAMLNode, _ keys: [Key], of place: String, _ diagnostics: inout Diagnostics) {
        position = node.position
        if node.isNull {
            entries = [:]
            return
        }
        guard case .mapping(let written) = node.content else {
            let example = Keys.currentNames(keys).prefix(3).map { "`\($0)`" }.joined(separator: ", ")
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
            case let key?:
                guard let name = key.replacement else {
                    entries[key.name] = entry
                    continue
                }
                if written.contains(where: { $0.key == name }) {
                    diagnostics.error(
                        "`\(key.name)` is the old name of `\(name)`, and \(place) has both; remove `\(key.name)`",
                        at: entry.position)
                    continue
                }
                diagnostics.warning(
                    "`\(key.name)` is the old name of `\(name)`; it is still read, but write `\(name)`",
                    at: entry.position)
                entries[name] = entry
            case nil:
                let names = Keys.currentNames(keys)
                let hint = Suggestion.hint(for: entry.key, in: names)
                let known = hint.isEmpty ? "; \(place) has \(names.map { "`\($0)`" }.joined(separator: ", "))" : hint
                diagnostics.error("\(place) has no key \(Printable.quoted(entry.key))\(known)", at: entry.position)
            }
        }
        self.entries = entries
    }

    /// Returns the value of a key; `nil` if the key is not written, or has no value.
    subscript(key: String) -> YAMLNode? {
        guard let value = entries[key]?.value, !value.isNull else { return nil }
        return value
    }

    /// Returns the value of a key, even if it is null; `nil` if the key is not written.
    func written(_ key: String) -> YAMLNode? { entries[key]?.value }

    /// Returns the position of a key; the position of the mapping if the key is not written.
    func position(of key: String) -> Position { entries[key]?.position ?? position }
}
