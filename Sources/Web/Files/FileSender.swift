import Basics
import Hummingbird
import NIOCore
import NIOHTTP1
import NIOHTTPTypesHTTP1
import Synchronization

/// Sends parts of files with constant memory. It sends one piece of each download at a time, from the kernel's page cache to the connection
/// (sendfile(2)). Data that is not in the page cache is read on serial queues beside the cooperative pool and the connections' threads.
final class FileSender: Sendable {
    /// 1 MiB. Passing a piece between two threads takes less than a tenth of the time that a client on this machine needs to receive it.
    static let pieceBytes = 1 << 20
    /// 256 KiB: the largest read into memory of this process.
    static let chunkBytes = 256 * 1024
    /// The connection of a client that does not receive a piece within this time is closed. This is a rate of 9 KB a second.
    static let pieceTime = TimeAmount.seconds(120)
    /// How often a file's size is checked while a piece of it is being sent.
    static let lookTime = TimeAmount.milliseconds(100)
    /// The number of serial queues. A read that hangs, as on a dead network file system, blocks one of them, not the service.
    private static let queueCount = 4

    private let queues: [SerialQueue]
    private let turn = Atomic<Int>(0)
    private let pieceTime: TimeAmount

    init(pieceTime: TimeAmount = FileSender.pieceTime) {
        queues = (0..<Self.queueCount).map { SerialQueue(label: "files-\($0)") }
        self.pieceTime = pieceTime
    }

    /// Runs a short blocking operation on the disk.
    /// - Throws: The errors of `body`.
    func run<Value: Sendable, Failure: Error>(
        _ body: @escaping @Sendable () throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        try await nextQueue.run(body)
    }

    /// Returns a body of exactly these bytes. If the file has become shorter, the connection is closed, so that no client mistakes a part for the
    /// whole.
    /// - Parameters:
    ///   - channel: The connection of this answer.
    ///   - progress: Gets the size of each piece that the kernel has accepted.
    ///   - onSent: Called when the kernel has accepted the last byte.
    func body(
        of file: OpenFile, range: Range<Int64>, over channel: any Channel, _ progress: Progress,
        onSent: @escaping @Sendable () -> Void
    ) -> ResponseBody {
        let (queue, pieceTime) = (nextQueue, pieceTime)
        return ResponseBody(contentLength: Int(range.count)) { writer in
            let handle = try file.handle()
            defer { try? handle.close() }
            var offset = range.lowerBound
            while offset < range.upperBound {
                let piece = offset..<min(range.upperBound, offset + Int64(Self.pieceBytes))
                if !file.isInMemory(piece) {
                    try await queue.run {
                        for place in stride(from: piece.lowerBound, to: piece.upperBound, by: Self.chunkBytes) {
                            _ = try file.read(
                                at: place, count: Int(min(piece.upperBound - place, Int64(Self.chunkBytes))))
                        }
                    }
                }
                guard file.size >= piece.upperBound else { throw Truncated() }
                let region = FileRegion(
                    fileHandle: handle, readerIndex: Int(piece.lowerBound), endIndex: Int(piece.upperBound))
                try await Self.send(region, of: file, over: channel, in: pieceTime, looking: queue)
                progress.add(piece.count)
                offset = piece.upperBound
            }
            onSent()
            try await writer.finish(nil)
        }
    }

    /// Passes a piece to the connection as HTTP/1's own types, which support parts of files, and waits until the kernel has accepted it.
    ///
    /// sendfile(2) does not report that a file ends too early. NIO would call it repeatedly and keep a processor busy until the time limit. The
    /// file's size is therefore checked meanwhile, and the connection is closed if the file is too short.
    /// - Parameters:
    ///   - time: The connection is closed if the piece is not sent within this time.
    ///   - queue: The serial queue that checks the size. A hanging network file system then delays no other connection.
    private static func send(
        _ region: FileRegion, of file: OpenFile, over channel: any Channel, in time: TimeAmount,
        looking queue: SerialQueue
    ) async throws {
        let end = Int64(region.endIndex)
        let sent = channel.eventLoop.makePromise(of: Void.self)
        channel.eventLoop.execute {
            do {
                let context = try channel.pipeline.syncOperations.context(handlerType: HTTP1ToHTTPServerCodec.self)
                let deadline = channel.eventLoop.scheduleTask(in: time) { channel.close(promise: nil) }
                // The next check begins after the previous one has ended.
                let look = channel.eventLoop.scheduleRepeatedAsyncTask(initialDelay: lookTime, delay: lookTime) { _ in
                    channel.eventLoop.makeFutureWithTask {
                        await Self.cut(channel, where: file, isShorterThan: end, on: queue)
                    }
                }
                sent.futureResult.whenComplete { _ in
                    deadline.cancel()
                    look.cancel()
                }
                context.writeAndFlush(NIOAny(HTTPServerResponsePart.body(.fileRegion(region))), promise: sent)
            } catch {
                sent.fail(error)
            }
        }
        try await sent.futureResult.get()
    }

