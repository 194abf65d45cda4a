/// A reader of LLVM's bitstream container: blocks of records, abbreviated or not (llvm.org/docs/BitCodeFormat).
///
/// Its work is limited by the number of bytes. Every read advances by at least one bit or fails. Elements that take no bits (literals, numbers of
/// zero bits) have a budget for the whole stream.
struct Bitstream {
    struct Failure: Error { var text: String }

    /// The next element of a block.
    enum Item {
        case block(Int)
        case record(Int, fields: [UInt64], blob: ArraySlice<UInt8>)
        case end
    }

    private enum Encoding { case literal(UInt64), fixed(Int), variable(Int), array, character, blob }

    private let bytes: [UInt8]
    private var bit = 0
    private var width = 2
    private var abbreviations: [[Encoding]] = []
    private var outer: [(width: Int, abbreviations: [[Encoding]], block: Int)] = []
    private var block = -1
    private var registered: [Int: [[Encoding]]] = [:]

    /// The most nested blocks and the most operands of a record. Serialized diagnostics have three levels and about ten operands.
    private static let maximumDepth = 16
    private static let maximumOperands = 1 << 16
    /// The most encodings of an abbreviation, and the most abbreviations of a block. Those of swiftc and clang have at most nine of each.
    private static let maximumEncodings = 32
    private static let maximumAbbreviations = 100
    /// The number of further operands that are allowed. It begins with the number of bits in the stream.
    private var operands: Int

    /// - Parameter start: The offset of the first block, in bytes.
    init(_ bytes: [UInt8], from start: Int) {
        self.bytes = bytes
        operands = bytes.count * 8
        bit = start * 8
    }

    var isAtEnd: Bool { outer.isEmpty && bit + 32 > bytes.count * 8 }
    /// The current offset in bytes, for messages.
    var place: Int { bit / 8 }

    /// Returns the next block, record or end of a block. Definitions of abbreviations before it are read and stored.
    mutating func next() throws(Failure) -> Item {
        while true {
            switch try fixed(width) {
            case 0:
                guard let last = outer.popLast() else { throw Failure(text: "an end of a block without its beginning") }
                align()
                (width, abbreviations, block) = last
                return .end
            case 1:
                let identifier = try number(variable(8))
                let newWidth = try number(variable(4))
                align()
                _ = try fixed(32)
                guard outer.count < Self.maximumDepth, (2...32).contains(newWidth) else {
                    throw Failure(text: "an invalid block")
                }
                outer.append((width, abbreviations, block))
                (width, abbreviations, block) = (newWidth, registered[identifier] ?? [], identifier)
                if identifier != 0 { return .block(identifier) }
                try readBlockInfo()
            case 2:
                let abbreviation = try definition()
                guard abbreviations.count < Self.maximumAbbreviations else {
                    throw Failure(text: "too many abbreviations")
                }
                abbreviations.append(abbreviation)
            case 3:
                let code = try number(variable(6))
                let count = try operandCount(variable(6))
                var fields: [UInt64] = []
                for _ in 0..<count { fields.append(try variable(6)) }
                return .record(code, fields: fields, blob: [])
            case let identifier:
                let index = Int(identifier) - 4
                guard abbreviations.indices.contains(index) else {
                    throw Failure(text: "an abbreviation that is not defined")
                }
                return try record(abbreviations[index])
            }
        }
    }

    /// Skips a block that has just begun.
    mutating func skipBlock() throws(Failure) {
        let depth = outer.count
        while outer.count >= depth {
            if case .end = try next(), outer.count < depth { return }
        }
    }

    /// Reads block 0, which registers abbreviations for later blocks.
    private mutating func readBlockInfo() throws(Failure) {
        var target: Int?
        while true {
            switch try fixed(width) {
            case 0:
                guard let last = outer.popLast() else { throw Failure(text: "an end of a block without its beginning") }
                align()
                (width, abbreviations, block) = last
                return
            case 2:
                let abbreviation = try definition()
                guard let target, registered[target, default: []].count < Self.maximumAbbreviations,
                    registered.count < 1000
                else {
                    throw Failure(text: "an abbreviation for no block")
                }
                registered[target, default: []].append(abbreviation)
            case 3:
                let code = try variable(6)
                let count = try operandCount(variable(6))
                for index in 0..<count {
                    let value = try variable(6)
                    if code == 1, index == 0 { target = Int(truncatingIfNeeded: value & 0xFFFF_FFFF) }
                }
            default: throw Failure(text: "an invalid block of abbreviations")
            }
        }
    }

