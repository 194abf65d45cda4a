import CLibCurl
import Glibc

/// sftp: the meaning of the methods, and the statuses for results of libcurl.
extension CurlTransfer {
    func configureSSH(_ handle: UnsafeMutableRawPointer, _ url: TransferURL) throws(TransferError) {
        // Without known hosts libcurl would accept any host key (CURLOPT_SSH_KNOWNHOSTS(3)).
        guard let knownHosts = request.knownHosts else {
            throw failure(
                .hostKey,
                "no known_hosts file is named; write the server's ed25519 key into one (ssh-keyscan -t ed25519 HOST)")
        }
        guard access(knownHosts, R_OK) == 0 else {
            throw failure(
                .hostKey, "the known_hosts file \(knownHosts) cannot be read: " + String(cString: strerror(errno)))
        }
        try set(handle, CURLOPT_SSH_KNOWNHOSTS, knownHosts)
        // libcurl compares neither keys nor known hosts when it reuses an ssh connection (CVE-2023-27538 was such a mistake). Every request therefore
        // makes its own connection.
        clibcurl_set_long(handle, CURLOPT_FRESH_CONNECT, 1)
        clibcurl_set_long(handle, CURLOPT_FORBID_REUSE, 1)
        try setSSHCredentials(handle, url)
        guard let path = url.decodedPath else { throw failure(.invalid, "the path holds a control character") }
        switch request.method {
        case .get: break
        // libcurl opens the file and gets its size, but does not read it.
        case .head: clibcurl_set_long(handle, CURLOPT_NOBODY, 1)
        case .put:
            try attachSource(handle)
            clibcurl_set_long(handle, CURLOPT_FTP_CREATE_MISSING_DIRS, 1)
            // libcurl then opens the file without truncating it and writes at that offset. If an earlier connection still writes, it writes the same
            // bytes at the same places.
            if request.resumeOffset > 0 {
                clibcurl_set_offset(handle, CURLOPT_RESUME_FROM_LARGE, curl_off_t(request.resumeOffset))
            }
        case .move:
            guard let target = request.target else { throw failure(.invalid, "a move needs a target") }
            let there = try TransferURL(target, operation: operation)
            guard there.origin == url.origin, let targetPath = there.decodedPath else {
                throw failure(.invalid, "a move's target is on another server, or holds a control character")
            }
            try command(handle, url, "rename \(quoted(path)) \(quoted(targetPath))")
        case .delete: try command(handle, url, "rm \(quoted(path))")
        case .post, .patch, .makeCollection, .mail:
            throw failure(.invalid, "\(request.method.rawValue) is not a method of sftp")
        }
    }

    private func setSSHCredentials(_ handle: UnsafeMutableRawPointer, _ url: TransferURL) throws(TransferError) {
        switch request.credentials {
        case .privateKey(let user, let path, let passphrase):
            guard access(path, R_OK) == 0 else {
                throw failure(
                    .credentials, "the private key file cannot be read: " + String(cString: strerror(errno)))
            }
            clibcurl_set_long(handle, CURLOPT_SSH_AUTH_TYPES, clibcurl_ssh_auth_public_key())
            try set(handle, CURLOPT_USERNAME, user ?? url.user ?? "")
            try set(handle, CURLOPT_SSH_PRIVATE_KEYFILE, path)
            if let passphrase { try set(handle, CURLOPT_KEYPASSWD, passphrase) }
        case .password(let user, let password):
            clibcurl_set_long(handle, CURLOPT_SSH_AUTH_TYPES, clibcurl_ssh_auth_password())
            try set(handle, CURLOPT_USERNAME, user ?? url.user ?? "")
            try set(handle, CURLOPT_PASSWORD, password)
        case .bearer: throw failure(.credentials, "a token is of no use for sftp; name an ed25519 private key")
        case nil: throw failure(.credentials, "sftp needs credentials; name an ed25519 private key")
        }
    }

    /// Sends one command without a transfer. For a path that ends in `/` and without a body, libcurl runs the command and stops (lib/vssh/libssh2.c,
    /// SSH_SFTP_READDIR_INIT).
    private func command(_ handle: UnsafeMutableRawPointer, _ url: TransferURL, _ line: String) throws(TransferError) {
        clibcurl_set_list(handle, CURLOPT_QUOTE, try list([line]))
        try set(handle, CURLOPT_URL, url.origin + "/")
        clibcurl_set_long(handle, CURLOPT_NOBODY, 1)
    }

    /// Quotes a path for `Curl_get_pathname` of libcurl. Unlike in a URL, that does not interpret `/~/` in quotes. A path without a root is relative
    /// to the home directory (draft-ietf-secsh-filexfer-02, section 6.2).
    private func quoted(_ path: String) -> String {
        var text = "\""
        for character in path.hasPrefix("/~/") ? path.dropFirst(3) : path[...] {
            if character == "\"" || character == "\\" { text += "\\" }
            text.append(character)
        }
        return text + "\""
    }

    /// Converts a result into the HTTP status of the same outcome.
    /// - Throws: `TransferError` if the result is not an answer of the server.
    func sftpStatus(_ result: CURLcode) throws(TransferError) -> Int {
        let detail = detail.lowercased()
        switch result {
        case CURLE_OK:
            return switch request.method {
            case .put, .move: 201
            case .delete: 204
            default: 200
            }
        case CURLE_REMOTE_FILE_NOT_FOUND: return 404
        case CURLE_REMOTE_FILE_EXISTS: return 412
        case CURLE_REMOTE_DISK_FULL: return 507
        case CURLE_QUOTE_ERROR where detail.contains("no such file") || detail.contains("not found"): return 404
        case CURLE_QUOTE_ERROR where detail.contains("permission denied"):
            throw failure(.denied, "the server denies it: \(self.detail)")
        // libcurl's messages for an error number that no server sent: the connection broke (lib/vssh/libssh2.c, sftp_libssh2_strerror).
        case CURLE_QUOTE_ERROR where detail.contains("unknown error in libssh2") || detail.contains("sftp server lost"):
            throw failure(.interrupted, "the connection broke: \(self.detail)")
        // SFTP version 3 has no code for an existing file. OpenSSH answers SSH_FX_FAILURE to a rename over an existing file.
        case CURLE_QUOTE_ERROR where request.method == .move: return 412
        default: throw error(of: result)
        }
    }
}
