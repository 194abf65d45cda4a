/// A strict parser of JSON texts (RFC 8259) into the nodes of a `JSONText`. The time is linear in its length; recursion has a limit.
struct JSONScanner {
    private let bytes: UnsafeBufferPointer<UInt8>
    private var nodes: [JSONText.Node] = []
    private var place = 0
    private var values = 0
    private let maximumValues: Int
    private let maximumDepth: Int

    private init(_ bytes: UnsafeBufferPointer<UInt8>, values: Int, depth: Int) {
        (self.bytes, maximumValues, maximumDepth) = (bytes, values, depth)
    }

    static func scan(
        _ bytes: [UInt8], values: Int, depth: Int
    ) throws(JSON.Failure) -> (bytes: [UInt8], nodes: [JSONText.Node]) {
        guard bytes.count < UInt32.max else {
            throw JSON.Failure(code: .malformed, text: "no JSON: \(bytes.count) bytes are too many")
        }
        let result = bytes.withUnsafeBufferPointer { buffer -> Result<[JSONText.Node], JSON.Failure> in
            var scanner = JSONScanner(buffer, values: values, depth: depth)
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

    private func failure(_ what: String, _ code: JSON.Failure.Code = .malformed) -> JSON.Failure {
        let line = bytes[..<min(place, bytes.count)].count { $0 == 0x0A } + 1
        return JSON.Failure(code: code, text: "no JSON: line \(line): \(what)")
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
        guard values <= maximumValues else {
            throw JSON.Failure(code: .tooManyValues, text: "JSON of more than \(maximumValues) values")
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
        else { throw failure("an unknown keyword") }
        append(kind, place..<end)
        place = end
    }

    private mutating func container(_ kind: JSONText.Kind, depth: Int) throws(JSON.Failure) {
        guard depth <= maximumDepth else { throw failure("more than \(maximumDepth) levels", .tooDeep) }
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
        guard place + 4 <= bytes.count, bytes[place..<place + 4].allSatisfy({ Hexadecimal.digit($0) != nil }) else {
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

    /// Returns the text of a string whose escapes were checked. An unpaired surrogate, and bytes that are not UTF-8, become U+FFFD.
    static func unescaped(_ content: ArraySlice<UInt8>) -> String {
        String(decoding: decoded(content).bytes, as: UTF8.self)
    }

    /// Returns the text of a string whose escapes were checked; `nil` if it has an unpaired surrogate, or bytes that are not UTF-8.
    static func validUnescaped(_ content: ArraySlice<UInt8>) -> String? {
        let decoded = decoded(content)
        return decoded.isPaired ? String(validating: decoded.bytes, as: UTF8.self) : nil
    }

    /// Returns the bytes of a string whose escapes were checked, at most as many as the string has, and whether each surrogate has its other
    /// half. An unpaired one is U+FFFD.
    private static func decoded(_ content: ArraySlice<UInt8>) -> (bytes: [UInt8], isPaired: Bool) {
        var (bytes, isPaired): ([UInt8], Bool) = ([], true)
        bytes.reserveCapacity(content.count)
        var place = content.startIndex
        while place < content.endIndex {
            if content[place] != UInt8(ascii: "\\") {
                bytes.append(content[place])
                place += 1
            } else if let plain = escapes[content[place + 1]] {
                bytes.append(plain)
                place += 2
            } else {
                var scalar = Unicode.Scalar(unit(content, at: place))
                place += 6
                let high = UInt32(unit(content, at: place - 6))
                if scalar == nil, 0xD800...0xDBFF ~= high, isUnit(content, at: place) {
                    let low = UInt32(unit(content, at: place))
                    if 0xDC00...0xDFFF ~= low {
                        scalar = Unicode.Scalar(0x10000 + (high - 0xD800) << 10 + (low - 0xDC00))
                        place += 6
                    }
                }
                if scalar == nil { isPaired = false }
                bytes.append(contentsOf: String(Character(scalar ?? "\u{FFFD}")).utf8)
            }
        }
        return (bytes, isPaired)
    }

    /// Whether a `\u` escape is at a place.
    private static func isUnit(_ content: ArraySlice<UInt8>, at place: Int) -> Bool {
        place + 6 <= content.endIndex && content[place] == UInt8(ascii: "\\") && content[place + 1] == UInt8(ascii: "u")
    }

    /// Returns the UTF-16 unit of the `\u` escape at a place.
    private static func unit(_ content: ArraySlice<UInt8>, at place: Int) -> UInt16 {
        content[(place + 2)..<(place + 6)].reduce(0) { $0 << 4 | UInt16(Hexadecimal.digit($1) ?? 0) }
    }
}