    private mutating func definition() throws(Failure) -> [Encoding] {
        let count = try operandCount(variable(5))
        guard count <= Self.maximumEncodings else {
            throw Failure(text: "an abbreviation of \(count) encodings")
        }
        var encodings: [Encoding] = []
        for _ in 0..<count {
            if try fixed(1) == 1 {
                encodings.append(.literal(try variable(8)))
                continue
            }
            switch try fixed(3) {
            case 1: encodings.append(.fixed(try bitCount(variable(5))))
            case 2: encodings.append(.variable(try bitCount(variable(5))))
            case 3: encodings.append(.array)
            case 4: encodings.append(.character)
            case 5: encodings.append(.blob)
            default: throw Failure(text: "an encoding that is not known")
            }
        }
        return encodings
    }

    private mutating func record(_ abbreviation: [Encoding]) throws(Failure) -> Item {
        var values: [UInt64] = []
        var blob: ArraySlice<UInt8> = []
        var index = 0
        operands -= abbreviation.count
        guard operands >= 0 else { throw Failure(text: "more operands than it has bits") }
        while index < abbreviation.count {
            switch abbreviation[index] {
            case .array:
                guard index + 1 < abbreviation.count else { throw Failure(text: "an array without an element type") }
                let count = try operandCount(variable(6))
                for _ in 0..<count { values.append(try scalar(abbreviation[index + 1])) }
                index += 1
            case .blob:
                let count = Int(truncatingIfNeeded: try variable(6) & 0xFFFF_FFFF)
                align()
                guard bit / 8 + count <= bytes.count else { throw Failure(text: "it ends within a text") }
                blob = bytes[(bit / 8)..<(bit / 8 + count)]
                bit += count * 8
                align()
            case let encoding: values.append(try scalar(encoding))
            }
            index += 1
        }
        guard let code = values.first else { throw Failure(text: "a record without a code") }
        return .record(Int(truncatingIfNeeded: code & 0xFFFF_FFFF), fields: Array(values.dropFirst()), blob: blob)
    }

    private mutating func scalar(_ encoding: Encoding) throws(Failure) -> UInt64 {
        switch encoding {
        case .literal(let value): value
        case .fixed(let count): try fixed(count)
        case .variable(let count): try variable(count)
        case .character: try fixed(6)
        case .array, .blob: throw Failure(text: "an array of arrays")
        }
    }

    private mutating func operandCount(_ value: UInt64) throws(Failure) -> Int {
        guard value <= Self.maximumOperands else { throw Failure(text: "a record with \(value) operands") }
        operands -= Int(value)
        guard operands >= 0 else { throw Failure(text: "more operands than it has bits") }
        return Int(value)
    }

    /// Returns an identifier, a width or a code, which must fit in 32 bits.
    private func number(_ value: UInt64) throws(Failure) -> Int {
        guard let number = Int(exactly: value), number <= Int(UInt32.max) else {
            throw Failure(text: "the number \(value), which is too large here")
        }
        return number
    }

    private func bitCount(_ value: UInt64) throws(Failure) -> Int {
        guard value <= 64 else { throw Failure(text: "a number of \(value) bits") }
        return Int(value)
    }

    private mutating func fixed(_ count: Int) throws(Failure) -> UInt64 {
        guard bit + count <= bytes.count * 8 else { throw Failure(text: "it ends too early") }
        var value: UInt64 = 0
        for offset in 0..<count {
            let place = bit + offset
            if bytes[place >> 3] >> UInt8(place & 7) & 1 == 1 { value |= 1 << UInt64(offset) }
        }
        bit += count
        return value
    }

    /// Reads a number in chunks of `count` bits. The highest bit of a chunk states whether another follows.
    private mutating func variable(_ count: Int) throws(Failure) -> UInt64 {
        guard count > 1 else { return count == 1 ? try fixed(1) : 0 }
        var value: UInt64 = 0
        var shift = 0
        while true {
            let chunk = try fixed(count)
            let high: UInt64 = 1 << UInt64(count - 1)
            if shift < 64 { value |= (chunk & (high - 1)) << UInt64(shift) }
            if chunk & high == 0 { return value }
            shift += count - 1
            guard shift < 128 else { throw Failure(text: "a number without an end") }
        }
    }

    private mutating func align() { bit = (bit + 31) / 32 * 32 }
}
