import CZstd

/// A writer of a seekable zstd file, frame by frame.
struct ZstdWriter: ~Copyable {
    /// The default level of zstd. Higher levels take three times as long for a log that is a tenth smaller.
    private static let level: Int32 = 3

    private let context: OpaquePointer
    private var table = SeekTable()
    private var room: [UInt8]

    /// Creates a writer.
    /// - Returns: `nil` if there is not enough memory.
    init?() {
        guard let context = ZSTD_createCCtx() else { return nil }
        self.context = context
        room = [UInt8](repeating: 0, count: ZSTD_compressBound(SeekTable.frameBytes))
        ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, Self.level)
        // A checksum of four bytes for each frame, by which damage is detected when the file is read.
        ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1)
    }

    deinit { ZSTD_freeCCtx(context) }

    /// Returns the next frame.
    /// - Parameter input: At most `SeekTable.frameBytes` bytes.
    mutating func frame(of input: [UInt8]) throws(ZstdFrames.Problem) -> ArraySlice<UInt8> {
        let (context, capacity) = (context, room.count)
        let result = input.withUnsafeBytes { input in
            room.withUnsafeMutableBytes {
                ZSTD_compress2(context, $0.baseAddress, capacity, input.baseAddress, input.count)
            }
        }
        guard ZSTD_isError(result) == 0 else {
            throw ZstdFrames.Problem(description: String(cString: ZSTD_getErrorName(result)))
        }
        table.append(compressed: result, size: input.count)
        return room[..<result]
    }

    /// Returns the bytes that end the file.
    func end() -> [UInt8] { table.bytes() }
}
