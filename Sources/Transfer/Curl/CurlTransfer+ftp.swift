import CLibCurl
import Encodings
import Glibc

/// ftp, with TLS unless the request allows to go without: the meaning of the methods (RFC 959, 3659, 4217).
extension CurlTransfer {
    func configureFTP(_ handle: UnsafeMutableRawPointer, _ url: TransferURL) throws(TransferError) {
        // In libcurl, the scheme ftps means TLS from the first byte, used on port 990. On other ports, AUTH TLS starts TLS.
        let scheme = url.scheme == "ftps" && url.port == "990" ? "ftps" : "ftp"
        try set(handle, CURLOPT_PROTOCOLS_STR, scheme)
        if url.scheme == "ftps" {
            // TLS is required for the control and the data connection. By default libcurl would go on without TLS if the server does not offer it.
            clibcurl_set_long(handle, CURLOPT_USE_SSL, Int(CURLUSESSL_ALL.rawValue))
            // With TLS 1.3 a server sends tickets after the handshake (RFC 8446, section 4.6.1). Closing the data connection before they arrive
            // resets it, and the server considers the file broken off (426). That happened with vsftpd 3.0.3 for most small files.
            clibcurl_set_long(
                handle, CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2) | Int(CURL_SSLVERSION_MAX_TLSv1_2))
        }
        // Connections are not reused, because they may have been made with other credentials, as with ssh.
        clibcurl_set_long(handle, CURLOPT_FRESH_CONNECT, 1)
        clibcurl_set_long(handle, CURLOPT_FORBID_REUSE, 1)
        // The data connection goes to the server's own address, regardless of the address that it states (the default since 7.74).
        clibcurl_set_long(handle, CURLOPT_FTP_SKIP_PASV_IP, 1)
        try setFTPCredentials(handle, url)
        let path = try ftpPath(url)
        let place = FTPPlace(scheme: scheme, url: url)
        try set(handle, CURLOPT_URL, place.url(path))
        switch request.method {
        case .get, .head:
            // RETR and SIZE use the whole path, so that 550 means the file rather than its directory.
            clibcurl_set_long(handle, CURLOPT_FTP_FILEMETHOD, Int(CURLFTPMETHOD_NOCWD.rawValue))
            if request.method == .head { clibcurl_set_long(handle, CURLOPT_NOBODY, 1) }
        case .put:
            try attachSource(handle, skipping: request.resumeOffset)
            clibcurl_set_long(handle, CURLOPT_FTP_CREATE_MISSING_DIRS, Int(CURLFTP_CREATE_DIR.rawValue))
            // REST and STOR write at that offset. libcurl itself would use APPE, which writes at the end, and an earlier connection may still move
            // the end.
            if request.resumeOffset > 0 {
                clibcurl_set_list(handle, CURLOPT_PREQUOTE, try list(["REST \(request.resumeOffset)"]))
            }
        case .move:
            guard let target = request.target else { throw failure(.invalid, "a move needs a target") }
            let there = try TransferURL(target, operation: operation)
            guard there.origin == url.origin else { throw failure(.invalid, "a move's target is on another server") }
            try commands(handle, place, ["RNFR \(path)", "RNTO \(try ftpPath(there))"])
        case .delete: try commands(handle, place, ["DELE \(path)"])
        case .post, .patch, .makeCollection, .mail:
            throw failure(.invalid, "\(request.method.rawValue) is not a method of ftp")
        }
    }

    /// Returns a path relative to the user's directory at the server. Control characters are refused, because they could end a command.
    private func ftpPath(_ url: TransferURL) throws(TransferError) -> String {
        guard let path = url.decodedPath else { throw failure(.invalid, "the path holds a control character") }
        return String(path.drop { $0 == "/" })
    }

    private func setFTPCredentials(_ handle: UnsafeMutableRawPointer, _ url: TransferURL) throws(TransferError) {
        switch request.credentials {
        case .password(let user, let password):
            guard !(user ?? "").utf8.contains(where: { $0 < 0x20 }), !password.utf8.contains(where: { $0 < 0x20 })
            else { throw failure(.credentials, "the user or the password holds a control character; store it anew") }
            try set(handle, CURLOPT_USERNAME, user ?? url.user ?? "")
            try set(handle, CURLOPT_PASSWORD, password)
        case .bearer, .privateKey:
            throw failure(.credentials, "ftp knows passwords alone; store USER:PASSWORD as the secret")
        case nil: break
        }
    }

    /// Sends commands without a transfer.
    private func commands(
        _ handle: UnsafeMutableRawPointer, _ place: FTPPlace, _ lines: [String]
    ) throws(TransferError) {
        clibcurl_set_list(handle, CURLOPT_QUOTE, try list(lines))
        try set(handle, CURLOPT_URL, place.url(""))
        clibcurl_set_long(handle, CURLOPT_NOBODY, 1)
    }

    /// Converts a result into the HTTP status of the same outcome.
    /// - Throws: `TransferError` if the result is not an answer of the server.
    func ftpStatus(_ result: CURLcode) throws(TransferError) -> Int {
        var code = 0
        clibcurl_get_long(handle, CURLINFO_RESPONSE_CODE, &code)
        if result == CURLE_OK {
            return switch request.method {
            case .put, .move: 201
            case .delete: 204
            default: 200
            }
        }
        switch (result, code) {
        // RFC 959 has one code for a missing file and a denied access. For a write or a rename it means that access is denied.
        case (CURLE_REMOTE_FILE_NOT_FOUND, _), (CURLE_FTP_COULDNT_RETR_FILE, 550): return 404
        case (CURLE_QUOTE_ERROR, 550) where request.method == .delete: return 404
        case (CURLE_REMOTE_DISK_FULL, _), (_, 452), (_, 552): return 507
        case (_, 421), (_, 425), (_, 426), (_, 450), (_, 451):
            throw TransferError(
                code: .interrupted, operation: operation, message: "the server ended the transfer: \(detail)",
                status: code)
        case (CURLE_QUOTE_ERROR, _), (CURLE_UPLOAD_FAILED, 532...), (CURLE_REMOTE_ACCESS_DENIED, _):
            throw failure(.denied, "the server denies it: \(detail)")
        case (CURLE_UPLOAD_FAILED, _): throw failure(.interrupted, "the server did not take it: \(detail)")
        default: throw error(of: result)
        }
    }
}

/// The base of a server's URLs, without user and password.
private struct FTPPlace {
    let origin: String

    init(scheme: String, url: TransferURL) {
        origin = "\(scheme)://\(url.host)" + (url.port.map { ":\($0)" } ?? "")
    }

    /// Returns the URL of a path.
    /// - Parameter path: The decoded, relative path. It is encoded here, because libcurl interprets `;type=` in a URL.
    func url(_ path: String) -> String {
        origin + "/"
            + path.split(separator: "/", omittingEmptySubsequences: true).map { PercentEncoding.encode(String($0)) }
            .joined(separator: "/")
    }
}
