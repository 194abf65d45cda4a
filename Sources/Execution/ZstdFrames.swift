import CZstd

/// Reads what is in the frames of a seekable zstd file. One thread at a time.
struct ZstdFrames: ~Copyable {
    /// What libzstd says is wrong.
    struct Problem: Error, CustomStringConvertible { let description: String }

    let table: SeekTable
    private let context: OpaquePointer
    /// The frame that was read last: reading on costs none twice.
    private var last: (index: Int, bytes: [UInt8])?

    /// Nothing when there is no memory.
    init?(_ table: SeekTable) {
        guard let context = ZSTD_createDCtx() else { return nil }
        self.table = table
        self.context = context
    }

    deinit { ZSTD_freeDCtx(context) }

    /// - Parameter compressed: Reads of the file: so many bytes from that place on.
    mutating func read(
        at offset: Int64, count: Int, compressed: (Int64, Int) throws -> [UInt8]
    ) throws -> [UInt8] {
        var output: [UInt8] = []
        var offset = offset
        while output.count < count, let index = table.frame(at: offset) {
            let bytes = try frame(index, compressed)
            let start = Int(offset - table.frames[index].offset)
            let end = min(bytes.count, start + count - output.count)
            output += bytes[start..<end]
            offset += Int64(end - start)
        }
        return output
    }

    private mutating func frame(_ index: Int, _ compressed: (Int64, Int) throws -> [UInt8]) throws -> [UInt8] {
        if let last, last.index == index { return last.bytes }
        let frame = table.frames[index]
        let input = try compressed(frame.place, frame.compressed)
        var result = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: frame.size) { buffer, filled in
            result = input.withUnsafeBytes {
                ZSTD_decompressDCtx(context, buffer.baseAddress, frame.size, $0.baseAddress, $0.count)
            }
            filled = ZSTD_isError(result) == 0 ? result : 0
        }
        if ZSTD_isError(result) != 0 { throw Problem(description: String(cString: ZSTD_getErrorName(result))) }
        guard bytes.count == frame.size else { throw Problem(description: "a frame is shorter than its table says") }
        last = (index, bytes)
        return bytes
    }
}
