import CLibCurl

/// Mail: an SMTP server accepts one message for one recipient, or refuses it.
extension CurlTransfer {
    func configureMail(_ handle: UnsafeMutableRawPointer, _ url: TransferURL) throws(TransferError) {
        guard request.method == .head || request.method == .mail && request.envelope != nil else {
            throw failure(.invalid, "an SMTP server takes mails alone, each with its envelope")
        }
        guard url.path == "/", url.query == nil, url.user == nil else {
            throw failure(.invalid, "a mail server is a host and a port, as in smtps://mail.example.com:465")
        }
        let addresses = request.envelope.map { [$0.sender, $0.recipient] } ?? []
        for address in addresses where !MailEnvelope.isSafe(address) {
            throw failure(.invalid, "a mail address is invalid, or it contains characters that could end the command")
        }
        let isPlain = url.scheme == "smtp" && request.isPlainMailAllowed
        // TLS is required. By default libcurl would use STARTTLS if the server offers it, and go on without it otherwise.
        let security = isPlain ? CURLUSESSL_NONE : CURLUSESSL_ALL
        clibcurl_set_long(handle, CURLOPT_USE_SSL, Int(security.rawValue))
        // Connections are not reused: libcurl does not compare whether they were made with other credentials or before STARTTLS.
        clibcurl_set_long(handle, CURLOPT_FRESH_CONNECT, 1)
        clibcurl_set_long(handle, CURLOPT_FORBID_REUSE, 1)
        // The limit for each answer. libcurl's default is two minutes.
        if let stall = request.limits.stall {
            clibcurl_set_long(handle, CURLOPT_SERVER_RESPONSE_TIMEOUT, max(1, Int(clamping: stall.components.seconds)))
        }
        watchMail(handle)
        try setMailCredentials(handle, isPlain: isPlain)
        guard request.method == .mail, let envelope = request.envelope else {
            // Without a recipient libcurl sends this command (CURLOPT_CUSTOMREQUEST(3)).
            clibcurl_set_long(handle, CURLOPT_NOBODY, 1)
            return try set(handle, CURLOPT_CUSTOMREQUEST, "NOOP")
        }
        try set(handle, CURLOPT_MAIL_FROM, "<\(envelope.sender)>")
        clibcurl_set_list(handle, CURLOPT_MAIL_RCPT, try list(["<\(envelope.recipient)>"]))
        try attachSource(handle)
    }

    /// Follows the dialogue, to know which command an answer belongs to, and ends the transfer when it is canceled. libcurl waits for
    /// the answers to the mail and to QUIT within one call (7.88, `smtp_done`). During it only the progress callback runs, once a second.
    private func watchMail(_ handle: UnsafeMutableRawPointer) {
        let context = Unmanaged.passUnretained(self).toOpaque()
        clibcurl_set_debug_callback(handle) { _, kind, data, size, context in
            guard kind == CURLINFO_HEADER_OUT, let data, let context else { return 0 }
            let line = UnsafeRawBufferPointer(start: data, count: size)
            Unmanaged<CurlTransfer>.fromOpaque(context).takeUnretainedValue().reply?.sent(line)
            return 0
        }
        clibcurl_set_pointer(handle, CURLOPT_DEBUGDATA, context)
        clibcurl_set_long(handle, CURLOPT_VERBOSE, 1)
        clibcurl_set_progress_callback(handle) { context, _, _, _, _ in
            guard let context else { return 0 }
            let transfer = Unmanaged<CurlTransfer>.fromOpaque(context).takeUnretainedValue()
            return transfer.isUnwanted?() == true ? 1 : 0
        }
        clibcurl_set_pointer(handle, CURLOPT_XFERINFODATA, context)
        clibcurl_set_long(handle, CURLOPT_NOPROGRESS, 0)
    }

    private func setMailCredentials(_ handle: UnsafeMutableRawPointer, isPlain: Bool) throws(TransferError) {
        switch request.credentials {
        case .password(let user?, let password):
            guard !isPlain else {
                throw failure(.credentials, "without TLS a password would be readable on the way; nothing was sent")
            }
            // Both methods send the password, so both need TLS. Other methods that a server offers are not tried (CURLOPT_LOGIN_OPTIONS(3)).
            try set(handle, CURLOPT_LOGIN_OPTIONS, "AUTH=PLAIN;AUTH=LOGIN")
            try set(handle, CURLOPT_USERNAME, user)
            try set(handle, CURLOPT_PASSWORD, password)
        case nil: break
        default: throw failure(.credentials, "a mail server wants a user and a password; store `USER:PASSWORD`")
        }
    }

    /// Returns the server's answer to the mail, whether it accepted the mail or not.
    /// - Throws: `TransferError` if there is no answer to the mail; `denied` if the server refuses the sender or all mail (5yz).
    func mailAnswer(_ result: CURLcode) throws(TransferError) -> TransferResponse {
        let reply = reply ?? MailReply()
        do throws(TransferError) {
            // The answer to the mail counts even if libcurl times out later, while it waits for the answer to QUIT.
            if !reply.isOfMail { try checkMail(result, reply) }
        } catch {
            var error = error
            error.mayHaveArrived = reply.step == .text
            throw error
        }
        return TransferResponse(status: reply.code, body: Array(reply.words.utf8))
    }

    private func checkMail(_ result: CURLcode, _ reply: MailReply) throws(TransferError) {
        let said = reply.words.isEmpty ? detail : "\(reply.code) \(reply.words)"
        switch result {
        case CURLE_OK: return
        case CURLE_ABORTED_BY_CALLBACK: throw canceled
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
        default: break
        }
        guard reply.isRefusal else { throw error(of: result) }
        guard reply.code >= 500 else { return }
        if request.credentials != nil, !reply.isKnown {
            throw failure(
                .credentials,
                "the mail server offers neither AUTH PLAIN nor LOGIN, so Martlet cannot sign in, and it refused: \(said)"
            )
        }
        // 530: the server requires a login or TLS first (RFC 4954, section 6; RFC 3207, section 4).
        if reply.step < .recipient || reply.code == 530 {
            throw failure(.denied, "the mail server refuses mail from here at present: \(said)")
        }
    }
}
