import CZstd

/// A reader of the frames of a seekable zstd file, for one thread at a time.
struct ZstdFrames: ~Copyable {
    /// An error of libzstd.
    struct Problem: Error, CustomStringConvertible { let description: String }

    let table: SeekTable
    private let context: OpaquePointer
    /// The frame that was read last, so that sequential reads decompress it only once.
    private var last: (index: Int, bytes: [UInt8])?

    /// Creates a reader.
    /// - Returns: `nil` if there is not enough memory.
    init?(_ table: SeekTable) {
        guard let context = ZSTD_createDCtx() else { return nil }
        self.table = table
        self.context = context
    }

    deinit { ZSTD_freeDCtx(context) }

    /// Reads at most `count` bytes of the content from `offset` on.
    /// - Parameter compressed: Reads bytes of the file: gets their offset and number.
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
        guard bytes.count == frame.size else { throw Problem(description: "a frame is shorter than its table states") }
        last = (index, bytes)
        return bytes
    }
}
