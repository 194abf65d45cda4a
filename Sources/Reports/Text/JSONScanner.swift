/// A strict parser of JSON texts (RFC 8259) into the nodes of a `JSONText`. The time is linear in its length; recursion is limited to
/// `JSON.maximumDepth` levels.
struct JSONScanner {
    private let bytes: UnsafeBufferPointer<UInt8>
    private var nodes: [JSONText.Node] = []
    private var place = 0
    private var values = 0

    private init(_ bytes: UnsafeBufferPointer<UInt8>) { self.bytes = bytes }

    static func scan(_ bytes: [UInt8]) throws(JSON.Failure) -> (bytes: [UInt8], nodes: [JSONText.Node]) {
        guard bytes.count < UInt32.max else { throw JSON.Failure(text: "no JSON: \(bytes.count) bytes are too many") }
        let result = bytes.withUnsafeBufferPointer { buffer -> Result<[JSONText.Node], JSON.Failure> in
            var scanner = JSONScanner(buffer)
            do throws(JSON.Failure) {
                try scanner.scan()
                return .success(scanner.nodes)
            } catch {
                return .failure(error)
            }
        }
        return (bytes, try result.get())
    }

    private mutating func scan() throws(JSON.Failure) {
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { place = 3 }
        try value(depth: 1)
        skipBlanks()
        guard place == bytes.count else { throw failure("something follows the value") }
    }

    private func failure(_ what: String) -> JSON.Failure {
        let line = bytes[..<min(place, bytes.count)].count { $0 == 0x0A } + 1
        return JSON.Failure(text: "no JSON: line \(line): \(what)")
    }

    private mutating func skipBlanks() {
        while place < bytes.count {
            switch bytes[place] {
            case 0x20, 0x09, 0x0A, 0x0D: place += 1
            default: return
            }
        }
    }

    private mutating func next(is byte: UInt8) -> Bool {
        guard place < bytes.count, bytes[place] == byte else { return false }
        place += 1
        return true
    }

    private mutating func value(depth: Int) throws(JSON.Failure) {
        skipBlanks()
        guard place < bytes.count else { throw failure("it ends too early") }
        values += 1
        guard values <= JSON.maximumValues else {
            throw JSON.Failure(text: "JSON of more than \(JSON.maximumValues) values")
        }
        switch bytes[place] {
        case UInt8(ascii: "{"): try container(.object, depth: depth)
        case UInt8(ascii: "["): try container(.array, depth: depth)
        case UInt8(ascii: "\""): try string()
        case UInt8(ascii: "t"): try word("true", .true)
        case UInt8(ascii: "f"): try word("false", .false)
        case UInt8(ascii: "n"): try word("null", .null)
        default: try number()
        }
    }

    private mutating func append(_ kind: JSONText.Kind, _ range: Range<Int>, isEscaped: Bool = false) {
        nodes.append(
            .init(
                start: UInt32(range.lowerBound), count: UInt32(range.count), next: UInt32(nodes.count + 1), kind: kind,
                isEscaped: isEscaped))
    }

    private mutating func word(_ word: StaticString, _ kind: JSONText.Kind) throws(JSON.Failure) {
        let end = place + word.utf8CodeUnitCount
        guard end <= bytes.count,
            bytes[place..<end].elementsEqual(UnsafeBufferPointer(start: word.utf8Start, count: word.utf8CodeUnitCount))
        else { throw failure("an unknown word") }
        append(kind, place..<end)
        place = end
    }

    private mutating func container(_ kind: JSONText.Kind, depth: Int) throws(JSON.Failure) {
        guard depth <= JSON.maximumDepth else { throw failure("more than \(JSON.maximumDepth) levels") }
        let own = nodes.count
        append(kind, 0..<0)
        let end = kind == .object ? UInt8(ascii: "}") : UInt8(ascii: "]")
        place += 1
        var count: UInt32 = 0
        skipBlanks()
        if !next(is: end) {
            repeat {
                if kind == .object { try key() }
                try value(depth: depth + 1)
                count += 1
                skipBlanks()
            } while next(is: UInt8(ascii: ","))
            guard next(is: end) else {
                throw failure(place < bytes.count ? "a comma is missing" : "it ends too early")
            }
        }
        nodes[own].count = count
        nodes[own].next = UInt32(nodes.count)
    }

