/// The values of a JSON text, in the order of the text.
final class JSONText {
    enum Kind: UInt8, Sendable { case null, `true`, `false`, number, string, array, object }

    struct Node: Sendable {
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

    private func content(_ node: Node) -> ArraySlice<UInt8> { bytes[Int(node.start)..<Int(node.start + node.count)] }

    func raw(_ node: Node) -> String { String(decoding: content(node), as: UTF8.self) }

    /// Returns a string. An unpaired surrogate, and bytes that are not UTF-8, become U+FFFD.
    func string(_ node: Node) -> String { node.isEscaped ? JSONScanner.unescaped(content(node)) : raw(node) }

    /// Returns a string; `nil` if `string(_:)` would have to replace something.
    func validString(_ node: Node) -> String? {
        node.isEscaped ? JSONScanner.validUnescaped(content(node)) : String(validating: content(node), as: UTF8.self)
    }

    func matches(_ node: Node, _ key: String) -> Bool {
        // A byte of a key has at most 6 as an escape, so that a long key is not decoded for each question.
        if node.isEscaped { return Int(node.count) <= 6 * key.utf8.count && string(node) == key }
        guard node.count == key.utf8.count else { return false }
        return content(node).elementsEqual(key.utf8)
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
