import CLibCurl
import CLibGit2

/// Why a request over http came to nothing.
struct HTTPFailure: Error {
    /// Nothing: somebody has said it already.
    let code: SourceControlError.Code?
    /// For people, without secrets; nothing: libgit2 has it as its last error.
    let said: String?
    /// What libgit2 is given.
    let result: Int32

    init(_ code: SourceControlError.Code?, _ said: String, result: Int32 = -1) {
        (self.code, self.said, self.result) = (code, said, result)
    }

    /// - Parameter result: Of a call of libgit2 that has left its last error.
    init(ofLibGit2 result: Int32) {
        (code, said, self.result) = (nil, nil, result)
    }

    /// - Parameters:
    ///   - result: Of a transfer that is over.
    ///   - detail: What libcurl wrote of it.
    init(of result: CURLcode, _ detail: String) {
        let said = detail.isEmpty ? String(cString: curl_easy_strerror(result)) : detail
        switch result {
        case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_ISSUER_ERROR: self.init(.serverUntrusted, said)
        case CURLE_SSL_CONNECT_ERROR:
            // OpenSSL's own reason begins like this: no common version or cipher. Without it the connection broke.
            self.init(said.contains("error:") ? .serverUntrusted : .unreachable, said)
        case CURLE_SSL_CACERT_BADFILE: self.init(.file, "\(said), which SSL_CERT_FILE names")
        // What libcurl says of a field above its 100 KiB too.
        case CURLE_OUT_OF_MEMORY: self.init(.unreachable, "memory is short, or a line of the server's answer too long")
        default: self.init(.unreachable, said)
        }
    }

    /// Makes it libgit2's last error. - Returns: For libgit2.
    func set() -> Int32 {
        if let said { git_error_set_str(Int32(GIT_ERROR_HTTP.rawValue), said) }
        return result
    }
}
