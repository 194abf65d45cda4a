/// A transport by libcurl, with its own thread.
///
/// The following holds for every request:
///
/// - Redirects are not followed.
/// - TLS is always verified, with at least version 1.2.
/// - Proxies from the environment, netrc and curlrc are ignored.
/// - Only https, sftp, ftps, smtp with TLS and, if the request allows it, http, ftp and smtp without TLS are used.
/// - An ssh host key must be in the request's known hosts.
///
/// Releasing the transport cancels its transfers.
package final class CurlTransport: Transport {
    private let engine: CurlEngine

    /// Starts the thread of the transport.
    /// - Throws: `other` if libcurl or the thread cannot be started.
    package init() throws(TransferError) { engine = try CurlEngine() }

    deinit { engine.stop() }

    /// Performs a request; see `Transport`.
    package func perform(_ request: TransferRequest) async throws(TransferError) -> TransferResponse {
        try Self.checkCancellation(request)
        let engine = engine
        let id = engine.nextID()
        let result: Result<TransferResponse, TransferError> = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                engine.start(CurlTransfer(id: id, request: request) { continuation.resume(returning: $0) })
                // A cancellation before the start had no effect, so it is repeated.
                if Task.isCancelled { engine.cancel(id) }
            }
        } onCancel: {
            engine.cancel(id)
        }
        return try result.get()
    }

    /// Streams an answer; see `Transport`. A slow reader delays the server, so the memory does not fill.
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

    /// Throws if the task is already canceled, so that the request is never sent. A short request could succeed before its cancellation.
    private static func checkCancellation(_ request: TransferRequest) throws(TransferError) {
        guard Task.isCancelled else { return }
        throw TransferError(code: .canceled, operation: request.method.rawValue, message: "it was canceled")
    }
}

/// A carrier of requests to other machines: libcurl in the product, a stateful fake in tests.
package protocol Transport: Sendable {
    /// Performs a request and returns the answer, with any status. Redirects are not followed.
    /// - Throws: `TransferError` if there is no complete answer. Canceling the task ends the transfer as `canceled`.
    func perform(_ request: TransferRequest) async throws(TransferError) -> TransferResponse

    /// Performs an HTTP request and returns when the header fields are complete. The body is streamed as it arrives. The request's destination and
    /// response limit are ignored, because the body is not stored.
    /// - Throws: `TransferError` if there is no answer.
    func stream(_ request: TransferRequest) async throws(TransferError) -> TransferStream
}
