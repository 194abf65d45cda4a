import CLibCurl
import Glibc

/// A transfer with its easy handle, its source and its sink.
///
/// It is unchecked `Sendable` because only the engine's thread uses it after `CurlEngine.start`.
final class CurlTransfer: @unchecked Sendable {
    /// The protocol family of the URL.
    enum Kind {
        case http
        case sftp
        case ftp
        case mail
    }

    typealias Completion = @Sendable (Result<TransferResponse, TransferError>) -> Void

    let id: UInt64
    let request: TransferRequest
    /// What was tried, for messages; without user, password and query.
    private(set) var operation: String
    let handle: UnsafeMutableRawPointer?
    let sink: any TransferSink
    var source: UploadSource?
    var status = 0
    var headers = TransferHeaders()
    var headerSize = 0
    private(set) var kind = Kind.http
    /// The last answer of an SMTP server; `nil` for other protocols.
    var reply: MailReply?
    /// Returns whether the transfer is to end. Called while the transfer blocks the engine's thread.
    var isUnwanted: (() -> Bool)?
    /// The error of a callback that made libcurl end the transfer.
    var failure: TransferError?
    private var lists: [UnsafeMutablePointer<curl_slist>] = []
    private let errorText = UnsafeMutablePointer<CChar>.allocate(capacity: Int(CURL_ERROR_SIZE))
    private var completion: Completion?

    init(id: UInt64, request: TransferRequest, completion: @escaping Completion) {
        self.id = id
        self.request = request
        self.completion = completion
        operation = request.method.rawValue
        handle = curl_easy_init()
        errorText[0] = 0
        sink =
            switch request.destination {
            case .memory: MemorySink(limit: request.limits.response)
            case .file(let path): FileSink(path: path, limit: request.limits.response)
            case .digest: DigestSink(limit: request.limits.response)
            case .head: HeadSink(limit: request.limits.response)
            }
    }

    init(id: UInt64, request: TransferRequest, stream: StreamBuffer) {
        self.id = id
        self.request = request
        completion = { stream.end($0) }
        operation = request.method.rawValue
        handle = curl_easy_init()
        errorText[0] = 0
        sink = StreamSink(buffer: stream)
    }

    deinit {
        curl_easy_cleanup(handle)
        for list in lists { curl_slist_free_all(list) }
        errorText.deallocate()
    }

    /// The error of a canceled transfer.
    var canceled: TransferError { failure(.canceled, "it was canceled") }

    func failure(_ code: TransferError.Code, _ message: String, _ underlying: (any Error)? = nil) -> TransferError {
        TransferError(code: code, operation: operation, message: message, underlying: underlying)
    }

    /// Configures the handle for the request and opens the files.
    func prepare() throws(TransferError) {
        let url = try TransferURL(request.url, operation: operation)
        operation = request.method.rawValue + " " + url.shown
        guard let handle else { throw failure(.other, "no memory for the transfer") }
        kind =
            switch url.scheme {
            case "sftp": .sftp
            case "ftp", "ftps": .ftp
            case "smtp", "smtps": .mail
            default: .http
            }
        reply = kind == .mail ? MailReply() : nil
        try sink.open(operation: operation)
        clibcurl_set_pointer(handle, CURLOPT_ERRORBUFFER, errorText)
        try configure(handle, url)
    }

    /// Makes a list that lives as long as the transfer; `nil` without lines.
    func list(_ lines: [String]) throws(TransferError) -> UnsafeMutablePointer<curl_slist>? {
        var list: UnsafeMutablePointer<curl_slist>?
        for line in lines {
            guard let longer = curl_slist_append(list, line) else {
                curl_slist_free_all(list)
                throw failure(.other, "no memory for the transfer")
            }
            list = longer
        }
        if let list { lists.append(list) }
        return list
    }

    /// Ends the transfer with libcurl's result.
    func finish(_ result: CURLcode) {
        if let answer = (sink as? HeadSink)?.answer { return end(.success(answer)) }
        do throws(TransferError) {
            if let failure { throw failure }
            switch kind {
            case .sftp: status = try sftpStatus(result)
            case .ftp: status = try ftpStatus(result)
            case .mail: return end(.success(try mailAnswer(result)))
            case .http:
                guard result == CURLE_OK else { throw error(of: result) }
                var code = 0
                clibcurl_get_long(handle, CURLINFO_RESPONSE_CODE, &code)
                status = code
            }
            if kind == .sftp || kind == .ftp, request.method == .head, status == 200 { recordSize() }
            end(.success(try sink.close(status: status, headers: headers, operation: operation)))
        } catch {
            end(.failure(error))
        }
    }

    /// Sets the size of a file as `Content-Length`, as in HTTP.
    private func recordSize() {
        var size: curl_off_t = -1
        clibcurl_get_offset(handle, clibcurl_content_length(), &size)
        if size >= 0 { headers["Content-Length"] = String(size) }
    }

    /// Reports the end. Only the first call has an effect.
    func end(_ result: Result<TransferResponse, TransferError>) {
        if case .failure = result { sink.abandon() }
        source = nil
        completion?(result)
        completion = nil
    }

    /// libcurl's message about the error; empty if there is none.
    var detail: String { String(cString: errorText) }
}
