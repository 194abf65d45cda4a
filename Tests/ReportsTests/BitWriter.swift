/// A writer of LLVM's bitstreams, for inputs that no compiler writes.
struct BitWriter {
    private var bits: [Bool] = []

    mutating func fixed(_ value: UInt64, _ count: Int) {
        for place in 0..<count { bits.append(value >> UInt64(place) & 1 == 1) }
    }

    mutating func variable(_ value: UInt64, _ count: Int) {
        let high: UInt64 = 1 << UInt64(count - 1)
        var rest = value
        while rest >= high {
            fixed(rest & (high - 1) | high, count)
            rest >>= UInt64(count - 1)
        }
        fixed(rest, count)
    }

    /// Begins a block.
    /// - Parameter outer: The width of an abbreviation outside of the block, in bits.
    mutating func block(_ identifier: UInt64, width: UInt64, outer: Int = 2) {
        fixed(1, outer)
        variable(identifier, 8)
        variable(width, 4)
        while bits.count % 32 != 0 { bits.append(false) }
        fixed(10, 32)
    }

    /// The stream after the magic number of serialized diagnostics.
    var diagnostics: [UInt8] {
        var bytes = [UInt8](repeating: 0, count: (bits.count + 7) / 8)
        for (place, bit) in bits.enumerated() where bit { bytes[place / 8] |= 1 << UInt8(place % 8) }
        return Array("DIAG".utf8) + bytes
    }
}
