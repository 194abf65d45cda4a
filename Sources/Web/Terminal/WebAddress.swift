/// Finds addresses in a job's output that become links: http and https alone, in printable ASCII.
enum WebAddress {
    /// The longest address that becomes a link, in bytes.
    static let maximumBytes = 2048

    private static let schemes = [Array("https://".unicodeScalars), Array("http://".unicodeScalars)]

    /// Returns whether these bytes are an address, and nothing else.
    static func isWhole(_ bytes: ArraySlice<UInt8>) -> Bool {
        guard bytes.count <= maximumBytes else { return false }
        let scalars = bytes.map { Unicode.Scalar($0) }
        return length(in: scalars[...], isWhole: true) == bytes.count
    }

    /// Returns the places of addresses in a line. Punctuation at the end of an address belongs to the sentence around it.
    static func ranges(in line: [Unicode.Scalar]) -> [Range<Int>] {
        var found: [Range<Int>] = []
        var index = 0
        while index < line.count {
            defer { index += 1 }
            guard line[index] == "h" else { continue }
            let isWithinWord = index > 0 && line[index - 1].isASCII && line[index - 1].properties.isAlphabetic
            guard !isWithinWord, let count = length(in: line[index...], isWhole: false) else { continue }
            found.append(index..<index + count)
            index += count - 1
        }
        return found
    }

    /// Returns the length of the address at the beginning of a text; `nil` if there is none.
    private static func length(in text: ArraySlice<Unicode.Scalar>, isWhole: Bool) -> Int? {
        guard let scheme = schemes.first(where: { text.starts(with: $0) }) else { return nil }
        let host = text.dropFirst(scheme.count)
        guard let first = host.first, first.isASCII,
            first.properties.isAlphabetic || ("0"..."9").contains(first) || first == "["
        else { return nil }
        var end = host.startIndex
        while end < host.endIndex, end - text.startIndex < maximumBytes, isPart(host[end]) { end += 1 }
        if !isWhole { end = trimmed(text[..<end]) }
        return end > host.startIndex ? end - text.startIndex : nil
    }

    /// RFC 3986 permits fewer characters; browsers escape the others. Quotation marks, brackets of markup and spaces end an address.
    private static func isPart(_ scalar: Unicode.Scalar) -> Bool {
        (0x21...0x7E).contains(scalar.value) && !["\"", "'", "<", ">", "`", "{", "}", "|", "\\", "^"].contains(scalar)
    }

    /// Returns the end of an address without punctuation that follows it. A closing bracket belongs to an address that opened it.
    private static func trimmed(_ text: ArraySlice<Unicode.Scalar>) -> Int {
        var end = text.endIndex
        while end > text.startIndex {
            let last = text[end - 1]
            if [".", ",", ";", ":", "!", "?", "*"].contains(last) {
                end -= 1
            } else if last == ")" || last == "]" {
                let opening: Unicode.Scalar = last == ")" ? "(" : "["
                let inside = text[..<end]
                guard inside.count(where: { $0 == last }) > inside.count(where: { $0 == opening }) else { return end }
                end -= 1
            } else {
                return end
            }
        }
        return end
    }
}
