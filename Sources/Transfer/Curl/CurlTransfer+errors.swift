import CLibCurl

extension CurlTransfer {
    /// Converts a result of libcurl into an error that states what happened and what to do.
    func error(of result: CURLcode) -> TransferError {
        let said = detail.isEmpty ? String(cString: curl_easy_strerror(result)) : detail
        switch result {
        case CURLE_OPERATION_TIMEDOUT: return failure(.timedOut, "there was no answer in time (\(said))")
        case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY:
            return failure(.unreachable, "DNS has no address for the host (\(said))")
        case CURLE_COULDNT_CONNECT: return failure(.unreachable, "nothing listens there (\(said))")
        case CURLE_PEER_FAILED_VERIFICATION where kind == .sftp:
            return failure(
                .hostKey,
                "the server's host key is missing in, or differs from, the known_hosts file; compare it with its "
                    + "administrator and write the ed25519 line into the file (ssh-keyscan -t ed25519 HOST)")
        case CURLE_FAILED_INIT where kind == .sftp && isBrokenHandshake,
            CURLE_SSH where kind == .sftp && isBrokenHandshake, CURLE_SSL_CONNECT_ERROR where isBrokenHandshake:
            return failure(.interrupted, "the connection broke before it was ready: \(said)")
        case CURLE_FAILED_INIT where kind == .sftp, CURLE_SSH where kind == .sftp && detail.contains("session"):
            return failure(
                .hostKey,
                "no ssh session (\(said)); does the known_hosts file hold an RSA line for the server? Keep the ed25519 one"
            )
        case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_ISSUER_ERROR, CURLE_SSL_PINNEDPUBKEYNOTMATCH:
            return failure(.certificate, "the server's certificate is not trusted: \(said)")
        case CURLE_SSL_CONNECT_ERROR: return failure(.certificate, "no TLS session: \(said)")
        case CURLE_SSL_CACERT_BADFILE:
            return failure(
                .certificate,
                "the trusted certificates cannot be used: \(said); correct `certificates` of the settings, SSL_CERT_FILE or SSL_CERT_DIR"
            )
        case CURLE_LOGIN_DENIED:
            return failure(
                .credentials,
                kind == .sftp
                    ? "the server refused the user or the key (an RSA key is always refused here: use ed25519)"
                    : "the server refused the user or the password")
        case CURLE_REMOTE_ACCESS_DENIED: return failure(.denied, "the server denies it: \(said)")
        case CURLE_UNSUPPORTED_PROTOCOL:
            return failure(.schemeRefused, "this kind of address is not used here (\(said))")
        case CURLE_URL_MALFORMAT: return failure(.invalid, "this is not an address (\(said))")
        case CURLE_REMOTE_FILE_NOT_FOUND: return failure(.notFound, "there is no file at this address (\(said))")
        case CURLE_GOT_NOTHING, CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_PARTIAL_FILE, CURLE_HTTP2, CURLE_HTTP2_STREAM:
            return failure(.interrupted, "the connection broke (\(said))")
        // The results for a broken connection from libssh2 and from an ftp server.
        case CURLE_SSH, CURLE_WEIRD_SERVER_REPLY, CURLE_FTP_WEIRD_PASV_REPLY, CURLE_FTP_CANT_GET_HOST:
            return failure(.interrupted, "the connection broke (\(said))")
        case CURLE_USE_SSL_FAILED: return failure(.certificate, "the server offers no TLS: \(said)")
        case CURLE_UPLOAD_FAILED:
            return failure(
                said.lowercased().contains("permission") ? .denied : .other, "the server did not take it: \(said)")
        default: return failure(.other, "the transfer failed: \(said) (libcurl \(result.rawValue))")
        }
    }

    /// Whether an error at the start of TLS or ssh means a broken connection, which another try may avoid. The server may be restarting behind a
    /// balancer, or have too many concurrent connection attempts (MaxStartups of sshd).
    private var isBrokenHandshake: Bool {
        let said = detail.lowercased()
        // Errors of libssh2 (libssh2.h): the socket is closed, or failed to send or receive; no banner; a timeout.
        let broken = [-1, -2, -3, -7, -9, -13, -43].contains { said.contains("establishing ssh session: \($0),") }
        return broken || said.contains("initializing sftp session")
            || ["ssl_error_syscall", "connection reset", "unexpected eof", "broken pipe"].contains { said.contains($0) }
    }
}
