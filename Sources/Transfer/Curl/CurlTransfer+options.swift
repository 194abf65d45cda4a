import Basics
import CLibCurl
import Glibc

extension CurlTransfer {
    /// Sets every option. All decisions about the security of transfers are made here.
    func configure(_ handle: UnsafeMutableRawPointer, _ url: TransferURL) throws(TransferError) {
        try checkScheme(url)
        // No signals for timeouts, because the process has several threads (CURLOPT_NOSIGNAL(3)).
        clibcurl_set_long(handle, CURLOPT_NOSIGNAL, 1)
        try set(handle, CURLOPT_URL, request.url)
        try set(handle, CURLOPT_PROTOCOLS_STR, url.scheme)
        clibcurl_set_long(handle, CURLOPT_FOLLOWLOCATION, 0)
        // An empty text also disables proxies from the environment (CURLOPT_PROXY(3)).
        try set(handle, CURLOPT_PROXY, "")
        clibcurl_set_long(handle, CURLOPT_NETRC, Int(CURL_NETRC_IGNORED.rawValue))
        clibcurl_set_long(handle, CURLOPT_SSL_VERIFYPEER, 1)
        clibcurl_set_long(handle, CURLOPT_SSL_VERIFYHOST, 2)
        clibcurl_set_long(handle, CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2))
        clibcurl_set_long(handle, CURLOPT_PATH_AS_IS, 1)
        try configureAuthorities(handle)
        if let socket = request.unixSocket { try set(handle, CURLOPT_UNIX_SOCKET_PATH, socket) }
        setLimits(handle)
        setCallbacks(handle)
        switch kind {
        case .sftp: try configureSSH(handle, url)
        case .ftp: try configureFTP(handle, url)
        case .mail: try configureMail(handle, url)
        case .http: try configureHTTP(handle, url)
        }
    }

    /// Sets the trusted certificates: those of the request, or those that the environment names, in place of the machine's.
    private func configureAuthorities(_ handle: UnsafeMutableRawPointer) throws(TransferError) {
        let environment = CertificateVariables.ofThisProcess
        let file = request.certificateAuthorities ?? environment.file
        let directory = request.certificateAuthorities == nil ? environment.directory : nil
        guard file != nil || directory != nil else { return }
        for (option, path) in [(CURLOPT_CAINFO, file), (CURLOPT_CAPATH, directory)] {
            if let path {
                try set(handle, option, path)
            } else {
                clibcurl_set_pointer(handle, option, nil)
            }
        }
    }

    private func checkScheme(_ url: TransferURL) throws(TransferError) {
        switch url.scheme {
        case "https", "sftp", "ftps", "smtps", "smtp": return
        case "http" where request.isPlainHTTPAllowed || request.unixSocket != nil: return
        case "ftp" where request.isPlainHTTPAllowed: return
        case "http", "ftp":
            throw failure(
                .schemeRefused,
                "plain \(url.scheme) would send everything readable on the way; use \(url.scheme)s, or allow it with "
                    + "`insecure: true`")
        default:
            throw failure(.schemeRefused, "\(url.scheme): is not supported; use https:, sftp: or ftps:")
        }
    }

    private func setLimits(_ handle: UnsafeMutableRawPointer) {
        func milliseconds(_ duration: Duration) -> Int {
            Int(clamping: duration.components.seconds) * 1000
                + Int(duration.components.attoseconds / 1_000_000_000_000_000)
        }
        clibcurl_set_long(handle, CURLOPT_CONNECTTIMEOUT_MS, max(1, milliseconds(request.limits.connect)))
        if let total = request.limits.total {
            clibcurl_set_long(handle, CURLOPT_TIMEOUT_MS, max(1, milliseconds(total)))
        }
        if let stall = request.limits.stall {
            clibcurl_set_long(handle, CURLOPT_LOW_SPEED_LIMIT, 1)
            clibcurl_set_long(handle, CURLOPT_LOW_SPEED_TIME, max(1, Int(clamping: stall.components.seconds)))
        }
    }

    func set(_ handle: UnsafeMutableRawPointer, _ option: CURLoption, _ text: String) throws(TransferError) {
        guard !text.utf8.contains(0), clibcurl_set_text(handle, option, text) == CURLE_OK else {
            throw failure(.other, "libcurl refused an option; is it older than 7.85?")
        }
    }

    // MARK: HTTP

    /// The largest size in bytes of a body in memory that is sent without `Expect: 100-continue`. With that header libcurl waits a second for `100
    /// Continue`, which the daemon's own server and others do not send (CURLOPT_EXPECT_100_TIMEOUT_MS(3)).
    private static let promptBytes = 1 << 20

    private func configureHTTP(_ handle: UnsafeMutableRawPointer, _ url: TransferURL) throws(TransferError) {
        var lines: [String] = []
        for field in request.headers.fields {
            let isClean = !field.name.isEmpty && !(field.name + field.value).utf8.contains { $0 < 0x20 && $0 != 0x09 }
            guard isClean, !field.name.utf8.contains(where: { $0 <= 0x20 || $0 >= 0x7f || $0 == UInt8(ascii: ":") })
            else { throw failure(.invalid, "a header's name or value holds a control character") }
            // A semicolon sends a field without a value; a colon would remove the field (CURLOPT_HTTPHEADER(3)).
            lines.append(field.value.isEmpty ? field.name + ";" : field.name + ": " + field.value)
        }
        switch request.method {
        case .get: clibcurl_set_long(handle, CURLOPT_HTTPGET, 1)
        case .head: clibcurl_set_long(handle, CURLOPT_NOBODY, 1)
        case .put, .post, .patch:
            try attachSource(handle)
            try set(handle, CURLOPT_CUSTOMREQUEST, request.method.rawValue)
            if case .bytes(let bytes) = request.body, bytes.count <= Self.promptBytes { lines.append("Expect:") }
        case .delete, .move, .makeCollection:
            clibcurl_set_long(handle, CURLOPT_HTTPGET, 1)
            try set(handle, CURLOPT_CUSTOMREQUEST, request.method.rawValue)
        case .mail: throw failure(.invalid, "a mail goes to smtp: or smtps:, not to \(url.scheme):")
        }
        if request.method == .move {
            guard let target = request.target else { throw failure(.invalid, "a move needs a target") }
            let there = try TransferURL(target, operation: operation)
            guard there.origin == url.origin else { throw failure(.invalid, "a move's target is on another server") }
            // RFC 4918, sections 10.3 and 10.6. The destination is sent without the user and password that the URL may contain.
            lines += ["Destination: " + there.shown, "Overwrite: F"]
        }
        if request.headers["User-Agent"] == nil { try set(handle, CURLOPT_USERAGENT, "martlet") }
        switch request.credentials {
        case .password(let user, let password):
            clibcurl_set_long(handle, CURLOPT_HTTPAUTH, clibcurl_auth_basic())
            try set(handle, CURLOPT_USERNAME, user ?? url.user ?? "")
            try set(handle, CURLOPT_PASSWORD, password)
        case .bearer(let token):
            guard !token.utf8.contains(where: { $0 <= 0x20 || $0 == 0x7f }) else {
                throw failure(.credentials, "the token holds a space or a control character; store it anew")
            }
            lines.append("Authorization: Bearer " + token)
        case .privateKey:
            throw failure(.credentials, "a private key is of no use for \(url.scheme); name a password or a token")
        case nil: break
        }
        if let list = try list(lines) { clibcurl_set_list(handle, CURLOPT_HTTPHEADER, list) }
    }

    /// Opens the body and sets its size.
    /// - Parameter skipping: The number of first bytes that are left out.
    func attachSource(_ handle: UnsafeMutableRawPointer, skipping: Int64 = 0) throws(TransferError) {
        let source = try UploadSource(request.body, skipping: skipping, operation: operation)
        self.source = source
        clibcurl_set_long(handle, CURLOPT_UPLOAD, 1)
        clibcurl_set_offset(handle, CURLOPT_INFILESIZE_LARGE, curl_off_t(source.size))
    }
}