    private static func cut(
        _ channel: any Channel, where file: OpenFile, isShorterThan size: Int64, on queue: SerialQueue
    ) async {
        let now = await queue.run { file.size }
        if now < size { channel.close(promise: nil) }
    }

    /// Returns a body of bytes that are in memory.
    func body(of bytes: ByteBuffer, range: Range<Int>, onSent: @escaping @Sendable () -> Void) -> ResponseBody {
        ResponseBody(contentLength: range.count) { writer in
            if let slice = bytes.getSlice(at: bytes.readerIndex + range.lowerBound, length: range.count) {
                try await writer.write(slice)
            }
            onSent()
            try await writer.finish(nil)
        }
    }

    /// Returns a body of many bytes in memory, which are sent piece by piece.
    /// - Parameter progress: Gets the size of each piece that was written.
    func body(of bytes: ByteBuffer, _ progress: Progress) -> ResponseBody {
        ResponseBody(contentLength: bytes.readableBytes) { writer in
            var rest = bytes
            while let piece = rest.readSlice(length: min(Self.chunkBytes, rest.readableBytes)), piece.readableBytes > 0
            {
                try await writer.write(piece)
                progress.add(piece.readableBytes)
            }
            try await writer.finish(nil)
        }
    }

    /// Returns a body that `read` supplies piece by piece.
    /// - Parameters:
    ///   - progress: Gets the size of each piece that was written.
    ///   - read: Returns the bytes at an offset; its second argument is the number of bytes. It may block: it runs on a serial queue.
    func body(
        range: Range<Int64>, _ progress: Progress, read: @escaping @Sendable (Int64, Int) throws -> [UInt8]
    ) -> ResponseBody {
        let queue = nextQueue
        return ResponseBody(contentLength: Int(range.count)) { writer in
            var offset = range.lowerBound
            while offset < range.upperBound {
                let position = offset
                let count = Int(min(Int64(Self.chunkBytes), range.upperBound - offset))
                let bytes = try await queue.run { try read(position, count) }
                guard bytes.count == count else { throw Truncated() }
                try await writer.write(ByteBuffer(bytes: bytes))
                progress.add(count)
                offset += Int64(count)
            }
            try await writer.finish(nil)
        }
    }

    /// Returns the compressed form of a body that `read` supplies piece by piece.
    /// - Parameters:
    ///   - progress: Gets the size of each piece, before it was compressed.
    ///   - read: Returns the bytes at an offset; its second argument is the number of bytes. It may block: it runs on a serial queue.
    func codedBody(
        range: Range<Int64>, _ progress: Progress, read: @escaping @Sendable (Int64, Int) throws -> [UInt8]
    ) -> ResponseBody {
        let queue = nextQueue
        return ResponseBody { writer in
            let stream = try GzipStream()
            var offset = range.lowerBound
            repeat {
                let position = offset
                let count = Int(min(Int64(Self.chunkBytes), range.upperBound - offset))
                let isLast = position + Int64(count) == range.upperBound
                let bytes = try await queue.run {
                    let bytes = try read(position, count)
                    guard bytes.count == count else { throw Truncated() }
                    return try bytes.withUnsafeBytes { try stream.compress($0, isLast: isLast) }
                }
                if !bytes.isEmpty { try await writer.write(ByteBuffer(bytes: bytes)) }
                progress.add(count)
                offset += Int64(count)
            } while offset < range.upperBound
            try await writer.finish(nil)
        }
    }

    private var nextQueue: SerialQueue {
        queues[(turn.wrappingAdd(1, ordering: .relaxed).oldValue & Int.max) % Self.queueCount]
    }

    struct Truncated: Error {}
}
