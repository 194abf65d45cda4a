import Basics

/// Uploads into a bucket.
///
/// An object appears whole or not at all, so a multipart upload is the place beside: its parts are there, each with the digest that the
/// request's signature covers, and nobody sees them before it is completed. A small file is sent when its turn to get its name comes.
/// `If-None-Match: *` keeps either from going over an object; a server that does not know it (501) is asked for the object before, and
/// between looking and writing another could write there. What is then there is read back.
struct S3Upload: UploadMethod {
    let client: S3Client
    let options: UploadOptions
    let lane: BlockingLane

    /// The part's name of a file that is sent in one request.
    private static let whole = "whole"

    // MARK: Staging

    func stage(_ target: UploadTarget) async throws(TransferError) -> String? {
        var upload: String?
        do throws(TransferError) {
            return try await options.retries.repeating(target) { tries throws(TransferError) in
                target.course.say(.looking, tries)
                if try await isThere(target) { return nil }
                guard target.file.size >= S3Parts.threshold else { return Self.whole }
                if upload == nil { upload = try await begin(target) }
                guard let upload else { return nil }
                try await sendParts(target, upload, &tries)
                return upload
            }
        } catch {
            if let upload, !(error.code == .canceled && options.session != nil) {
                await discard(target, part: upload)
            }
            throw error
        }
    }

    /// The multipart upload that an earlier try left, or a new one.
    private func begin(_ target: UploadTarget) async throws(TransferError) -> String {
        if options.session != nil, let left = try await uploads(target).first { return left }
        let answer = try await client.perform(.post, target.url, query: [("uploads", "")])
        guard answer.isSuccess, let id = S3Answer(answer).first("UploadId"), !id.isEmpty else {
            throw client.refused(answer, target.url, "beginning the upload")
        }
        return id
    }

    private func uploads(_ target: UploadTarget) async throws(TransferError) -> [String] {
        let answer = try await client.perform(.get, "", query: [("uploads", ""), ("prefix", target.url)])
        guard answer.isSuccess else { throw client.refused(answer, target.url, "listing unfinished uploads") }
        return S3Answer(answer).each("Upload").filter { $0.first("Key") == target.url }
            .compactMap { $0.first("UploadId") }
    }

    private func sendParts(
        _ target: UploadTarget, _ upload: String, _ tries: inout UploadTries
    ) async throws(TransferError) {
        let parts = S3Parts(target.file)
        var there = try await listed(target, upload)
        tries.note(reached: there.values.reduce(0) { $0 + $1.size })
        for number in 1...parts.count {
            let lane = lane
            let digests = try await lane.run { () throws(TransferError) in try parts.digests(number) }
            if let part = there[number], part.size == parts.count(number), part.tag == digests.md5 { continue }
            let answer = try await client.perform(
                .put, target.url, query: [("partNumber", String(number)), ("uploadId", upload)],
                body: .filePart(path: target.file.path, offset: parts.offset(number), count: parts.count(number)),
                payload: digests.sha256, progress: target.course.sending(after: parts.offset(number), tries))
            guard answer.isSuccess else { throw client.refused(answer, target.url, "sending part \(number)") }
            there[number] = Part(number: number, size: parts.count(number), tag: digests.md5)
            tries.note(reached: parts.offset(number) + parts.count(number))
        }
    }

    private struct Part {
        let number: Int
        let size: Int64
        /// Without its quotes.
        let tag: String
    }

    private func listed(_ target: UploadTarget, _ upload: String) async throws(TransferError) -> [Int: Part] {
        let answer = try await client.perform(
            .get, target.url, query: [("uploadId", upload), ("max-parts", String(S3Parts.maximumCount))])
        guard answer.isSuccess else { throw client.refused(answer, target.url, "listing the parts") }
        let cut = S3Parts(target.file)
        var parts: [Int: Part] = [:]
        for part in S3Answer(answer).each("Part") {
            // Of another size it is none of the file's; and sums of what a server says must not overflow.
            guard let number = part.first("PartNumber").flatMap({ Int($0) }), number >= 1, number <= cut.count,
                let size = part.first("Size").flatMap({ Int64($0) }), size == cut.count(number),
                let tag = part.first("ETag")
            else { continue }
            parts[number] = Part(number: number, size: size, tag: tag.filter { $0 != "\"" })
        }
        return parts
    }

