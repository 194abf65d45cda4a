import Glibc

extension StringProtocol where SubSequence == Substring {
    /// Returns the range of the first occurrence; `nil` if there is none. It compares bytes: String's own search compares characters, which is far
    /// slower on logs.
    func range(ofFirst needle: StaticString) -> Range<Index>? {
        let length = needle.utf8CodeUnitCount
        let found = utf8.withContiguousStorageIfAvailable { bytes in
            UnsafeRawBufferPointer(bytes).firstOffset(of: needle)
        }
        if let found {
            guard let offset = found else { return nil }
            let start = utf8.index(startIndex, offsetBy: offset)
            return start..<utf8.index(start, offsetBy: length)
        }
        // The readers' texts are contiguous. Other texts are copied first.
        guard let offset = Array(utf8).withUnsafeBytes({ $0.firstOffset(of: needle) }) else { return nil }
        let start = utf8.index(startIndex, offsetBy: offset)
        return start..<utf8.index(start, offsetBy: length)
    }

    /// Returns the range of the last occurrence, comparing bytes; `nil` if there is none.
    func range(ofLast needle: StaticString) -> Range<Index>? {
        var last: Range<Index>?
        var rest = self[...]
        while let found = rest.range(ofFirst: needle) {
            last = found
            rest = rest[found.upperBound...]
        }
        return last
    }

    /// Returns whether the text contains the needle, comparing bytes.
    func has(_ needle: StaticString) -> Bool { range(ofFirst: needle) != nil }
}

extension UnsafeRawBufferPointer {
    /// Returns the offset of the first occurrence, in bytes; `nil` if there is none.
    func firstOffset(of needle: StaticString) -> Int? {
        let length = needle.utf8CodeUnitCount
        guard let base = baseAddress, length > 0, count >= length else { return nil }
        let first = Int32(needle.utf8Start.pointee)
        let end = count - length + 1
        var index = 0
        while index < end, let found = memchr(base + index, first, end - index) {
            if memcmp(found, needle.utf8Start, length) == 0 { return UnsafeRawPointer(found) - base }
            index = UnsafeRawPointer(found) - base + 1
        }
        return nil
    }
}

extension StringProtocol where SubSequence == Substring {
    func trimmingPrefix(while isDropped: (Character) -> Bool) -> Substring { self[...].drop(while: isDropped) }

    func trimmingSuffix(while isDropped: (Character) -> Bool) -> Substring {
        var rest = self[...]
        while let last = rest.last, isDropped(last) { rest.removeLast() }
        return rest
    }
}
