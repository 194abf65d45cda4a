import Synchronization

/// A buffer between libcurl's thread and the reader of a streamed answer. It holds at most `limit` bytes and one chunk.
final class StreamBuffer: Sendable {
    typealias Head = CheckedContinuation<Result<TransferResponse, TransferError>, Never>
    typealias Chunk = CheckedContinuation<Result<[UInt8]?, TransferError>, Never>

    /// The number of bytes that are buffered before the transfer is paused. 256 KiB are sixteen of libcurl's 16 KiB
    /// chunks.
    static let limit = 256 << 10

    private struct State {
        var head: Head?
        var chunks: [[UInt8]] = []
        var size = 0
        var isPaused = false
        var end: Result<[UInt8]?, TransferError>?
        var waiting: Chunk?
    }

    private let state = Mutex(State())

    func expectHead(_ continuation: Head) { state.withLock { $0.head = continuation } }

    // MARK: libcurl's thread

    /// Reports that the header fields are complete.
    func begin(_ answer: TransferResponse) {
        let head = state.withLock { state in
            defer { state.head = nil }
            return state.head
        }
        head?.resume(returning: .success(answer))
    }

    /// Adds a chunk.
    /// - Returns: `false` if the transfer must pause; libcurl then passes the chunk again.
    func append(_ chunk: [UInt8]) -> Bool {
        let (isTaken, waiting): (Bool, Chunk?) = state.withLock { state in
            if let waiting = state.waiting {
                state.waiting = nil
                return (true, waiting)
            }
            guard state.size < Self.limit else {
                state.isPaused = true
                return (false, nil)
            }
            state.chunks.append(chunk)
            state.size += chunk.count
            return (true, nil)
        }
        waiting?.resume(returning: .success(chunk))
        return isTaken
    }

    /// Reports the end of the transfer. Buffered chunks can still be read.
    func end(_ result: Result<TransferResponse, TransferError>) {
        let (head, waiting, end) = state.withLock { state in
            let end: Result<[UInt8]?, TransferError> =
                switch result {
                case .success: .success(nil)
                case .failure(let error): .failure(error)
                }
            state.end = end
            defer { (state.head, state.waiting) = (nil, nil) }
            return (state.head, state.waiting, end)
        }
        head?.resume(returning: result)
        waiting?.resume(returning: end)
    }

    // MARK: The reader

    /// Resumes the continuation with the next chunk, or keeps it until there is one.
    /// - Returns: Whether the transfer was paused and can be resumed.
    func take(orWait continuation: Chunk) -> Bool {
        let (ready, isResumable): (Result<[UInt8]?, TransferError>?, Bool) = state.withLock { state in
            if !state.chunks.isEmpty {
                let chunk = state.chunks.removeFirst()
                state.size -= chunk.count
                return (.success(chunk), unpause(&state))
            }
            if let end = state.end { return (end, false) }
            state.waiting = continuation
            return (nil, unpause(&state))
        }
        if let ready { continuation.resume(returning: ready) }
        return isResumable
    }

    private func unpause(_ state: inout State) -> Bool {
        guard state.isPaused, state.size <= Self.limit / 2 else { return false }
        state.isPaused = false
        return true
    }
}

/// The reader's end of a streamed answer. Releasing it cancels the transfer.
final class StreamReader: Sendable {
    let buffer = StreamBuffer()
    private let engine: CurlEngine
    private let id: UInt64

    init(engine: CurlEngine, id: UInt64) {
        self.engine = engine
        self.id = id
    }

    deinit { engine.cancel(id) }

    func expectHead(_ continuation: StreamBuffer.Head) { buffer.expectHead(continuation) }

    /// Returns the next chunk; `nil` at the end. Canceling the task ends the transfer.
    func next() async throws(TransferError) -> [UInt8]? {
        let result: Result<[UInt8]?, TransferError> = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                if buffer.take(orWait: continuation) { engine.resume(id) }
            }
        } onCancel: {
            engine.cancel(id)
        }
        return try result.get()
    }
}
