import Mustache

/// The values for a template. All text passes through `HTMLText.prepared`, so no page can forget it.
struct ViewObject: MustacheParent, ExpressibleByDictionaryLiteral {
    enum Value {
        case string(String)
        /// HTML that is already escaped. Only `TerminalText`, `LogMarkup`, `Markdown`, `TestTreeHTML`, templates and the service's own drawings
        /// produce it.
        case html(String)
        case flag(Bool)
        case list([ViewObject])
    }

    private var values: [String: Value]

    init(dictionaryLiteral elements: (String, Value)...) {
        values = Dictionary(elements) { _, last in last }
    }

    subscript(key: String) -> Value? {
        get { values[key] }
        set { values[key] = newValue }
    }

    /// Adds the values of another object, which replace existing ones.
    mutating func merge(_ other: ViewObject) { values.merge(other.values) { _, new in new } }

    /// What a template sees of an absent text, an empty text and `false`: it leaves the section out, writes an empty text, and does not search the
    /// outer objects.
    private struct Absent: MustacheCustomRenderable {
        var renderText: String { "" }
        var isNull: Bool { true }
    }

    /// Returns a value.
    func child(named name: String) -> Any? {
        switch values[name] {
        case .string(let text): text.isEmpty ? Absent() : HTMLText.prepared(text)
        case .html(let html): html
        case .flag(let flag): flag ? true : Absent()
        case .list(let objects): objects
        case nil: nil
        }
    }
}

extension ViewObject.Value: ExpressibleByStringLiteral, ExpressibleByBooleanLiteral, ExpressibleByArrayLiteral {
    init(stringLiteral value: String) { self = .string(value) }
    init(booleanLiteral value: Bool) { self = .flag(value) }
    init(arrayLiteral elements: ViewObject...) { self = .list(elements) }

    static func text(_ value: String?) -> ViewObject.Value { value.map { .string($0) } ?? .flag(false) }
    static func text(_ value: some CustomStringConvertible) -> ViewObject.Value { .string(value.description) }
}
