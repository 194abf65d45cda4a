import Basics

/// Uploads into a bucket.
///
/// An object appears whole or not at all, so a multipart upload is the place beside: its parts are there, each with the digest that the
/// request's signature covers, and nobody sees them before it is completed. A small file is sent when its turn to get its name comes.
/// Right before, the object is asked for. `If-None-Match: *` keeps either from going over one that came since; with a server that does not
/// know it (501, or that passes it over) another could write there in between. What is then there is read back, and removed only where
/// its ETag is that of what was written.
struct S3Upload: UploadMethod {
    private let client: S3Client
    private let options: UploadOptions
    private let records: S3Records
    private let multipart: S3Multipart

    init(client: S3Client, options: UploadOptions, lane: BlockingLane) {
        self.client = client
        self.options = options
        records = S3Records(options)
        multipart = S3Multipart(client: client, records: records, lane: lane)
    }

    /// The part's name of a file that is sent in one request.
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

    /// What came of giving a file its name.
    private enum Written {
        /// With the tag that the server says.
        case written(tag: String?)
        /// The right bytes were there.
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
        // At the first try too: since the look before, all files were sent.
        if try await isThere(target) { return .already }
        var answer = try await complete(target, part, isNew: true, tries)
        if answer.status == 501 || S3Answer(answer).first("Code") == "NotImplemented" {
            if try await isThere(target) { return .already }
            answer = try await complete(target, part, isNew: false, tries)
        }
        let said = S3Answer(answer)
        if answer.isSuccess, !said.isError { return .written(tag: S3Multipart.tag(answer)) }
        // 412 and 409: somebody else was first; 404: an answer was lost, and the upload is complete.
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

    /// Removes other bytes than the file's where they are what this upload wrote: wrong and ours, so nothing is better.
    /// - Throws: `exists` where they need not be: two may have gone over each other, and the other's is right for them.
    private func remove(_ target: UploadTarget, _ found: String?, written: String?) async throws(TransferError) {
        guard let written, found == written else { throw failure(.exists, target, UploadMessage.exists) }
        // What the server does not let go is found by the next look.
        let answer = try? await client.perform(.delete, target.url, match: written)
        if answer?.status == 501 { _ = try? await client.perform(.delete, target.url) }
    }

    // MARK: Clearing up

    @discardableResult
    func discard(_ target: UploadTarget, part: String) async -> Bool {
        guard part != Self.whole else { return true }
        // An error is under way, or the object is there: what is left costs space, and the bucket's rules end it.
        let answer = try? await client.perform(.delete, target.url, query: [("uploadId", part)])
        if answer != nil { await records.forget(target) }
        return answer != nil
    }

    func leftParts(_ target: UploadTarget) async -> [String] { await records[target].map { [$0.upload] } ?? [] }

    /// - Throws: `exists` when it holds other bytes.
    private func isThere(_ target: UploadTarget) async throws(TransferError) -> Bool {
        guard let found = try await client.holds(target.url, target.file) else { return false }
        guard found.isRight else { throw failure(.exists, target, UploadMessage.exists) }
        return true
    }

    private func failure(_ code: TransferError.Code, _ target: UploadTarget, _ message: String) -> TransferError {
        TransferError(code: code, operation: "upload to \(target.shown)", message: message)
    }
}

/// What several kinds of uploads say.
enum UploadMessage {
    static let exists =
        "there is a file of this name with other bytes; it was left as it is. A published file never changes: "
        + "upload under another version, or remove that file there"
}
