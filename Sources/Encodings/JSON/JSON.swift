/// A JSON value (RFC 8259) of an untrusted text: reading it as another type than it has returns `nil`.
///
/// A text is parsed once into a flat list of its values, 16 bytes each, which refer to its bytes. Strings and numbers are decoded on request, so a
/// report of 64 MiB needs little more memory than itself. Foundation's reader is not used: 26 MiB of `[` and `]` take 2 GB there, and the static
/// programs have no Foundation.
package struct JSON {
    /// The most values of a text. Analyzers' reports have one value per 20 bytes or more.
    package static let maximumValues = 2_000_000
    /// The most nested levels of arrays and objects.
    package static let maximumDepth = 512
    /// An object with more members gets an index at the first lookup.
    private static let scannedMembers: UInt32 = 32

    private let text: JSONText?
    private let place: Int

    /// A missing value.
    package static var nothing: JSON { JSON(text: nil, place: 0) }

    private init(text: JSONText?, place: Int) {
        self.text = text
        self.place = place
    }

    /// Parses a text in UTF-8, or in UTF-16 if it begins as such.
    /// - Parameters:
    ///   - values: The most values.
    ///   - depth: The most nested levels of arrays and objects.
    /// - Throws: The problem and its line, as a sentence.
    package static func parse(
        _ bytes: some Sequence<UInt8>, values: Int = maximumValues, depth: Int = maximumDepth
    ) throws(Failure) -> JSON {
        let whole = Array(bytes)
        return try parse(utf8: UTF16Text.utf8(whole) ?? whole, values: values, depth: depth)
    }

    /// Parses a text in UTF-8. The parameters and the error are those of `parse(_:values:depth:)`.
    package static func parse(
        utf8 bytes: [UInt8], values: Int = maximumValues, depth: Int = maximumDepth
    ) throws(Failure) -> JSON {
        JSON(text: JSONText(try JSONScanner.scan(bytes, values: values, depth: depth)), place: 0)
    }

    /// The reason why a text cannot be read.
    package struct Failure: Error {
        /// The kind of failure, for programs.
        package enum Code: Sendable { case malformed, tooDeep, tooManyValues }

        package var code: Code
        /// The problem and its line, as a sentence.
        package var text: String
    }

    private var node: JSONText.Node? { text?.nodes[place] }

    /// Returns the member of a name; a missing value if there is none, and if this is no object. If several members have the name, it returns the
    /// last one (RFC 8259, section 4, does not define this).
    package subscript(_ key: String) -> JSON {
        guard let text, let node, node.kind == .object else { return .nothing }
        if node.count > Self.scannedMembers {
            return text.index(of: place)[key].map { JSON(text: text, place: $0) } ?? .nothing
        }
        var found: Int?
        text.forEachMember(of: place) { member, value in
            if text.matches(member, key) { found = value }
        }
        return found.map { JSON(text: text, place: $0) } ?? .nothing
    }

    /// Returns the element; a missing value if the index is out of range, and if this is no array.
    package subscript(_ index: Int) -> JSON {
        guard let text, let node, node.kind == .array, index >= 0, index < Int(node.count) else { return .nothing }
        var element = place + 1
        for _ in 0..<index { element = Int(text.nodes[element].next) }
        return JSON(text: text, place: element)
    }

    /// Whether it is missing or `null`.
    package var isNothing: Bool { node.map { $0.kind == .null } ?? true }
    package var isObject: Bool { node?.kind == .object }

    package var keys: [String] {
        guard let text, isObject else { return [] }
        return Array(text.index(of: place).keys)
    }

    package var string: String? {
        guard let text, let node, node.kind == .string else { return nil }
        return text.string(node)
    }

    package var elements: [JSON]? {
        guard let text, let node, node.kind == .array else { return nil }
        var elements: [JSON] = []
        elements.reserveCapacity(Int(node.count))
        var element = place + 1
        for _ in 0..<node.count {
            elements.append(JSON(text: text, place: element))
            element = Int(text.nodes[element].next)
        }
        return elements
    }

    package var bool: Bool? {
        switch node?.kind {
        case .true: true
        case .false: false
        default: nil
        }
    }

    /// The string; `nil` also if its text is longer than `limit`, in bytes before unescaping.
    package func string(limit: Int) -> String? {
        guard let node, node.kind == .string, Int(node.count) <= limit else { return nil }
        return string
    }

    /// The text of a number.
    package var number: String? {
        guard let text, let node, node.kind == .number else { return nil }
        return text.raw(node)
    }

    /// A value with its type, for readers that accept no other text than the one that they would write.
    package enum Content {
        case null
        case bool(Bool)
        case number(String)
        /// A string; `nil` if it is not UTF-8, or has half of a surrogate pair.
        case string(String?)
        case array([JSON])
        /// The members in their order, also those with equal keys; `nil` for a key as for a string.
        case object([(key: String?, value: JSON)])
    }

    /// The value with its type. A missing value is `null`.
    package var content: Content {
        guard let text, let node else { return .null }
        switch node.kind {
        case .null: return .null
        case .true, .false: return .bool(node.kind == .true)
        case .number: return .number(text.raw(node))
        case .string: return .string(text.validString(node))
        case .array: return .array(elements ?? [])
        case .object:
            var members: [(key: String?, value: JSON)] = []
            text.forEachMember(of: place) { members.append((text.validString($0), JSON(text: text, place: $1))) }
            return .object(members)
        }
    }
}