    // MARK: The name

    func commit(_ target: UploadTarget, part: String) async throws(TransferError) {
        var part = part
        for round in 1...Uploader.attempts {
            let current = part
            let isOurs = try await options.retries.repeating(target) { tries throws(TransferError) in
                if tries.attempt > 1, try await isThere(target) { return false }
                return try await write(target, current, &tries)
            }
            guard isOurs else { return await discard(target, part: current) }
            let isRight = try await options.retries.repeating(target) { tries throws(TransferError) in
                target.course.say(.readingBack, bytes: target.file.size, tries)
                return try await client.holds(target.url, target.file) == true
            }
            if isRight { return }
            // What is there now is ours and wrong: nothing is better.
            _ = try? await client.perform(.delete, target.url)
            guard round < Uploader.attempts, let again = try await stage(target) else { break }
            part = again
        }
        throw failure(
            .corrupted, target,
            "the server took it, but other bytes were read back, \(Uploader.attempts) times; look at its disk and at what "
                + "stands between")
    }

    /// - Returns: False when the object is there already, with the right bytes.
    private func write(
        _ target: UploadTarget, _ part: String, _ tries: inout UploadTries
    ) async throws(TransferError) -> Bool {
        var answer = try await complete(target, part, isNew: true, tries)
        if answer.status == 501 || S3Answer(answer).first("Code") == "NotImplemented" {
            if try await isThere(target) { return false }
            answer = try await complete(target, part, isNew: false, tries)
        }
        if answer.isSuccess, !S3Answer(answer).isError { return true }
        // 412 and 409: somebody else was first; 404: an answer was lost, and the upload is complete.
        if [404, 409, 412].contains(answer.status), try await isThere(target) { return false }
        throw client.refused(answer, target.url, "giving it its name")
    }

    private func complete(
        _ target: UploadTarget, _ part: String, isNew: Bool, _ tries: UploadTries
    ) async throws(TransferError) -> TransferResponse {
        guard part != Self.whole else {
            return try await client.perform(
                .put, target.url, body: .file(path: target.file.path), payload: target.file.sha256, isNew: isNew,
                progress: target.course.sending(after: 0, tries))
        }
        target.course.say(.moving, bytes: target.file.size, tries)
        let parts = try await listed(target, part).values.sorted { $0.number < $1.number }
        let body =
            "<CompleteMultipartUpload xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">"
            + parts.map { "<Part><PartNumber>\($0.number)</PartNumber><ETag>\"\($0.tag)\"</ETag></Part>" }.joined()
            + "</CompleteMultipartUpload>"
        return try await client.perform(
            .post, target.url, query: [("uploadId", part)], body: .bytes(Array(body.utf8)),
            payload: S3Signature.sha256(body), isNew: isNew)
    }

    // MARK: Clearing up

    func discard(_ target: UploadTarget, part: String) async {
        guard part != Self.whole else { return }
        // An error is under way, or the object is there: what is left costs space, and the bucket's rules end it.
        _ = try? await client.perform(.delete, target.url, query: [("uploadId", part)])
    }

    func leftParts(_ target: UploadTarget) async -> [String] {
        guard options.session != nil, target.file.size >= S3Parts.threshold else { return [] }
        // Asked for clearing up alone.
        return (try? await uploads(target)) ?? []
    }

    /// - Throws: `exists` when it holds other bytes.
    private func isThere(_ target: UploadTarget) async throws(TransferError) -> Bool {
        switch try await client.holds(target.url, target.file) {
        case nil: return false
        case true?: return true
        case false?: throw failure(.exists, target, UploadMessage.exists)
        }
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
