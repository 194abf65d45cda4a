// Searching by bytes: String's own search compares characters, which is far slower on logs.

extension StringProtocol where SubSequence == Substring {
    /// The place of the first occurrence, bytes compared.
    func range(ofFirst needle: String) -> Range<Index>? {
        var index = startIndex
        let wanted = Array(needle.utf8)
        guard let head = wanted.first else { return nil }
        while let found = utf8[index...].firstIndex(of: head) {
            if utf8[found...].starts(with: wanted) {
                return found..<utf8.index(found, offsetBy: wanted.count)
            }
            index = utf8.index(after: found)
        }
        return nil
    }

    /// The place of the last occurrence, bytes compared.
    func range(ofLast needle: String) -> Range<Index>? {
        var last: Range<Index>?
        var rest = self[...]
        while let found = rest.range(ofFirst: needle) {
            last = found
            rest = rest[found.upperBound...]
        }
        return last
    }
}
