import Synchronization

/// What lies between libcurl's thread and the reader of one streamed answer: at most `limit` bytes and one chunk.
final class StreamBuffer: Sendable {
    typealias Head = CheckedContinuation<Result<TransferResponse, TransferError>, Never>
    typealias Chunk = CheckedContinuation<Result<[UInt8]?, TransferError>, Never>

    /// Bytes that wait here before the server is held up. 256 KiB: sixteen of libcurl's 16 KiB chunks.
    static let limit = 256 << 10

    private struct State {
        var head: Head?
        var hasHead = false
        var chunks: [[UInt8]] = []
        var size = 0
        var isPaused = false
        var end: Result<[UInt8]?, TransferError>?
        var waiting: Chunk?
    }

    private let state = Mutex(State())

    func expectHead(_ continuation: Head) { state.withLock { $0.head = continuation } }

    // MARK: libcurl's thread

    /// The header fields are complete.
    func begin(_ answer: TransferResponse) {
        let head = state.withLock { state in
            defer { state.head = nil }
            state.hasHead = true
            return state.head
        }
        head?.resume(returning: .success(answer))
    }

    /// Takes a chunk; false when the transfer has to pause, then the chunk comes again.
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

    /// The transfer ended. What waits can still be read.
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

    /// The next chunk if it is here, and whether the transfer was paused and may go on.
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
