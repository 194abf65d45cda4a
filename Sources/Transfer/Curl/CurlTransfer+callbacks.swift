import CLibCurl
import Glibc

/// The callbacks of libcurl. All of them run on the engine's thread while it drives this transfer.
extension CurlTransfer {
    func setCallbacks(_ handle: UnsafeMutableRawPointer) {
        // Unretained, because the engine holds the transfer as long as the handle is in the multi handle.
        let context = Unmanaged.passUnretained(self).toOpaque()
        clibcurl_set_data_callback(handle, CURLOPT_WRITEFUNCTION) { data, size, count, context in
            guard let data, let context else { return 0 }
            let bytes = UnsafeRawBufferPointer(start: data, count: size * count)
            return Unmanaged<CurlTransfer>.fromOpaque(context).takeUnretainedValue().receive(bytes)
        }
        clibcurl_set_pointer(handle, CURLOPT_WRITEDATA, context)
        clibcurl_set_data_callback(handle, CURLOPT_HEADERFUNCTION) { data, size, count, context in
            guard let data, let context else { return 0 }
            let bytes = UnsafeRawBufferPointer(start: data, count: size * count)
            return Unmanaged<CurlTransfer>.fromOpaque(context).takeUnretainedValue().receiveHeader(bytes)
        }
        clibcurl_set_pointer(handle, CURLOPT_HEADERDATA, context)
        clibcurl_set_data_callback(handle, CURLOPT_READFUNCTION) { data, size, count, context in
            guard let data, let context else { return clibcurl_abort() }
            let space = UnsafeMutableRawBufferPointer(start: data, count: size * count)
            return Unmanaged<CurlTransfer>.fromOpaque(context).takeUnretainedValue().send(space)
        }
        clibcurl_set_pointer(handle, CURLOPT_READDATA, context)
        clibcurl_set_seek_callback(handle) { context, offset, origin in
            guard let context, origin == SEEK_SET else { return CURL_SEEKFUNC_CANTSEEK }
            let transfer = Unmanaged<CurlTransfer>.fromOpaque(context).takeUnretainedValue()
            transfer.source?.seek(to: Int64(offset))
            return CURL_SEEKFUNC_OK
        }
        clibcurl_set_pointer(handle, CURLOPT_SEEKDATA, context)
    }

    /// Passes received bytes to the sink.
    /// - Returns: The number of bytes, or the value that pauses the transfer. Any other number ends the transfer;
    ///   `failure` is set then.
    private func receive(_ bytes: UnsafeRawBufferPointer) -> Int {
        do throws(TransferError) {
            return try sink.take(bytes, operation: operation) ? bytes.count : clibcurl_pause()
        } catch {
            failure = error
            return 0
        }
    }

    private func receiveHeader(_ bytes: UnsafeRawBufferPointer) -> Int {
        // sftp has no headers, but libcurl generates some. Those of ftp are its control connection.
        if kind == .sftp || kind == .ftp { return bytes.count }
        if reply != nil {
            reply?.append(bytes)
            return bytes.count
        }
        headerSize += bytes.count
        guard headerSize <= TransferLimits.headers else {
            failure = failure(.tooLarge, "the answer's header fields are larger than \(TransferLimits.headers) bytes")
            return 0
        }
        var line = bytes[...]
        while let last = line.last, last == 0x0a || last == 0x0d { line.removeLast() }
        let text = String(decoding: line, as: UTF8.self)
        if text.hasPrefix("HTTP/") {
            // A new answer, after one with status 1xx.
            headers = TransferHeaders()
            let parts = text.split(separator: " ", maxSplits: 2)
            status = parts.count > 1 ? Int(parts[1]) ?? 0 : 0
        } else if text.isEmpty {
            if status >= 200 { sink.begin(status: status, headers: headers) }
        } else if let colon = text.firstIndex(of: ":") {
            let value = text[text.index(after: colon)...].drop { $0 == " " || $0 == "\t" }
            headers.append(String(text[..<colon]), String(value))
        }
        return bytes.count
    }

    private func send(_ space: UnsafeMutableRawBufferPointer) -> Int {
        guard let source else { return 0 }
        do throws(TransferError) {
            let count = try source.read(into: space, operation: operation)
            request.progress?(source.position)
            return count
        } catch {
            failure = error
            return clibcurl_abort()
        }
    }
}
