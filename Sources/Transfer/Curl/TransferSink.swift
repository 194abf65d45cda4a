/// The receiver of an answer's body. Only the engine's thread uses it.
protocol TransferSink: AnyObject {
    func open(operation: String) throws(TransferError)
    /// Handles the header fields when they are complete.
    func begin(status: Int, headers: TransferHeaders)
    /// Receives bytes of the body.
    /// - Returns: `false` if the transfer must pause; the bytes are then passed again.
    func take(_ bytes: UnsafeRawBufferPointer, operation: String) throws(TransferError) -> Bool
    /// Returns the answer when the body is complete.
    func close(status: Int, headers: TransferHeaders, operation: String) throws(TransferError) -> TransferResponse
    /// Discards the body when the transfer has failed.
    func abandon()
}

extension TransferSink {
    func open(operation: String) throws(TransferError) {}
    func begin(status: Int, headers: TransferHeaders) {}
    func abandon() {}
}

extension TransferError {
    static func answerTooLarge(_ limit: Int64, operation: String) -> TransferError {
        TransferError(
            code: .tooLarge, operation: operation, message: "the answer is larger than the limit of \(limit) bytes")
    }
}

/// A sink that keeps the body in memory.
final class MemorySink: TransferSink {
    private let limit: Int64
    private var body: [UInt8] = []

    init(limit: Int64) { self.limit = limit }

    func take(_ bytes: UnsafeRawBufferPointer, operation: String) throws(TransferError) -> Bool {
        guard Int64(body.count) + Int64(bytes.count) <= limit else {
            throw .answerTooLarge(limit, operation: operation)
        }
        body.append(contentsOf: bytes)
        return true
    }

    func close(status: Int, headers: TransferHeaders, operation: String) -> TransferResponse {
        TransferResponse(status: status, headers: headers, body: body)
    }
}

/// A sink that keeps only the header fields.
final class HeadSink: TransferSink {
    private let limit: Int64
    private var size: Int64 = 0
    /// The answer; `nil` before the header fields are complete.
    private(set) var answer: TransferResponse?

    init(limit: Int64) { self.limit = limit }

    func begin(status: Int, headers: TransferHeaders) { answer = TransferResponse(status: status, headers: headers) }

    func take(_ bytes: UnsafeRawBufferPointer, operation: String) throws(TransferError) -> Bool {
        size += Int64(bytes.count)
        // Ends the transfer, which already has its answer.
        guard size <= limit else { throw .answerTooLarge(limit, operation: operation) }
        return true
    }

    func close(status: Int, headers: TransferHeaders, operation: String) -> TransferResponse {
        TransferResponse(status: status, headers: headers)
    }
}

/// A sink that passes the body to a reader as it arrives.
final class StreamSink: TransferSink {
    private let buffer: StreamBuffer

    init(buffer: StreamBuffer) { self.buffer = buffer }

    func begin(status: Int, headers: TransferHeaders) {
        buffer.begin(TransferResponse(status: status, headers: headers))
    }

    func take(_ bytes: UnsafeRawBufferPointer, operation: String) -> Bool { buffer.append(Array(bytes)) }

    func close(status: Int, headers: TransferHeaders, operation: String) -> TransferResponse {
        TransferResponse(status: status, headers: headers)
    }
}
