import CZstd

/// A compressor and expander of short byte arrays. Only one thread may use it at a time. Its contexts are created once and reused.
final class Zstd {
    /// zstd's default level. Higher levels take several times as long and save only a few hundredths, since most of the data is noise.
    private static let level: Int32 = 3

    private let compressor: OpaquePointer
    private let expander: OpaquePointer

    /// - Throws: A refusal with `io` if there is not enough memory.
    init() throws {
        guard let compressor = ZSTD_createCCtx() else { throw Self.noMemory }
        guard let expander = ZSTD_createDCtx() else {
            ZSTD_freeCCtx(compressor)
            throw Self.noMemory
        }
        self.compressor = compressor
        self.expander = expander
    }

    deinit {
        ZSTD_freeCCtx(compressor)
        ZSTD_freeDCtx(expander)
    }

    private static let noMemory = Refusal(code: .io, message: "there is not enough memory to compress")

    func compress(_ bytes: [UInt8]) throws -> [UInt8] {
        let capacity = ZSTD_compressBound(bytes.count)
        var result = 0
        let compressed = [UInt8](unsafeUninitializedCapacity: capacity) { room, filled in
            result = bytes.withUnsafeBytes {
                ZSTD_compressCCtx(compressor, room.baseAddress, capacity, $0.baseAddress, $0.count, Self.level)
            }
            filled = ZSTD_isError(result) == 0 ? result : 0
        }
        guard ZSTD_isError(result) == 0 else {
            throw Refusal(code: .io, message: "compressing failed: \(String(cString: ZSTD_getErrorName(result)))")
        }
        return compressed
    }

    /// Expands a zstd frame.
    /// - Parameter count: The number of bytes that the frame must expand to.
    /// - Returns: `nil` for bytes that are no such frame.
    func expand(_ bytes: ArraySlice<UInt8>, to count: Int) -> [UInt8]? {
        var result = 0
        let expanded = [UInt8](unsafeUninitializedCapacity: count) { room, filled in
            result = bytes.withUnsafeBytes {
                ZSTD_decompressDCtx(expander, room.baseAddress, count, $0.baseAddress, $0.count)
            }
            filled = ZSTD_isError(result) == 0 ? result : 0
        }
        return ZSTD_isError(result) == 0 && expanded.count == count ? expanded : nil
    }
}
