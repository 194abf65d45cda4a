/// A search for a secret in bytes in any encoding, for tests of masking.
///
/// It undoes encodings instead of making them, and shares no code with the masking, so it finds what the masking does not know. A part of the
/// secret is sufficient, since a masked one leaves none.
struct SecretOracle {
    /// The number of consecutive bytes that are a part. Fewer occur in other text by chance, and Base64 leaves two at each end.
    static let part = 8

    /// Every part, as one number.
    private let parts: Set<UInt64>
    /// For each byte, whether a part ends with it. It is checked first, because whole databases are searched.
    private var ends = [Bool](repeating: false, count: 256)

    init(_ secret: String) {
        let bytes = Array(secret.utf8)
        precondition(bytes.count >= Self.part, "a secret of \(bytes.count) bytes has no part of \(Self.part)")
        parts = Set((0...bytes.count - Self.part).map { Self.number(bytes[$0..<$0 + Self.part]) })
        for part in parts { ends[Int(part & 0xFF)] = true }
    }

    private static func number(_ bytes: some Sequence<UInt8>) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }

    /// Returns the encodings in which parts of the secret are found; empty if there are none.
    func ways(in bytes: [UInt8]) -> [String] {
        // As a person reads it, who ignores line ends and colors.
        let plain = Self.unbroken(bytes)
        let readings: [(String, [UInt8])] = [
            ("as it is", plain), ("percent-encoded", Self.unescaped(plain, "%", by: Self.percent)),
            ("as a form", Self.unescaped(plain, "%+") { $0[0] == UInt8(ascii: "+") ? ([0x20], 1) : Self.percent($0) }),
            ("in JSON", Self.unescaped(plain, "\\", by: Self.json)),
            ("in XML", Self.unescaped(plain, "&", by: Self.xml)),
            ("hexadecimal", Self.digits(plain, bits: 4, offset: 0)),
            ("hexadecimal", Self.digits(plain, bits: 4, offset: 1)),
        ]
        let base64 = (0..<4).map { ("in Base64", Self.digits(plain, bits: 6, offset: $0)) }
        return (readings + base64).filter { has($0.1) }.map(\.0)
    }

    private func has(_ bytes: [UInt8]) -> Bool {
        var last: UInt64 = 0
        for (index, byte) in bytes.enumerated() {
            last = last << 8 | UInt64(byte)
            if ends[Int(byte)], index >= Self.part - 1, parts.contains(last) { return true }
        }
        return false
    }

    // MARK: Line ends and colors

    private static func unbroken(_ bytes: [UInt8]) -> [UInt8] {
        unescaped(bytes, "\n\r\\\u{1B}") { rest in
            switch rest[0] {
            case 0x0A, 0x0D: return ([], 1)
            case UInt8(ascii: "\\"):
                for end in ["\\n", "\\r", "\\u001b[31m"] where rest.starts(with: end.utf8) {
                    return ([], end.utf8.count)
                }
                return nil
            case 0x1B: return rest.starts(with: "\u{1B}[31m".utf8) ? ([], 5) : nil
            default: return nil
            }
        }
    }

    // MARK: Escapes

    /// The value of an escape at the beginning of some bytes, and its width.
    private typealias Reading = ([UInt8], Int)?

    /// - Parameter openings: The first characters of an escape, in ASCII.
    private static func unescaped(
        _ bytes: [UInt8], _ openings: String, by read: (UnsafeBufferPointer<UInt8>) -> Reading
    ) -> [UInt8] {
        var opens = [Bool](repeating: false, count: 256)
        for byte in openings.utf8 { opens[Int(byte)] = true }
        var output: [UInt8] = []
        output.reserveCapacity(bytes.count)
        bytes.withUnsafeBufferPointer { bytes in
            var position = 0
            while position < bytes.count {
                let byte = bytes[position]
                if opens[Int(byte)], let (stood, width) = read(UnsafeBufferPointer(rebasing: bytes[position...])) {
                    output += stood
                    position += width
                } else {
                    output.append(byte)
                    position += 1
                }
            }
        }
        return output
    }

    private static func percent(_ bytes: UnsafeBufferPointer<UInt8>) -> Reading {
        guard bytes[0] == UInt8(ascii: "%"), bytes.count > 2, let value = hexadecimal(bytes[1...2]) else { return nil }
        return ([UInt8(value)], 3)
    }

    private static func json(_ bytes: UnsafeBufferPointer<UInt8>) -> Reading {
        guard bytes[0] == UInt8(ascii: "\\"), bytes.count > 1 else { return nil }
        guard bytes[1] == UInt8(ascii: "u") else {
            return "\"\\/".utf8.contains(bytes[1]) ? ([bytes[1]], 2) : nil
        }
        // All consecutive units, because a character beyond 16 bits has two.
        var units: [UInt16] = []
        while bytes.count >= units.count * 6 + 6,
            bytes[units.count * 6..<units.count * 6 + 2].elementsEqual("\\u".utf8),
            let value = hexadecimal(bytes[units.count * 6 + 2..<units.count * 6 + 6])
        { units.append(UInt16(value)) }
        return units.isEmpty ? nil : (Array(String(decoding: units, as: UTF16.self).utf8), units.count * 6)
    }

    private static func xml(_ bytes: UnsafeBufferPointer<UInt8>) -> Reading {
        guard bytes[0] == UInt8(ascii: "&"), let end = bytes.prefix(12).firstIndex(of: UInt8(ascii: ";")) else {
            return nil
        }
        let name = String(decoding: bytes[1..<end], as: UTF8.self)
        let named = ["amp": "&", "lt": "<", "gt": ">", "quot": "\"", "apos": "'"]
        if let character = named[name] { return (Array(character.utf8), end + 1) }
        guard name.hasPrefix("#") else { return nil }
        let isHexadecimal = name.lowercased().hasPrefix("#x")
        let value = UInt32(name.dropFirst(isHexadecimal ? 2 : 1), radix: isHexadecimal ? 16 : 10)
        return value.flatMap(Unicode.Scalar.init).map { (Array(String($0).utf8), end + 1) }
    }

    private static func hexadecimal(_ digits: Slice<UnsafeBufferPointer<UInt8>>) -> UInt32? {
        var value: UInt32 = 0
        for digit in digits {
            guard let digit = digit.hexadecimalValue else { return nil }
            value = value << 4 | UInt32(digit)
        }
        return value
    }

    // MARK: Digits

    /// Returns bytes made of the bits of digits, beginning with one digit of each run. Runs are separated by a NUL.
    private static func digits(_ bytes: [UInt8], bits: Int, offset: Int) -> [UInt8] {
        var output: [UInt8] = []
        var (kept, count, index) = (0, 0, 0)
        for byte in bytes {
            guard let digit = bits == 4 ? byte.hexadecimalValue : byte.base64Value else {
                if index > 0 { output.append(0) }
                (kept, count, index) = (0, 0, 0)
                continue
            }
            index += 1
            guard index > offset else { continue }
            kept = (kept << bits | Int(digit)) & 0xFFFF
            count += bits
            if count >= 8 {
                count -= 8
                output.append(UInt8(kept >> count & 0xFF))
            }
        }
        return output
    }
}

extension UInt8 {
    fileprivate var hexadecimalValue: UInt8? {
        switch self {
        case 0x30...0x39: self - 0x30
        case 0x41...0x46, 0x61...0x66: (self | 0x20) - 0x61 + 10
        default: nil
        }
    }

    /// The value in either alphabet.
    fileprivate var base64Value: UInt8? {
        switch self {
        case 0x41...0x5A: self - 0x41
        case 0x61...0x7A: self - 0x61 + 26
        case 0x30...0x39: self - 0x30 + 52
        case 0x2B, 0x2D: 62
        case 0x2F, 0x5F: 63
        default: nil
        }
    }
}
