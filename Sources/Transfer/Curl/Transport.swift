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
