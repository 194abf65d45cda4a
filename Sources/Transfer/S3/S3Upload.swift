import Basics

/// An upload method for a bucket.
///
/// An object appears completely or not at all. A multipart upload therefore serves as staging: its parts have digests that the request's signature
/// covers, and they are not visible before it is completed. A small file is sent when it gets its name.
///
/// Directly before that, the object is read. `If-None-Match: *` prevents replacing an object that was created since. With a server that does not
/// support it (it answers 501, or ignores it) another client could write in between. The object is read back afterwards. Wrong bytes are removed only
/// if their ETag is that of the written object.
struct S3Upload: UploadMethod {
    private let client: S3Client
    private let options: UploadOptions
    private let records: S3Records
    private let multipart: S3Multipart

    init(client: S3Client, options: UploadOptions, queue: SerialQueue) {
        self.client = client
        self.options = options
        records = S3Records(options)
        multipart = S3Multipart(client: client, records: records, queue: queue)
    }

    /// The part's name for a file that is sent in one request.
    private static let whole = "whole"

    // MARK: Staging

    func stage(_ target: UploadTarget) async throws(TransferError) -> String? {
        do throws(TransferError) {
            return try await options.retries.repeating(target) { tries throws(TransferError) in
                target.course.say(.looking, tries)
                if try await isThere(target) {
                    for left in await leftParts(target) { await discard(target, part: left) }
                    return nil
                }
                guard target.file.size >= S3Parts.threshold else { return Self.whole }
                return try await multipart.send(target, &tries)
            }
        } catch {
            if !(error.code == .canceled && options.session != nil), let record = await records[target] {
                await discard(target, part: record.upload)
            }
            throw error
        }
    }

    // MARK: The name

    /// The result of giving a file its name.
    private enum Written {
        /// Written; the tag is from the server's answer.
        case written(tag: String?)
        /// The right bytes already existed.
        case already
        /// The server has ended the upload.
        case gone
    }

    func commit(_ target: UploadTarget, part: String) async throws(TransferError) {
        var part = part
        for round in 1...Uploader.attempts {
            let current = part
            let written = try await options.retries.repeating(target) { tries throws(TransferError) in
                try await write(target, current, tries)
            }
            switch written {
            case .already: return _ = await discard(target, part: current)
            case .gone: await records.forget(target)
            case .written(let tag):
                let found = try await options.retries.repeating(target) { tries throws(TransferError) in
                    target.course.say(.readingBack, bytes: target.file.size, tries)
                    return try await client.holds(target.url, target.file)
                }
                await records.forget(target)
                if found?.isRight == true { return }
                if let found { try await remove(target, found.tag, written: tag) }
            }
            guard round < Uploader.attempts else { break }
            guard let again = try await stage(target) else { return }
            part = again
        }
        throw failure(
            .corrupted, target,
            "the server took it, but other bytes or none were read back, \(Uploader.attempts) times; look at its disk and at "
                + "what stands between")
    }

    private func write(
        _ target: UploadTarget, _ part: String, _ tries: UploadTries
    ) async throws(TransferError) -> Written {
        // Also at the first try, because all files were sent since the last check.
        if try await isThere(target) { return .already }
        var answer = try await complete(target, part, isNew: true, tries)
        if answer.status == 501 || S3Answer(answer).first("Code") == "NotImplemented" {
            if try await isThere(target) { return .already }
            answer = try await complete(target, part, isNew: false, tries)
        }
        let said = S3Answer(answer)
        if answer.isSuccess, !said.isError { return .written(tag: S3Multipart.tag(answer)) }
        // 412 and 409: another client was first. 404: an answer was lost, and the upload is already complete.
        let isTaken = ["PreconditionFailed", "ConditionalRequestConflict"].contains(said.first("Code"))
        let isGone = part != Self.whole && S3Multipart.isGone(answer)
        if isTaken || isGone || [404, 409, 412].contains(answer.status) {
            if try await isThere(target) { return .already }
            if isGone { return .gone }
        }
        throw client.refused(answer, target.url, "giving it its name")
    }

    private func complete(
        _ target: UploadTarget, _ part: String, isNew: Bool, _ tries: UploadTries
    ) async throws(TransferError) -> TransferResponse {
        guard part == Self.whole else {
            target.course.say(.moving, bytes: target.file.size, tries)
            return try await multipart.complete(target, isNew: isNew)
        }
        return try await client.perform(
            .put, target.url, body: .file(path: target.file.path), payload: target.file.sha256, isNew: isNew,
            progress: target.course.sending(after: 0, tries))
    }

    /// Removes wrong bytes if this upload wrote them.
    /// - Throws: `exists` if another client may have written them: two uploads may have overwritten each other, and the bytes are right for the other
    ///   one.
    private func remove(_ target: UploadTarget, _ found: String?, written: String?) async throws(TransferError) {
        guard let written, found == written else { throw failure(.exists, target, UploadMessage.exists) }
        // If the server does not remove it, the next check finds it.
        let answer = try? await client.perform(.delete, target.url, match: written)
        if answer?.status == 501 { _ = try? await client.perform(.delete, target.url) }
    }

    // MARK: Clearing up

    @discardableResult
    func discard(_ target: UploadTarget, part: String) async -> Bool {
        guard part != Self.whole else { return true }
        // Errors are ignored: the upload has failed already, or the object is in place. Remaining parts need space until the bucket's rules remove
        // them.
        let answer = try? await client.perform(.delete, target.url, query: [("uploadId", part)])
        if answer != nil { await records.forget(target) }
        return answer != nil
    }

    func leftParts(_ target: UploadTarget) async -> [String] { await records[target].map { [$0.upload] } ?? [] }

    /// Whether the object has the right bytes.
    /// - Throws: `exists` if it has other bytes.
    private func isThere(_ target: UploadTarget) async throws(TransferError) -> Bool {
        guard let found = try await client.holds(target.url, target.file) else { return false }
        guard found.isRight else { throw failure(.exists, target, UploadMessage.exists) }
        return true
    }

    private func failure(_ code: TransferError.Code, _ target: UploadTarget, _ message: String) -> TransferError {
        TransferError(code: code, operation: "upload to \(target.shown)", message: message)
    }
}

/// Messages that several upload methods use.
enum UploadMessage {
    static let exists =
        "there is a file of this name with other bytes; it was left as it is. A published file never changes: "
        + "upload under another version, or remove that file there"
}
