import Basics
import Glibc
import HTTPTypes
import Hummingbird
import NIOCore
import Synchronization

/// Collects the bytes of a webhook's body or of an answer: a few in memory, many in a file without a name. Bytes that wait for a slow client then
/// occupy no memory.
final class Spool: Sendable {
    /// The kind of bytes that are collected.
    enum Purpose: Sendable {
        /// A webhook's body, which its client sends meanwhile.
        case body
        /// An answer, which its client reads once it is computed.
        case answer
    }

    private struct State {
        /// Bytes that are not in the file.
        var memory = ByteBuffer()
        var file: OpenFile?
        /// The share of the disk limit, or of the memory limit if the disk is full.
        var holder: HolderLimit.Holder?
        /// Whether all stays in memory, since the disk is full.
        var staysInMemory = false
        /// Bytes that are in the file, or on their way into it.
        var size: Int64 = 0
    }

    /// The collected bytes.
    struct Contents: Sendable {
        /// All bytes, if there is no file.
        let memory: ByteBuffer
        let file: OpenFile?
        let size: Int64
        /// Holds the bytes on the disk, or those that are in memory since the disk is full, until it is released.
        let holder: HolderLimit.Holder?
    }

    private let state = Mutex(State())
    private let purpose: Purpose
    private let limit: HolderLimit
    private let inMemory: Int
    private let files: FileSender
    private let call: AuthorizedRequest

    /// - Parameters:
    ///   - limit: The limit of bytes on the disk.
    ///   - inMemory: The most bytes in memory. If there are more, all go into the file.
    ///   - files: Provides the serial queues that write the file.
    init(_ purpose: Purpose, _ limit: HolderLimit, inMemory: Int, by files: FileSender, for call: AuthorizedRequest) {
        self.purpose = purpose
        (self.limit, self.inMemory, self.files, self.call) = (limit, inMemory, files, call)
    }

    /// Adds bytes. Calls must not overlap.
    /// - Throws: 503 if the limit is reached; `errno` if the disk is full.
    func append(_ buffer: ByteBuffer) async throws {
        if let holder = state.withLock({ $0.staysInMemory ? $0.holder : nil }) {
            try holder.grow(by: buffer.readableBytes)
        }
        let isTooMuch = state.withLock { state in
            var buffer = buffer
            state.memory.writeBuffer(&buffer)
            return !state.staysInMemory && state.memory.readableBytes > inMemory
        }
        if isTooMuch { try await writeOut() }
    }

    /// Ends the collection.
    /// - Returns: All collected bytes.
    func finish() async throws -> Contents {
        if state.withLock({ $0.file != nil }) { try await writeOut() }
        return state.withLock { Contents(memory: $0.memory, file: $0.file, size: $0.size, holder: $0.holder) }
    }

    private func writeOut() async throws {
        let (bytes, known, offset) = state.withLock { state in
            defer {
                state.size += Int64(state.memory.readableBytes)
                state.memory = ByteBuffer()
            }
            return (state.memory, state.file, state.size)
        }
        guard bytes.readableBytes > 0 else { return }
        let holder =
            try state.withLock { $0.holder }
            ?? limit.hold(for: call.asker, on: call.channel, call.progress, hasBegun: purpose == .body)
        try holder.grow(by: bytes.readableBytes)
        let directory = call.limits.directory
        do throws(OpenFile.ReadError) {
            let file = try await files.run { () throws(OpenFile.ReadError) in
                guard let known else {
                    let file = try OpenFile(nameless: directory)
                    try file.write(bytes, at: offset)
                    return file
                }
                try known.write(bytes, at: offset)
                return known
            }
            state.withLock { ($0.file, $0.holder) = (file, holder) }
        } catch {
            guard purpose == .answer, error.isOfFullDisk else { throw error }
            // An operator who can make room has to see what occupies the disk.
            guard call.asker.isKnown else { throw Problem.busy(Self.fullDisk) }
            try await keepInMemory(bytes, after: known, offset)
        }
    }

    /// Keeps all bytes in memory from now on. The bytes on the disk are read back, which frees their space.
    /// - Parameters:
    ///   - bytes: The bytes that could not be written.
    ///   - file: The bytes that were written before `bytes`.
    ///   - size: The number of bytes in `file`.
    /// - Throws: 503 if too many bytes are in memory.
    private func keepInMemory(_ bytes: ByteBuffer, after file: OpenFile?, _ size: Int64) async throws {
        let holder = try call.limits.answersInMemory.hold(
            size + Int64(bytes.readableBytes), for: call.asker, on: call.channel, call.progress, hasBegun: false)
        var whole = ByteBuffer()
        if let file {
            let written = try await files.run { () throws(OpenFile.ReadError) in
                let written = try file.read(at: 0, count: Int(size))
                guard written.count == Int(size) else { throw OpenFile.ReadError(errno: EIO) }
                return written
            }
            whole.writeBytes(written)
        }
        whole.writeImmutableBuffer(bytes)
        state.withLock { state in
            (state.memory, state.file, state.holder) = (whole, nil, holder)
            state.staysInMemory = true
        }
    }

    /// The message to a client whose answer can be stored nowhere.
    static let fullDisk = "The disk of the service is full, so large answers wait; ask again when it has room."
}

extension Response {
    /// Returns the same answer with a complete body: in memory if it is small, otherwise in a file. An export that is written piece by piece is never
    /// in memory as a whole.
    /// - Throws: 503 if too many answers wait for their clients.
    func spooled(for call: AuthorizedRequest) async throws -> Response {
        let body = body
        if let length = body.contentLength, length <= WebLimits.answerBytesInMemory { return self }
        let limits = call.limits
        let spool = Spool(
            .answer, limits.answers, inMemory: WebLimits.answerBytesInMemory, by: limits.files, for: call)
        try await body.write(SpoolWriter(spool: spool))
        let contents = try await spool.finish()
        guard let holder = contents.holder else {
            return Response(status: status, headers: headers, body: .init(byteBuffer: contents.memory))
        }
        let sent =
            if let file = contents.file {
                limits.files.body(of: file, range: 0..<contents.size, over: call.channel, call.progress) {}
            } else {
                limits.files.body(of: contents.memory, call.progress)
            }
        return Response(
            status: status, headers: headers,
            body: ResponseBody(contentLength: sent.contentLength) { writer in
                holder.begin()
                try await sent.write(writer)
                withExtendedLifetime(holder) {}
            })
    }
}

private struct SpoolWriter: ResponseBodyWriter {
    let spool: Spool

    func write(_ buffer: ByteBuffer) async throws {
        try Task.checkCancellation()
        try await spool.append(buffer)
    }

    consuming func finish(_ trailingHeaders: HTTPFields?) {}
}
