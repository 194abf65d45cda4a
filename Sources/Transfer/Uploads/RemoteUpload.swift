import Basics
import Synchronization

/// An upload method for http(s), sftp and ftp(s), which `Transport` makes uniform.
struct RemoteUpload: UploadMethod {
    let transport: any Transport
    let identifiers: any IdentifierSource
    let options: UploadOptions
    let queue: SerialQueue

    /// The additional size in bytes for the text of a 404 if a smaller file was expected: 64 KiB.
    static let errorPage: Int64 = 64 << 10

    // MARK: Staging

    func stage(_ target: UploadTarget) async throws(TransferError) -> String? {
        let part = target.partURL(options.session ?? identifiers.next())
        var (isLookedAt, isWritten, wrongReads) = (false, false, 0)
        // Whether a part of this file may exist: from another process's try, or from an interrupted one of this upload.
        var mayBeThere = options.session != nil
        do throws(TransferError) {
            return try await options.retries.repeating(target) { tries throws(TransferError) in
                if !isLookedAt {
                    target.course.say(.looking, tries)
                    if try await isThere(target) {
                        if mayBeThere, options.session != nil { await discard(target, part: part) }
                        return nil
                    }
                    isLookedAt = true
                }
                while true {
                    if !isWritten {
                        let offset = target.isResumable && mayBeThere ? try await size(of: part, target.file) : 0
                        tries.record(reached: offset)
                        if offset < target.file.size || offset == 0 {
                            mayBeThere = true
                            try await send(target, to: part, from: offset, tries)
                        }
                        isWritten = true
                    }
                    target.course.say(.readingBack, bytes: target.file.size, tries)
                    if try await look(part, target.file)?.isRight == true { return part }
                    wrongReads += 1
                    guard wrongReads < Uploader.attempts else {
                        throw failure(
                            .corrupted, target,
                            "the server took it, but other bytes were read back, \(wrongReads) times; look at its disk "
                                + "and at what stands between")
                    }
                    // Starts again from the first byte and overwrites what is there.
                    (isWritten, mayBeThere) = (false, false)
                }
            }
        } catch {
            if !(error.code == .canceled && options.session != nil) { await discard(target, part: part) }
            throw error
        }
    }

    /// Returns how many of the file's bytes a part has; 0 if it does not exist, or is longer than the file.
    private func size(of part: String, _ file: UploadFile) async throws(TransferError) -> Int64 {
        let answer = try await transport.perform(request(.head, part))
        guard answer.status == 200, let size = answer.headers["Content-Length"].flatMap({ Int64($0) }) else { return 0 }
        return size <= file.size ? size : 0
    }

    /// Writes a part, or the rest of it.
    /// - Throws: `TransferError`. If an ftp server refuses to write at an offset, the part is removed and the error is `interrupted`, so that the
    ///   next try starts with the first byte. ProFTPD without `AllowStoreRestart` answers 451; other servers do not know REST.
    private func send(
        _ target: UploadTarget, to part: String, from offset: Int64, _ tries: UploadTries
    ) async throws(TransferError) {
        let sent = SentBytes()
        do throws(TransferError) {
            _ = try await put(target, to: part, from: offset, sent: sent, tries)
        } catch {
            // After any other interruption, writing may continue where it stopped.
            let isRefused = error.code == .denied || error.status == 451
            guard offset > 0, target.isFTP, sent.count == 0, isRefused else {
                throw error
            }
            await discard(target, part: part)
            throw TransferError(
                code: .interrupted, operation: error.operation, message: error.message, underlying: error,
                status: error.status)
        }
    }

    // MARK: The name

    func commit(_ target: UploadTarget, part: String) async throws(TransferError) {
        // Whether this upload has started a PUT to the name itself, which did not exist before.
        var isBegun = false
        try await options.retries.repeating(target) { tries throws(TransferError) in
            target.course.say(.moving, bytes: target.file.size, tries)
            if isBegun { return try await putInPlace(target, &isBegun, tries) }
            // Also at the first try, because all files were sent since the last check. Another client could still write between this check and the
            // move. That matters if the server renames over existing files.
            if try await isThere(target) { return _ = await discard(target, part: part) }
            guard try await !move(target, part: part, tries) else { return }
            await discard(target, part: part)
            try await putInPlace(target, &isBegun, tries)
        }
    }

