import CLibCurl
import Encodings

/// A URL as libcurl parses it, so that there is only one interpretation of its host.
struct TransferURL: Sendable {
    let scheme: String
    let user: String?
    let host: String
    let port: String?
    /// The path as written: percent-encoded, with the leading `/`.
    let path: String
    let query: String?

    /// The size limit of a URL in bytes. Known servers accept 8 KiB.
    static let maximumLength = 8192

    /// Parses a URL.
    /// - Throws: `invalid`. The message does not contain the URL, which may contain a password.
    init(_ text: String, operation: String) throws(TransferError) {
        func invalid(_ message: String) -> TransferError {
            TransferError(code: .invalid, operation: operation, message: message)
        }
        guard text.utf8.count <= Self.maximumLength else {
            throw invalid("the URL is longer than \(Self.maximumLength) bytes")
        }
        guard text.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7f }) else {
            throw invalid("the URL holds a space or a control character; percent-encode it")
        }
        guard let handle = curl_url() else { throw invalid("no memory to read the URL") }
        defer { curl_url_cleanup(handle) }
        let flags = UInt32(CURLU_NON_SUPPORT_SCHEME | CURLU_PATH_AS_IS)
        guard curl_url_set(handle, CURLUPART_URL, text, flags) == CURLUE_OK else {
            throw invalid("this is not a URL; write it like https://host/path/ or sftp://user@host/path/")
        }
        func part(_ part: CURLUPart) -> String? {
            var value: UnsafeMutablePointer<CChar>?
            guard curl_url_get(handle, part, &value, 0) == CURLUE_OK, let value else { return nil }
            defer { curl_free(value) }
            return String(cString: value)
        }
        scheme = part(CURLUPART_SCHEME)?.lowercased() ?? ""
        user = part(CURLUPART_USER)
        host = part(CURLUPART_HOST) ?? ""
        port = part(CURLUPART_PORT)
        path = part(CURLUPART_PATH) ?? "/"
        query = part(CURLUPART_QUERY)
    }

    /// The scheme, host and port.
    var origin: String { "\(scheme)://\(host)" + (port.map { ":\($0)" } ?? "") }

    /// The URL for messages, without user, password and query.
    var shown: String { origin + path }

    /// The percent-decoded path, for the commands of sftp and ftp; `nil` if it contains a control character.
    var decodedPath: String? {
        let decoded = PercentEncoding.decode(path)
        guard let decoded, decoded.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7f }) else { return nil }
        return decoded
    }
}
