import CLibCurl

/// Mail: an SMTP server takes one message for one recipient, or says why not.
extension CurlTransfer {
    func configureMail(_ handle: UnsafeMutableRawPointer, _ url: TransferURL) throws(TransferError) {
        guard request.method == .mail, let envelope = request.envelope else {
            throw failure(.invalid, "an SMTP server takes mails alone, each with its envelope")
        }
        guard url.path == "/", url.query == nil, url.user == nil else {
            throw failure(.invalid, "a mail server is a host and a port, as in smtps://mail.example.com:465")
        }
        for address in [envelope.sender, envelope.recipient] where !MailEnvelope.isSafe(address) {
            throw failure(.invalid, "a mail's address is no address, or holds what could end the command")
        }
        let isPlain = url.scheme == "smtp" && request.isPlainMailAllowed
        // libcurl would begin TLS where the server offers it and go on without where not; here it is all or nothing.
        let security = isPlain ? CURLUSESSL_NONE : CURLUSESSL_ALL
        clibcurl_set_long(handle, CURLOPT_USE_SSL, Int(security.rawValue))
        // A used connection was made with other credentials, or before STARTTLS, for all that libcurl compares.
        clibcurl_set_long(handle, CURLOPT_FRESH_CONNECT, 1)
        clibcurl_set_long(handle, CURLOPT_FORBID_REUSE, 1)
        try setMailCredentials(handle, isPlain: isPlain)
        try set(handle, CURLOPT_MAIL_FROM, "<\(envelope.sender)>")
        clibcurl_set_list(handle, CURLOPT_MAIL_RCPT, try list(["<\(envelope.recipient)>"]))
        try attachSource(handle)
    }

    private func setMailCredentials(_ handle: UnsafeMutableRawPointer, isPlain: Bool) throws(TransferError) {
        switch request.credentials {
        case .password(let user?, let password):
            guard !isPlain else {
                throw failure(.credentials, "without TLS a password would be readable on the way; nothing was sent")
            }
            // Both send the password, so both need TLS; what else a server offers is not tried (CURLOPT_LOGIN_OPTIONS(3)).
            try set(handle, CURLOPT_LOGIN_OPTIONS, "AUTH=PLAIN;AUTH=LOGIN")
            try set(handle, CURLOPT_USERNAME, user)
            try set(handle, CURLOPT_PASSWORD, password)
        case nil: break
        default: throw failure(.credentials, "a mail server wants a user and a password; store `USER:PASSWORD`")
        }
    }

    /// What the server said in the end, whether it took the mail or not.
    /// - Throws: What is no answer of the server's to the mail.
    func mailAnswer(_ result: CURLcode) throws(TransferError) -> TransferResponse {
        let reply = reply ?? MailReply()
        let said = reply.words.isEmpty ? detail : "\(reply.code) \(reply.words)"
        switch result {
        case CURLE_OK: break
        case CURLE_USE_SSL_FAILED:
            throw failure(
                .schemeRefused,
                "the server offers no STARTTLS, so the mail and the password would be readable on the way; nothing was "
                    + "sent. Use smtps://, or `insecure: true` for a server of this machine")
        case CURLE_LOGIN_DENIED where reply.code / 100 != 4:
            throw failure(.credentials, "the mail server refused the user or the password: \(said)")
        case CURLE_OPERATION_TIMEDOUT, CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CONNECT_ERROR,
            CURLE_SSL_ISSUER_ERROR, CURLE_SSL_CACERT_BADFILE:
            throw error(of: result)
        default: guard reply.isRefusal else { throw error(of: result) }
        }
        return TransferResponse(status: reply.code, body: Array(reply.words.utf8))
    }
}
