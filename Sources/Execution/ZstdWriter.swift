import CZstd

/// Writes a seekable zstd file frame by frame.
struct ZstdWriter: ~Copyable {
    /// zstd's default. Higher levels take three times as long for a tenth less of a build's log.
    private static let level: Int32 = 3

    private let context: OpaquePointer
    private var table = SeekTable()
    private var room: [UInt8]

    /// Nothing when there is no memory.
    init?() {
        guard let context = ZSTD_createCCtx() else { return nil }
        self.context = context
        room = [UInt8](repeating: 0, count: ZSTD_compressBound(SeekTable.frameBytes))
        ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, Self.level)
        // Four bytes a frame, so that a damaged file is told from a good one when it is read.
        ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1)
    }

    deinit { ZSTD_freeCCtx(context) }

    /// The next frame.
    /// - Parameter input: At most `SeekTable.frameBytes`.
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

    /// What ends the file.
    func end() -> [UInt8] { table.bytes() }
}
