import CZlib
import Synchronization

/// One answer on its way through gzip (RFC 1952). Its memory, 256 KiB, is released with it.
final class GzipStream: Sendable {
    /// One below zlib's own default of 6 (zlib.h).
    static let level: Int32 = 5

    struct Failure: Error, CustomStringConvertible {
        let code: Int32

        var description: String { "zlib could not compress an answer (code \(code))" }
    }

    /// The state of zlib. It stays at its address, since zlib keeps pointers to it.
    private struct State: @unchecked Sendable {
        let stream: UnsafeMutablePointer<z_stream>
    }

    /// Guards the state: only one call at a time may use it.
    private let state: Mutex<State>

    /// - Throws: `Failure` if there is no memory.
    init() throws(Failure) {
        let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
        stream.initialize(to: z_stream())
        let code = martlet_gzip_init(stream, Self.level)
        guard code == Z_OK else {
            stream.deallocate()
            throw Failure(code: code)
        }
        state = Mutex(State(stream: stream))
    }

    deinit {
        state.withLock { state in
            _ = deflateEnd(state.stream)
            state.stream.deallocate()
        }
    }

    /// Compresses further bytes.
    /// - Parameter isLast: Whether the answer ends with them.
    /// - Returns: What is to be sent, which may be empty.
    /// - Throws: `Failure` if it was ended before.
    func compress(_ bytes: UnsafeRawBufferPointer, isLast: Bool) throws(Failure) -> [UInt8] {
        let result: Result<[UInt8], Failure> = state.withLock { state in
            let stream = state.stream
            stream.pointee.next_in = UnsafeMutablePointer(
                mutating: bytes.baseAddress?.assumingMemoryBound(to: Bytef.self))
            stream.pointee.avail_in = UInt32(clamping: bytes.count)
            var output: [UInt8] = []
            var piece = [UInt8](repeating: 0, count: 16 << 10)
            while true {
                let (code, made) = piece.withUnsafeMutableBufferPointer { piece in
                    stream.pointee.next_out = piece.baseAddress
                    stream.pointee.avail_out = UInt32(piece.count)
                    let code = deflate(stream, isLast ? Z_FINISH : Z_NO_FLUSH)
                    return (code, piece.count - Int(stream.pointee.avail_out))
                }
                // Z_BUF_ERROR: nothing was left to do, which is no error (zlib.h).
                guard code == Z_OK || code == Z_STREAM_END || code == Z_BUF_ERROR else {
                    return .failure(Failure(code: code))
                }
                output += piece[..<made]
                if code == Z_STREAM_END || made < piece.count { return .success(output) }
            }
        }
        return try result.get()
    }

    /// Compresses bytes as a whole.
    static func compress(_ bytes: [UInt8]) throws(Failure) -> [UInt8] {
        let stream = try GzipStream()
        let result: Result<[UInt8], Failure> = bytes.withUnsafeBytes { raw in
            Result { () throws(Failure) in try stream.compress(raw, isLast: true) }
        }
        return try result.get()
    }
}
