import Basics

/// Uploads by http(s), sftp and ftp(s), whose methods `Transport` gives one form.
struct RemoteUpload: UploadMethod {
    let transport: any Transport
    let identifiers: any IdentifierSource
    let options: UploadOptions

    /// Room for the text of a 404 where a smaller file was expected, 64 KiB.
    static let errorPage: Int64 = 64 << 10

    // MARK: Staging

    func stage(_ target: UploadTarget) async throws(TransferError) -> String? {
        let part = target.partURL(options.session ?? identifiers.next())
        var (isLookedAt, isWritten, wrongReads) = (false, false, 0)
        // Whether something of this file may be there: of another process's try, or of one of ours that broke off.
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
                        tries.note(reached: offset)
                        mayBeThere = true
                        if offset < target.file.size || offset == 0 {
                            try await put(target, to: part, from: offset, tries)
                        }
                        isWritten = true
                    }
                    target.course.say(.readingBack, bytes: target.file.size, tries)
                    if try await holds(part, target.file) == true { return part }
                    wrongReads += 1
                    guard wrongReads < Uploader.attempts else {
                        throw failure(
                            .corrupted, target,
                            "the server took it, but other bytes were read back, \(wrongReads) times; look at its disk "
                                + "and at what stands between")
                    }
                    // From the first byte, over whatever is there.
                    (isWritten, mayBeThere) = (false, false)
                }
            }
        } catch {
            if !(error.code == .canceled && options.session != nil) { await discard(target, part: part) }
            throw error
        }
    }

    /// How many of the file's bytes a part has; 0 when there is none, or one that is too long to be it.
    private func size(of part: String, _ file: UploadFile) async throws(TransferError) -> Int64 {
        let answer = try await transport.perform(request(.head, part))
        guard answer.status == 200, let size = answer.headers["Content-Length"].flatMap({ Int64($0) }) else { return 0 }
        return size <= file.size ? size : 0
    }

    // MARK: The name

    func commit(_ target: UploadTarget, part: String) async throws(TransferError) {
        try await options.retries.repeating(target) { tries throws(TransferError) in
            target.course.say(.moving, bytes: target.file.size, tries)
            // An ftp server renames over what is there: between this look and the rename another could write there.
            if tries.attempt > 1 || target.isFTP, try await isThere(target) {
                return await discard(target, part: part)
            }
            try await move(target, part: part, tries)
        }
    }

    private func move(_ target: UploadTarget, part: String, _ tries: UploadTries) async throws(TransferError) {
        var request = self.request(.move, part)
        request.target = target.url
        let status: Int
        do throws(TransferError) {
            status = try await transport.perform(request).status
        } catch {
            // The server may have moved it before the connection broke. An error while looking says less than the first.
            if error.code != .canceled, (try? await isThere(target)) == true { return }
            throw error
        }
        switch status {
        case 200..<300: return
        case 405, 501: try await putInPlace(target, part: part, tries)
        // 404: libcurl sends a request again when a connection that was used before closes without an answer; the first
        // one may have moved it.
        case 404, 409, 412:
            if try await isThere(target) { return await discard(target, part: part) }
            throw failure(.status, target, "the server did not move it from its name beside (status \(status))")
        default: throw refused(status, target, "moving it to its name")
        }
    }

    func discard(_ target: UploadTarget, part: String) async {
        // An error is under way, or the file is there: what is left beside is only litter, named as such.
        _ = try? await transport.perform(request(.delete, part))
    }

    func leftParts(_ target: UploadTarget) async -> [String] { options.session.map { [target.partURL($0)] } ?? [] }

    /// For servers without MOVE; see `Uploader`.
    private func putInPlace(
        _ target: UploadTarget, part: String, _ tries: UploadTries
    ) async throws(TransferError) {
        await discard(target, part: part)
        if try await isThere(target) { return }
        do throws(TransferError) {
            try await put(target, to: target.url, isNew: true, tries)
        } catch {
            if error.code != .canceled, (try? await isThere(target)) == true { return }
            throw error
        }
        guard try await holds(target.url, target.file) == true else {
            // What is there now is ours and wrong: nothing is better.
            await discard(target, part: target.url)
            throw failure(.corrupted, target, "the server took it, but other bytes were read back")
        }
    }

    // MARK: Steps

    /// Whether the target holds the right bytes.
    /// - Throws: `exists` when it holds others.
    private func isThere(_ target: UploadTarget) async throws(TransferError) -> Bool {
        switch try await holds(target.url, target.file) {
        case nil: return false
        case true?: return true
        case false?: throw failure(.exists, target, UploadMessage.exists)
        }
    }

    /// Whether a URL gives the file's bytes; nothing when it gives none.
    private func holds(_ url: String, _ file: UploadFile) async throws(TransferError) -> Bool? {
        var request = self.request(.get, url)
        request.destination = .digest
        request.limits.response = file.size + Self.errorPage
        do throws(TransferError) {
            let answer = try await transport.perform(request)
            switch answer.status {
            case 200: return answer.size == file.size && answer.sha256 == file.sha256
            case 404, 410: return nil
            default: throw refused(answer.status, url, "reading what is there")
            }
        } catch  where error.code == .tooLarge {
            return false
        }
    }

    private func put(
        _ target: UploadTarget, to url: String, from offset: Int64 = 0, isNew: Bool = false, _ tries: UploadTries
    ) async throws(TransferError) {
        target.course.say(.sending, bytes: offset, tries)
        var request = self.request(.put, url)
        request.body = .file(path: target.file.path)
        request.resumeOffset = offset
        request.progress = target.course.sending(after: target.isFTP ? offset : 0, tries)
        request.headers["Content-Type"] = "application/octet-stream"
        if isNew { request.headers["If-None-Match"] = "*" }
        var status = try await transport.perform(request).status
        if [404, 409, 500].contains(status), !target.isResumable {
            // The collection above may be missing: 409 by RFC 4918 section 9.7.1, 500 from nginx 1.22 without
            // `create_full_put_path`. Making one that exists gives 405, which is fine.
            for collection in target.collections {
                _ = try await transport.perform(self.request(.makeCollection, collection))
            }
            status = try await transport.perform(request).status
        }
        guard (200..<300).contains(status) else { throw refused(status, target, "writing it") }
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