    private mutating func key() throws(JSON.Failure) {
        skipBlanks()
        guard place < bytes.count, bytes[place] == UInt8(ascii: "\"") else {
            throw failure(place < bytes.count ? "a key is missing" : "it ends too early")
        }
        try string()
        skipBlanks()
        guard next(is: UInt8(ascii: ":")) else { throw failure("a colon is missing") }
    }

    private mutating func string() throws(JSON.Failure) {
        place += 1
        let start = place
        var isEscaped = false
        while place < bytes.count {
            switch bytes[place] {
            case UInt8(ascii: "\""):
                append(.string, start..<place, isEscaped: isEscaped)
                place += 1
                return
            case UInt8(ascii: "\\"):
                isEscaped = true
                place += 1
                guard place < bytes.count else { throw failure("it ends within a string") }
                try escape()
            case 0..<0x20: throw failure("a control character in a string")
            default: place += 1
            }
        }
        throw failure("it ends within a string")
    }

    private mutating func escape() throws(JSON.Failure) {
        let byte = bytes[place]
        place += 1
        guard byte == UInt8(ascii: "u") else {
            guard Self.escapes[byte] != nil else { throw failure("an unknown escape") }
            return
        }
        guard place + 4 <= bytes.count, bytes[place..<place + 4].allSatisfy({ Self.digit($0) != nil }) else {
            throw failure("an escape without four hexadecimal digits")
        }
        place += 4
    }

    /// Reads a number (section 6): no leading zero, no plus sign, digits on both sides of the point.
    private mutating func number() throws(JSON.Failure) {
        let start = place
        _ = next(is: UInt8(ascii: "-"))
        let first = place
        try digits("no value")
        if bytes[first] == UInt8(ascii: "0"), place - first > 1 { throw failure("a number with a leading zero") }
        if next(is: UInt8(ascii: ".")) { try digits("a number without digits after the point") }
        if next(is: UInt8(ascii: "e")) || next(is: UInt8(ascii: "E")) {
            if !next(is: UInt8(ascii: "+")) { _ = next(is: UInt8(ascii: "-")) }
            try digits("a number without an exponent")
        }
        append(.number, start..<place)
    }

    private mutating func digits(_ otherwise: String) throws(JSON.Failure) {
        let start = place
        while place < bytes.count, 0x30...0x39 ~= bytes[place] { place += 1 }
        guard place > start else { throw failure(otherwise) }
    }

    // MARK: Escapes

    private static let escapes: [UInt8: UInt8] = [
        UInt8(ascii: "\""): 0x22, UInt8(ascii: "\\"): 0x5C, UInt8(ascii: "/"): 0x2F, UInt8(ascii: "b"): 0x08,
        UInt8(ascii: "f"): 0x0C, UInt8(ascii: "n"): 0x0A, UInt8(ascii: "r"): 0x0D, UInt8(ascii: "t"): 0x09,
    ]

    private static func digit(_ byte: UInt8) -> UInt16? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt16(byte - UInt8(ascii: "0"))
        case UInt8(ascii: "a")...UInt8(ascii: "f"): UInt16(byte - UInt8(ascii: "a") + 10)
        case UInt8(ascii: "A")...UInt8(ascii: "F"): UInt16(byte - UInt8(ascii: "A") + 10)
        default: nil
        }
    }

    /// Returns the text of a string whose escapes were checked. An unpaired surrogate, and bytes that are not UTF-8, become U+FFFD.
    static func unescaped(_ content: ArraySlice<UInt8>) -> String {
        var text = ""
        var place = content.startIndex
        while place < content.endIndex {
            guard content[place] == UInt8(ascii: "\\") else {
                let end = content[place...].firstIndex(of: UInt8(ascii: "\\")) ?? content.endIndex
                text += String(decoding: content[place..<end], as: UTF8.self)
                place = end
                continue
            }
            guard let plain = escapes[content[place + 1]] else {
                var units: [UInt16] = []
                while content[place...].starts(with: [UInt8(ascii: "\\"), UInt8(ascii: "u")]) {
                    units.append(content[(place + 2)..<(place + 6)].reduce(0) { $0 << 4 | (digit($1) ?? 0) })
                    place += 6
                }
                text += String(decoding: units, as: UTF16.self)
                continue
            }
            text.unicodeScalars.append(Unicode.Scalar(plain))
            place += 2
        }
        return text
    }
}
