import CLibCurl
import CLibGit2

/// The reason why a request over http failed.
struct HTTPFailure: Error {
    /// The kind of error; `nil` if the failure is already reported.
    let code: SourceControlError.Code?
    /// A sentence for users, without secrets; `nil` if it is libgit2's last error.
    let said: String?
    /// The result that is returned to libgit2.
    let result: Int32
    /// The pause that the server asked for; `nil` if it asked for none.
    let retryAfter: Duration?

    init(_ code: SourceControlError.Code?, _ said: String, result: Int32 = -1, retryAfter: Duration? = nil) {
        (self.code, self.said, self.result, self.retryAfter) = (code, said, result, retryAfter)
    }

    /// - Parameter result: The result of a call of libgit2 that has set its last error.
    init(ofLibGit2 result: Int32) {
        (code, said, self.result, retryAfter) = (nil, nil, result, nil)
    }

    /// - Parameters:
    ///   - result: The result of a transfer that has ended.
    ///   - detail: libcurl's message about it.
    init(of result: CURLcode, _ detail: String) {
        let said = detail.isEmpty ? String(cString: curl_easy_strerror(result)) : detail
        switch result {
        case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_ISSUER_ERROR: self.init(.serverUntrusted, said)
        case CURLE_SSL_CONNECT_ERROR:
            // OpenSSL's own reason begins like this, such as no common version or cipher. Without it the connection broke.
            let isOfTLS = said.contains("error:")
            self.init(
                isOfTLS ? .serverUntrusted : .unreachable,
                isOfTLS ? said : "the connection broke while TLS began (\(said))")
        case CURLE_SSL_CACERT_BADFILE:
            self.init(.file, "\(said), which SSL_CERT_FILE, SSL_CERT_DIR or `certificates` of the settings names")
        // libcurl also reports this for a field larger than 100 KiB.
        case CURLE_OUT_OF_MEMORY: self.init(.unreachable, "memory is short, or a line of the server's answer too long")
        default: self.init(.unreachable, "\(Self.sentence(result)) (\(said))")
        }
    }

    private static func sentence(_ result: CURLcode) -> String {
        switch result {
        case CURLE_COULDNT_RESOLVE_HOST: "DNS has no address for the host"
        case CURLE_COULDNT_RESOLVE_PROXY: "DNS has no address for the proxy"
        case CURLE_COULDNT_CONNECT: "nothing listens there"
        case CURLE_OPERATION_TIMEDOUT: "there was no answer in time"
        case CURLE_GOT_NOTHING: "the server closed the connection without an answer"
        case CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_PARTIAL_FILE: "the connection broke"
        case CURLE_WEIRD_SERVER_REPLY, CURLE_UNSUPPORTED_PROTOCOL: "the server there does not speak HTTP"
        case CURLE_HTTP2, CURLE_HTTP2_STREAM: "the server ended the HTTP/2 connection"
        case CURLE_PROXY: "the proxy refused the connection"
        default: "the transfer failed"
        }
    }

    /// Makes it libgit2's last error. - Returns: The result for libgit2.
    func set() -> Int32 {
        if let said { git_error_set_str(Int32(GIT_ERROR_HTTP.rawValue), said) }
        return result
    }
}
