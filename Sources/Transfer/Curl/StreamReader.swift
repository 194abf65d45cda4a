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
