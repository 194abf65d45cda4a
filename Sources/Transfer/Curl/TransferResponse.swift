/// The answer of a server, with any status.
package struct TransferResponse: Sendable, Hashable {
    /// The HTTP status; for sftp and ftp that of the same outcome, and for mail the server's code.
    package let status: Int
    package let headers: TransferHeaders
    /// The body for the destination `memory`, and for `file` if the status is not 2xx; otherwise empty.
    package let body: [UInt8]
    /// The body's size in bytes, for every destination.
    package let size: Int64
    /// The body's SHA-256 in hexadecimal for the destinations `file` (with status 2xx) and `digest`; otherwise `nil`.
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

/// An answer whose body is read while it arrives.
package struct TransferStream: Sendable {
    package let status: Int
    package let headers: TransferHeaders
    /// The chunks of the body in order. The transfer pauses while they are not read; at most 256 KiB are buffered. Releasing the stream, or canceling
    /// the reading task, ends the transfer. If the transfer fails, the stream throws a `TransferError`.
    package let body: AsyncThrowingStream<[UInt8], any Error>

    package init(status: Int, headers: TransferHeaders, body: AsyncThrowingStream<[UInt8], any Error>) {
        self.status = status
        self.headers = headers
        self.body = body
    }
}
