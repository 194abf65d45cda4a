/// Whether a link's target stays in the tree that the link is in, decided from the texts alone.
enum LinkTarget {
    /// - Parameters:
    ///   - target: As stored in the link.
    ///   - path: The link's own, relative to the tree's root.
    /// - Returns: False for an absolute or empty target and for one that goes above the root at any point on its way.
    static func staysInside(_ target: [UInt8], from path: [UInt8]) -> Bool {
        guard let first = target.first, first != UInt8(ascii: "/") else { return false }
        var depth = path.split(separator: UInt8(ascii: "/")).count - 1
        for component in target.split(separator: UInt8(ascii: "/")) {
            if component.elementsEqual("..".utf8) {
                depth -= 1
                if depth < 0 { return false }
            } else if !component.elementsEqual(".".utf8) {
                depth += 1
            }
        }
        return true
    }
}
