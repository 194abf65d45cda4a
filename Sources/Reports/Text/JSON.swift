/// A JSON value (RFC 8259) of an untrusted text: reading it as another type than it has returns `nil`.
///
/// A text is parsed once into a flat list of its values, 16 bytes each, which refer to its bytes. Strings and numbers are decoded on request, so a
/// report of 64 MiB needs little more memory than itself.
struct JSON {
    /// The most values of a text. Analyzers' reports have one value per 20 bytes or more.
    static let maximumValues = 2_000_000
    /// The most nested levels of arrays and objects.
    static let maximumDepth = 512
    /// An object with more members gets an index at the first lookup.
    private static let scannedMembers: UInt32 = 32

    private let text: JSONText?
    private let place: Int

    /// A missing value.
    static var nothing: JSON { JSON(text: nil, place: 0) }

    private init(text: JSONText?, place: Int) {
        self.text = text
        self.place = place
    }

    /// Parses a text.
    /// - Throws: The problem and its line, as a sentence.
    static func parse(_ bytes: some Sequence<UInt8>) throws(Failure) -> JSON {
        let whole = Array(bytes)
        return JSON(text: JSONText(try JSONScanner.scan(UTF16Text.utf8(whole) ?? whole)), place: 0)
    }

    struct Failure: Error {
        var text: String
    }

    private var node: JSONText.Node? { text?.nodes[place] }

    /// Returns the member of a name; a missing value if there is none, and if this is no object. If several members have the name, it returns the
    /// last one (RFC 8259, section 4, does not define this).
    subscript(_ key: String) -> JSON {
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
    subscript(_ index: Int) -> JSON {
        guard let text, let node, node.kind == .array, index >= 0, index < Int(node.count) else { return .nothing }
        var element = place + 1
        for _ in 0..<index { element = Int(text.nodes[element].next) }
        return JSON(text: text, place: element)
    }

    var isNothing: Bool { node.map { $0.kind == .null } ?? true }
    var isObject: Bool { node?.kind == .object }

    var keys: [String] {
        guard let text, isObject else { return [] }
        return Array(text.index(of: place).keys)
    }

    var string: String? {
        guard let text, let node, node.kind == .string else { return nil }
        return text.string(node)
    }

    var elements: [JSON]? {
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

    var bool: Bool? {
        switch node?.kind {
        case .true: true
        case .false: false
        default: nil
        }
    }

    /// The value as an integer; `nil` if it is no whole number below 9e15.
    var int: Int? {
        guard let double, double.rounded() == double, abs(double) < 9e15 else { return nil }
        return Int(double)
    }

    var double: Double? {
        guard let text, let node, node.kind == .number else { return nil }
        guard let double = Double(text.raw(node)), double.isFinite else { return nil }
        return double
    }
}

/// The values of a JSON text, in the order of the text.
final class JSONText {
    enum Kind: UInt8 { case null, `true`, `false`, number, string, array, object }

    struct Node {
        /// The offset of a number's first byte, or of the first byte after a string's opening quote.
        var start: UInt32
        /// The number of bytes; for an array the number of elements, and for an object the number of members.
        var count: UInt32
        /// The index of the node after this one and its contents.
        var next: UInt32
        var kind: Kind
        var isEscaped = false
    }

    let bytes: [UInt8]
    let nodes: [Node]
    private var indexes: [Int: [String: Int]] = [:]

    init(_ scanned: (bytes: [UInt8], nodes: [Node])) { (bytes, nodes) = scanned }

    func raw(_ node: Node) -> String {
        String(decoding: bytes[Int(node.start)..<Int(node.start + node.count)], as: UTF8.self)
    }

    func string(_ node: Node) -> String {
        node.isEscaped ? JSONScanner.unescaped(bytes[Int(node.start)..<Int(node.start + node.count)]) : raw(node)
    }

    func matches(_ node: Node, _ key: String) -> Bool {
        if node.isEscaped { return string(node) == key }
        guard node.count == key.utf8.count else { return false }
        return bytes[Int(node.start)..<Int(node.start + node.count)].elementsEqual(key.utf8)
    }

    /// Calls `body` with each member's key node and the index of its value's node.
    func forEachMember(of place: Int, _ body: (Node, Int) -> Void) {
        var member = place + 1
        for _ in 0..<nodes[place].count {
            body(nodes[member], member + 1)
            member = Int(nodes[member + 1].next)
        }
    }

    /// Returns the nodes' indexes of an object's members, by key.
    func index(of place: Int) -> [String: Int] {
        if let known = indexes[place] { return known }
        var members: [String: Int] = [:]
        members.reserveCapacity(Int(nodes[place].count))
        forEachMember(of: place) { members[string($0)] = $1 }
        indexes[place] = members
        return members
    }
}
