/// Carries requests with libcurl on one thread of its own.
///
/// Holds for every request: redirects are not followed; TLS is always verified, 1.2 at least; proxies from the
/// environment, netrc and curlrc are ignored; nothing but https, sftp, smtp with TLS and, where the request says so, http is spoken; an ssh
/// host key must be in the request's known hosts. Dropping the transport cancels what is under way.
package final class CurlTransport: Transport {
    private let engine: CurlEngine

    /// Starts the thread.
    /// - Throws: `other` when libcurl or the thread cannot be started.
    package init() throws(TransferError) { engine = try CurlEngine() }

    deinit { engine.stop() }

    /// See `Transport`.
    package func perform(_ request: TransferRequest) async throws(TransferError) -> TransferResponse {
        try Self.checkCancellation(request)
        let engine = engine
        let id = engine.nextID()
        let result: Result<TransferResponse, TransferError> = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                engine.start(CurlTransfer(id: id, request: request) { continuation.resume(returning: $0) })
                // A cancellation from before the start found nothing to cancel.
                if Task.isCancelled { engine.cancel(id) }
            }
        } onCancel: {
            engine.cancel(id)
        }
        return try result.get()
    }

    /// See `Transport`. A reader that is slow holds the server up instead of filling memory.
    package func stream(_ request: TransferRequest) async throws(TransferError) -> TransferStream {
        try Self.checkCancellation(request)
        let engine = engine
        let id = engine.nextID()
        let reader = StreamReader(engine: engine, id: id)
        let head: Result<TransferResponse, TransferError> = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                reader.expectHead(continuation)
                engine.start(CurlTransfer(id: id, request: request, stream: reader.buffer))
                if Task.isCancelled { engine.cancel(id) }
            }
        } onCancel: {
            engine.cancel(id)
        }
        let answer = try head.get()
        return TransferStream(
            status: answer.status, headers: answer.headers,
            body: AsyncThrowingStream(unfolding: { try await reader.next() }))
    }

    /// A task that is canceled already sends nothing at all: started and canceled, a short request could be through.
    private static func checkCancellation(_ request: TransferRequest) throws(TransferError) {
        guard Task.isCancelled else { return }
        throw TransferError(code: .canceled, operation: request.method.rawValue, message: "it was canceled")
    }
}
