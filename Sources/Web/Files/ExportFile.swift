import Basics
import Crypto
import Encodings
import Hummingbird
import NIOCore
import Synchronization

/// An export on its way into a file without a name. It is written piece by piece, so it is never in memory as a whole.
final class ExportFile: Sendable {
    /// Bytes that are written to the disk at a time.
    private static let pieceBytes = 256 << 10

    private struct State {
        var memory = ByteBuffer()
        var size: Int64 = 0
        var hash = SHA256()
    }

    /// A complete export.
    struct Complete: Sendable {
        let head: FileHead
        let file: OpenFile
        /// Holds its bytes on the disk.
        let holder: HolderLimit.Holder
    }

    private let state = Mutex(State())
    private let file: OpenFile
    private let holder: HolderLimit.Holder
    private let files: FileSender

    private init(_ file: OpenFile, _ holder: HolderLimit.Holder, _ files: FileSender) {
        (self.file, self.holder, self.files) = (file, holder, files)
    }

    /// Writes a body into a new file.
    /// - Parameters:
    ///   - holder: Gets the bytes of the file.
    ///   - directory: Where the file is made.
    ///   - files: Whose queues write it.
    /// - Throws: `OpenFile.ReadError`, such as for a full disk; 503 if too many bytes wait on the disk; the errors of the body;
    ///   `CancellationError`.
    static func write(
        _ body: ResponseBody, type: String, for holder: HolderLimit.Holder, in directory: String, by files: FileSender
    ) async throws -> Complete {
        let file = try await files.run { () throws(OpenFile.ReadError) in try OpenFile(nameless: directory) }
        let export = ExportFile(file, holder, files)
        try await body.write(Writer(export: export))
        try await export.writeOut()
        let (size, hash) = export.state.withLock { ($0.size, $0.hash) }
        return Complete(
            head: FileHead(exportOf: size, sha256: Hexadecimal.encode(hash.finalize()), type: type), file: file,
            holder: holder)
    }

    private struct Writer: ResponseBodyWriter {
        let export: ExportFile

        func write(_ buffer: ByteBuffer) async throws {
            try Task.checkCancellation()
            try await export.append(buffer)
        }

        consuming func finish(_ trailingHeaders: HTTPFields?) {}
    }

    private func append(_ buffer: ByteBuffer) async throws {
        let isTooMuch = state.withLock { state in
            state.hash.update(data: buffer.readableBytesView)
            state.memory.writeImmutableBuffer(buffer)
            return state.memory.readableBytes >= Self.pieceBytes
        }
        if isTooMuch { try await writeOut() }
    }

    private func writeOut() async throws {
        let (bytes, offset) = state.withLock { state in
            defer {
                state.size += Int64(state.memory.readableBytes)
                state.memory = ByteBuffer()
            }
            return (state.memory, state.size)
        }
        guard bytes.readableBytes > 0 else { return }
        try holder.grow(by: bytes.readableBytes)
        try await files.run { [file] () throws(OpenFile.ReadError) in try file.write(bytes, at: offset) }
    }
}
