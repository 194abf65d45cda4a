import CLibCurl

/// One request and its answer, as libgit2 reads it. The transfer continues only once everything received so far is read.
final class HTTPStream {
    /// The most bytes of the answer that are kept until libgit2 reads them. Then the transfer is paused, so that a pack of any size takes no more
    /// memory than this and libcurl's own buffer.
    static let maximumPending = 256 << 10
    /// The most bytes of an unread answer (the page of a 401) that are received so that the connection can be used again.
    static let maximumIgnored = 64 << 10

    let request: HTTPRequest
    let parent: HTTPSubtransport
    /// The bytes to send. libcurl reads them here as long as it sends.
    private(set) var sent = UnsafeMutableRawBufferPointer(start: nil, count: 0)
    private var answer = HTTPAnswer()
    private var verdict: HTTPAnswer.Verdict?
    private var (pending, taken, ignored) = ([UInt8](), 0, 0)
    private var (hasBegun, isRunning, isPaused, isIgnoring) = (false, false, false, false)
    /// The result of the transfer; `nil` until it has ended.
    private var outcome: CURLcode?
    /// The failure that a callback found and that ended the transfer.
    private var failure: HTTPFailure?
    var headerList: UnsafeMutablePointer<curl_slist>?

    var control: NetworkControl { parent.control }
    /// The number of received bytes of the answer that are not read yet.
    var unread: Int { pending.count - taken }

    init(_ request: HTTPRequest, by parent: HTTPSubtransport) {
        (self.request, self.parent) = (request, parent)
    }

    deinit {
        sent.deallocate()
        // This frees the list of a request that was never started.
        curl_slist_free_all(headerList)
    }

    /// Adds bytes to send. They are sent when the answer is first read.
    /// - Throws: `HTTPFailure` if the request was sent already.
    func write(_ bytes: UnsafeRawBufferPointer) throws(HTTPFailure) {
        guard !hasBegun else { throw HTTPFailure(nil, "the request's body is longer than announced") }
        let longer = UnsafeMutableRawBufferPointer.allocate(byteCount: sent.count + bytes.count, alignment: 1)
        longer.copyMemory(from: UnsafeRawBufferPointer(sent))
        UnsafeMutableRawBufferPointer(rebasing: longer[sent.count...]).copyMemory(from: bytes)
        sent.deallocate()
        sent = longer
    }

    /// Reads the next bytes of the answer's body.
    /// - Returns: The number of bytes; 0 at its end.
    func read(into space: UnsafeMutableRawBufferPointer) throws(HTTPFailure) -> Int {
        let isOver = try control.waiting { () throws(HTTPFailure) in
            if !hasBegun { try begin() }
            while unread == 0 {
                guard try advance() else { return true }
            }
            return false
        }
        if isOver { return 0 }
        let count = min(space.count, unread)
        pending.withUnsafeBytes { space.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[taken..<taken + count])) }
        taken += count
        if taken == pending.count {
            pending.removeAll(keepingCapacity: true)
            taken = 0
        }
        return count
    }

    /// Sends the request until the server answers with something other than a request for credentials.
    private func begin() throws(HTTPFailure) {
        hasBegun = true
        while true {
            try start()
            while verdict == nil {
                guard try advance() else { throw HTTPFailure(.unreachable, "no answer") }
            }
            guard verdict == .credentialsAsked else { return }
            finish()
            try parent.askForCredentials(request.repository)
        }
    }

    private func start() throws(HTTPFailure) {
        (answer, verdict, outcome, failure) = (HTTPAnswer(), nil, nil, nil)
        (ignored, isPaused, isIgnoring) = (0, false, false)
        try configure()
        guard curl_multi_add_handle(parent.multi, parent.handle) == CURLM_OK else {
            throw HTTPFailure(.unreachable, "libcurl did not take the request")
        }
        isRunning = true
    }

    /// Continues the transfer, and waits for the server if there is no data. - Returns: False at the answer's end.
    private func advance() throws(HTTPFailure) -> Bool {
        if let outcome {
            guard outcome == CURLE_OK else { throw failure ?? failed(outcome) }
            return false
        }
        guard control.stopped == nil else { throw HTTPFailure(nil, "stopped") }
        if isPaused {
            isPaused = false
            curl_easy_pause(parent.handle, CURLPAUSE_CONT)
        }
        let (before, known) = (pending.count, verdict)
        var running: Int32 = 0
        var result = curl_multi_perform(parent.multi, &running)
        var left: Int32 = 0
        while let message = curl_multi_info_read(parent.multi, &left) {
            if message.pointee.msg == CURLMSG_DONE { outcome = clibcurl_message_result(message) }
        }
        if outcome != nil {
            leave()
        } else if !isPaused, pending.count == before, verdict == known {
            // A stop shuts the socket down, which ends this call. If there is no socket yet, the stop is noticed after the interval.
            let interval = Int32(clamping: control.limits.interval.wholeMilliseconds)
            if result == CURLM_OK { result = curl_multi_poll(parent.multi, nil, 0, interval, nil) }
        }
        guard result == CURLM_OK else { throw HTTPFailure(.unreachable, String(cString: curl_multi_strerror(result))) }
        return true
    }

    /// Receives the rest of an unread answer for a limited time, so that the connection can serve the next request.
    private func finish() {
        isIgnoring = true
        let end = ContinuousClock.now + control.limits.interval
        while isRunning, ContinuousClock.now < end, (try? advance()) == true {}
        leave()
    }

    /// Ends the transfer, because the rest of the answer is not needed.
    func end() {
        if isRunning, verdict == .body { finish() }
        leave()
    }

    private func leave() {
        guard isRunning else { return }
        isRunning = false
        // This closes the connection if the answer is incomplete.
        curl_multi_remove_handle(parent.multi, parent.handle)
        curl_slist_free_all(headerList)
        headerList = nil
    }

    // MARK: Called by libcurl meanwhile

    /// Receives a line of the head.
    /// - Returns: False to end the transfer.
    func receive(line: UnsafeRawBufferPointer) -> Bool {
        control.received(line)
        do throws(HTTPFailure) {
            try answer.take(line)
            if answer.isWhole, verdict == nil { verdict = try answer.verdict(expecting: request.answerType) }
            return true
        } catch {
            failure = error
            return false
        }
    }

    /// Receives bytes of the body.
    /// - Returns: The number of bytes that were accepted, or libcurl's value for a pause.
    func receive(_ bytes: UnsafeRawBufferPointer) -> Int {
        guard verdict == .body, !isIgnoring else {
            ignored += bytes.count
            return ignored <= Self.maximumIgnored ? bytes.count : 0
        }
        guard unread < Self.maximumPending else {
            isPaused = true
            return clibcurl_pause()
        }
        control.received(bytes)
        pending.append(contentsOf: bytes)
        return bytes.count
    }
}
