import Basics
import CLibCurl
import Model

extension HTTPStream {
    /// The user agent of libgit2 1.5.1. Servers recognize git by its first word, and show a web page to other clients.
    private static let userAgent = "git/2.0 (libgit2 \(LibGit2.version))"

    /// The proxy for the request; `nil` for none. URLs that a commit names never use a proxy, because the proxy would then determine their addresses.
    private var proxy: String? {
        control.limits.isPublicOnly ? nil : ProxyRules.ofThisProcess.proxyWithAccount(for: request.repository)
    }

    /// Sets every option. Options that are not set have libcurl's defaults: no redirects, cookies, .netrc or compression.
    func configure() throws(HTTPFailure) {
        let handle = parent.handle
        curl_easy_reset(handle)
        parent.errorText.pointee = 0
        clibcurl_set_pointer(handle, CURLOPT_ERRORBUFFER, parent.errorText)
        // With threads, time-outs must not use signals (CURLOPT_NOSIGNAL(3)).
        clibcurl_set_long(handle, CURLOPT_NOSIGNAL, 1)
        // An unfinished lookup of a name is abandoned; otherwise a stop would wait for it (CURLOPT_QUICK_EXIT(3), 7.87).
        clibcurl_set_long(handle, CURLOPT_QUICK_EXIT, 1)
        try set(CURLOPT_URL, request.url)
        try set(CURLOPT_PROTOCOLS_STR, request.repository.kind.rawValue)
        clibcurl_set_long(handle, CURLOPT_DISALLOW_USERNAME_IN_URL, 1)
        clibcurl_set_long(handle, CURLOPT_PATH_AS_IS, 1)
        clibcurl_set_long(handle, CURLOPT_FOLLOWLOCATION, 0)
        clibcurl_set_long(handle, CURLOPT_NETRC, Int(CURL_NETRC_IGNORED.rawValue))
        clibcurl_set_long(handle, CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1)
        clibcurl_set_long(handle, CURLOPT_HTTP_CONTENT_DECODING, 0)
        clibcurl_set_long(
            handle, CURLOPT_CONNECTTIMEOUT_MS, Int(clamping: max(1, control.limits.connect.wholeMilliseconds)))
        // This is four times libcurl's default, for fewer calls per pack.
        clibcurl_set_long(handle, CURLOPT_BUFFERSIZE, 64 << 10)
        try set(CURLOPT_USERAGENT, Self.userAgent)
        try configureProxy()
        try configureTLS()
        try configureBody()
        if let (user, password) = parent.account {
            clibcurl_set_long(handle, CURLOPT_HTTPAUTH, clibcurl_auth_basic())
            try set(CURLOPT_USERNAME, user)
            try set(CURLOPT_PASSWORD, password)
        }
        parent.setSocketCallbacks()
        setCallbacks()
    }

    private func set(_ option: CURLoption, _ text: String) throws(HTTPFailure) {
        guard clibcurl_set_text(parent.handle, option, text) == CURLE_OK else {
            throw HTTPFailure(.unreachable, "libcurl refused an option; is it older than 7.85?")
        }
    }

    private func configureProxy() throws(HTTPFailure) {
        // An empty text disables the environment's proxy (CURLOPT_PROXY(3)). libcurl still applies exceptions of no_proxy in forms that the service
        // does not support (10.0.0.0/8).
        try set(CURLOPT_PROXY, proxy ?? "")
        clibcurl_set_long(parent.handle, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
        clibcurl_set_long(parent.handle, CURLOPT_PROXYAUTH, clibcurl_auth_basic())
    }

    private func configureTLS() throws(HTTPFailure) {
        for option in [CURLOPT_SSL_VERIFYPEER, CURLOPT_PROXY_SSL_VERIFYPEER] {
            clibcurl_set_long(parent.handle, option, 1)
        }
        for option in [CURLOPT_SSL_VERIFYHOST, CURLOPT_PROXY_SSL_VERIFYHOST] {
            clibcurl_set_long(parent.handle, option, 2)
        }
        for option in [CURLOPT_SSLVERSION, CURLOPT_PROXY_SSLVERSION] {
            clibcurl_set_long(parent.handle, option, Int(CURL_SSLVERSION_TLSv1_2))
        }
        // As in curl and git, these certificates replace the machine's, including those in its directory.
        let certificates = CertificateVariables.ofThisProcess
        guard certificates.file != nil || certificates.directory != nil else { return }
        for (option, path) in [
            (CURLOPT_CAINFO, certificates.file), (CURLOPT_PROXY_CAINFO, certificates.file),
            (CURLOPT_CAPATH, certificates.directory), (CURLOPT_PROXY_CAPATH, certificates.directory),
        ] {
            if let path {
                try set(option, path)
            } else {
                clibcurl_set_pointer(parent.handle, option, nil)
            }
        }
    }

    private func configureBody() throws(HTTPFailure) {
        for header in request.headers {
            guard let list = curl_slist_append(headerList, header) else {
                throw HTTPFailure(.unreachable, "no memory for a request")
            }
            headerList = list
        }
        clibcurl_set_list(parent.handle, CURLOPT_HTTPHEADER, headerList)
        guard request.isPost else {
            clibcurl_set_long(parent.handle, CURLOPT_HTTPGET, 1)
            return
        }
        clibcurl_set_long(parent.handle, CURLOPT_POST, 1)
        clibcurl_set_offset(parent.handle, CURLOPT_POSTFIELDSIZE_LARGE, curl_off_t(sent.count))
        // libcurl does not copy it; `sent` lives as long as the transfer.
        clibcurl_set_pointer(parent.handle, CURLOPT_POSTFIELDS, sent.baseAddress)
    }

    private func setCallbacks() {
        // The reference is unretained, because the transfer ends before this object does.
        let context = Unmanaged.passUnretained(self).toOpaque()
        clibcurl_set_data_callback(parent.handle, CURLOPT_HEADERFUNCTION) { data, size, count, context in
            guard let data, let context else { return 0 }
            let line = UnsafeRawBufferPointer(start: data, count: size * count)
            return Unmanaged<HTTPStream>.fromOpaque(context).takeUnretainedValue().receive(line: line) ? line.count : 0
        }
        clibcurl_set_pointer(parent.handle, CURLOPT_HEADERDATA, context)
        clibcurl_set_data_callback(parent.handle, CURLOPT_WRITEFUNCTION) { data, size, count, context in
            guard let data, let context else { return 0 }
            let bytes = UnsafeRawBufferPointer(start: data, count: size * count)
            return Unmanaged<HTTPStream>.fromOpaque(context).takeUnretainedValue().receive(bytes)
        }
        clibcurl_set_pointer(parent.handle, CURLOPT_WRITEDATA, context)
    }

    /// Returns the meaning of a failed transfer.
    func failed(_ outcome: CURLcode) -> HTTPFailure {
        if parent.hasRefusedAll, outcome == CURLE_COULDNT_CONNECT {
            return HTTPFailure(.invalidURL, "it has no public address")
        }
        var said = String(cString: parent.errorText)
        // libcurl shows a proxy that it cannot parse, including its account.
        if let proxy { said = said.replacing(proxy, with: ProxyRules.withoutAccount(proxy)) }
        return HTTPFailure(of: outcome, said)
    }
}