    /// Moves the part to its name.
    /// - Returns: `false` if the server does not support MOVE.
    private func move(
        _ target: UploadTarget, part: String, _ tries: UploadTries
    ) async throws(TransferError) -> Bool {
        var request = self.request(.move, part)
        request.target = target.url
        let status: Int
        do throws(TransferError) {
            status = try await transport.perform(request).status
        } catch {
            // The server may have moved it before the connection broke. If this check fails, the first error is more useful.
            if error.code != .canceled, (try? await isThere(target)) == true { return true }
            throw error
        }
        switch status {
        case 200..<300:
            // For ftp and sftp, the answer is that of the rename. An HTTP server may give the same answer to any unknown method, or report several
            // results (207, RFC 4918, section 13).
            guard !target.isResumable else { return true }
            if status != 207, try await size(of: target.url, target.file) == target.file.size { return true }
            guard try await isThere(target) else {
                throw failure(
                    .corrupted, target,
                    "the server said that it moved it to its name (status \(status)), but no file is there; it may not "
                        + "know MOVE, and should answer 405 or 501 then")
            }
            return true
        case 405, 501: return false
        // 404: libcurl repeats a request if a reused connection is closed without an answer. The first request may have moved the part.
        case 404, 409, 412:
            if try await isThere(target) {
                await discard(target, part: part)
                return true
            }
            throw failure(.status, target, "the server did not move it from its name beside (status \(status))")
        default: throw refused(status, target, "moving it to its name")
        }
    }

    @discardableResult
    func discard(_ target: UploadTarget, part: String) async -> Bool {
        // Errors are ignored: the upload has failed already, or the file is in place. The part's name identifies it.
        (try? await transport.perform(request(.delete, part))) != nil
    }

    func leftParts(_ target: UploadTarget) async -> [String] { options.session.map { [target.partURL($0)] } ?? [] }

    /// Writes to the name itself, for servers without MOVE; see `Uploader`.
    private func putInPlace(
        _ target: UploadTarget, _ isBegun: inout Bool, _ tries: UploadTries
    ) async throws(TransferError) {
        let before = try await look(target.url, target.file)
        if before?.isRight == true { return }
        if let before {
            let isOurs = try await isBegun ? isBeginning(before, target) : false
            guard isOurs else { throw failure(.exists, target, UploadMessage.exists) }
        }
        isBegun = true
        // A part of the file that an earlier try of this upload left is overwritten, if it has not changed.
        let headers: TransferHeaders =
            before == nil ? ["If-None-Match": "*"] : before?.tag.map { ["If-Match": $0] } ?? [:]
        let answer = try await put(target, to: target.url, headers: headers, tries)
        guard let found = try await look(target.url, target.file) else {
            throw failure(.corrupted, target, "the server accepted it, but no bytes could be read back")
        }
        guard !found.isRight else { return }
        // Wrong bytes are removed if this upload wrote them. Otherwise two uploads may have overwritten each other, and the bytes are right for the
        // other one.
        let isWritten = found.tag != nil && found.tag == answer.headers["ETag"]
        let isHalf = try await isBeginning(found, target)
        guard isHalf || isWritten else {
            throw failure(.exists, target, UploadMessage.exists)
        }
        await discard(target, part: target.url)
        isBegun = false
        throw failure(.corrupted, target, "the server took it, but other bytes were read back")
    }

    /// Whether the target holds a beginning of the file, as an interrupted PUT leaves it.
    private func isBeginning(_ found: Found, _ target: UploadTarget) async throws(TransferError) -> Bool {
        try await queue.run { () throws(TransferError) in
            try target.file.beginsWith(found.size, sha256: found.sha256)
        }
    }

    // MARK: Steps

    /// Whether the target holds the right bytes.
    /// - Throws: `exists` if it holds other bytes; `denied` if it exists but may not be read.
    private func isThere(_ target: UploadTarget) async throws(TransferError) -> Bool {
        guard let found = try await look(target.url, target.file) else {
            // ftp answers 550 both for a missing file and for an unreadable one. An unreadable file still has a size, and a rename could replace it.
            if target.isFTP, try await isListed(target.url) {
                throw failure(
                    .denied, target, "there is a file of this name that this user may not read; it was left as it is")
            }
            return false
        }
        guard found.isRight else { throw failure(.exists, target, UploadMessage.exists) }
        return true
    }

    private func isListed(_ url: String) async throws(TransferError) -> Bool {
        let answer = try await transport.perform(request(.head, url))
        return answer.status == 200 && answer.headers["Content-Length"] != nil
    }

