/// What carries requests to other machines: libcurl in the product, a stateful fake in tests.
package protocol Transport: Sendable {
    /// Carries one request and returns the answer, whatever its status. Redirects are not followed.
    /// - Throws: `TransferError` when there is no whole answer. Canceling the task ends the transfer as `canceled`.
    func perform(_ request: TransferRequest) async throws(TransferError) -> TransferResponse

    /// Carries one HTTP request and returns when the header fields are here; the body follows as it comes. The request's
    /// destination and response limit are ignored: nothing is kept.
    /// - Throws: `TransferError` when there is no answer.
    func stream(_ request: TransferRequest) async throws(TransferError) -> TransferStream
}
