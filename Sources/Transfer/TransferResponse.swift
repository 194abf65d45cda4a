/// A server's answer, whatever its status.
package struct TransferResponse: Sendable, Hashable {
    /// The HTTP status; for sftp the one of the same outcome.
    package let status: Int
    package let headers: TransferHeaders
    /// The body for the destination `memory`, and for `file` where the status is not 2xx; else empty.
    package let body: [UInt8]
    /// The body's size in bytes, wherever it went.
    package let size: Int64
    /// The body's SHA-256 in hexadecimal for the destinations `file` (of a 2xx) and `digest`, else nothing.
    package let sha256: String?

    package init(
        status: Int, headers: TransferHeaders = [:], body: [UInt8] = [], size: Int64? = nil, sha256: String? = nil
    ) {
        self.status = status
        self.headers = headers
        self.body = body
        self.size = size ?? Int64(body.count)
        self.sha256 = sha256
    }

    /// Whether the status is 2xx.
    package var isSuccess: Bool { (200..<300).contains(status) }
}

/// An answer whose body is read as it comes.
package struct TransferStream: Sendable {
    package let status: Int
    package let headers: TransferHeaders
    /// Chunks of the body in order. The server is held up while nobody reads (at most 256 KiB wait here). Dropping it, or
    /// canceling the reading task, ends the transfer. Ends by throwing a `TransferError` when the transfer fails.
    package let body: AsyncThrowingStream<[UInt8], any Error>

    package init(status: Int, headers: TransferHeaders, body: AsyncThrowingStream<[UInt8], any Error>) {
        self.status = status
        self.headers = headers
        self.body = body
    }
}