    /// The content of a URL.
    private struct Found: Sendable {
        /// Whether the content is that of the file.
        let isRight: Bool
        /// The size in bytes; `Int64.max` if it is more than was read.
        let size: Int64
        var sha256: String?
        /// The ETag as the server writes it.
        var tag: String?
    }

    /// Reads the content of a URL; `nil` if it does not exist.
    private func look(_ url: String, _ file: UploadFile) async throws(TransferError) -> Found? {
        var request = self.request(.get, url)
        request.destination = .digest
        request.limits = options.limits(for: file.size)
        request.limits.response = file.size + Self.errorPage
        do throws(TransferError) {
            let answer = try await transport.perform(request)
            switch answer.status {
            case 200:
                return Found(
                    isRight: answer.size == file.size && answer.sha256 == file.sha256, size: answer.size,
                    sha256: answer.sha256, tag: answer.headers["ETag"])
            case 404, 410: return nil
            default: throw refused(answer.status, url, "reading what is there")
            }
        } catch  where error.code == .tooLarge {
            return Found(isRight: false, size: .max)
        }
    }

    private func put(
        _ target: UploadTarget, to url: String, from offset: Int64 = 0, headers: TransferHeaders = [:],
        sent: SentBytes = SentBytes(), _ tries: UploadTries
    ) async throws(TransferError) -> TransferResponse {
        target.course.say(.sending, bytes: offset, tries)
        var request = self.request(.put, url)
        request.body = .file(path: target.file.path)
        request.resumeOffset = offset
        request.limits = options.limits(for: target.file.size)
        let tell = target.course.sending(after: target.isFTP ? offset : 0, tries)
        request.progress = { bytes in
            sent.record(bytes)
            tell?(bytes)
        }
        request.headers = headers
        request.headers["Content-Type"] = "application/octet-stream"
        var answer = try await transport.perform(request)
        if [404, 409, 500].contains(answer.status), !target.isResumable {
            // The collections above may be missing: 409 by RFC 4918, section 9.7.1, or 500 from nginx 1.22 without `create_full_put_path`. Creating
            // an existing collection gives 405, which is ignored.
            for collection in target.collections {
                _ = try await transport.perform(self.request(.makeCollection, collection))
            }
            answer = try await transport.perform(request)
        }
        guard answer.isSuccess else { throw refused(answer.status, target, "writing it") }
        return answer
    }

    private func request(_ method: TransferRequest.Method, _ url: String) -> TransferRequest {
        var request = TransferRequest(method, url, credentials: options.credentials)
        request.knownHosts = options.knownHosts
        request.isPlainHTTPAllowed = options.isPlainHTTPAllowed
        request.certificateAuthorities = options.certificateAuthorities
        request.limits = options.limits
        return request
    }

    // MARK: Errors

    private func refused(_ status: Int, _ target: UploadTarget, _ step: String) -> TransferError {
        refused(status, target.url, step)
    }

    private func refused(_ status: Int, _ url: String, _ step: String) -> TransferError {
        let shown = (try? TransferURL(url, operation: "upload"))?.shown ?? "the server"
        let (code, advice): (TransferError.Code, String) =
            switch status {
            case 401: (.credentials, "the server wants other credentials; see `credentials:` of the trigger")
            case 403: (.denied, "the server denies it to this user")
            case 300..<400: (.status, "the server redirects, which is not followed; write the right URL")
            case 404: (.notFound, "the server does not know the directory")
            case 413: (.tooLarge, "the server takes no files of this size")
            case 507: (.status, "the server's disk is full")
            case 500...: (.status, "the server failed; its log knows more")
            default: (.status, "the server did not accept it")
            }
        return TransferError(
            code: code, operation: "upload to \(shown)", message: "\(step): status \(status); \(advice)", status: status
        )
    }

    private func failure(_ code: TransferError.Code, _ target: UploadTarget, _ message: String) -> TransferError {
        TransferError(code: code, operation: "upload to \(target.shown)", message: message)
    }
}

/// The number of a request's bytes that were sent. It is updated on the transport's thread.
private final class SentBytes: Sendable {
    private let bytes = Atomic<Int64>(0)

    var count: Int64 { bytes.load(ordering: .relaxed) }

    func record(_ count: Int64) { bytes.store(count, ordering: .relaxed) }
}
