import Basics

/// The parts of a multipart upload. They are not visible before the upload is completed.
struct S3Multipart: Sendable {
    let client: S3Client
    let records: S3Records
    let queue: SerialQueue

    /// Sends the missing parts of a file.
    /// - Returns: The server's id of the upload.
    /// - Throws: `corrupted` if the file's bytes are not those that were built.
    func send(_ target: UploadTarget, _ tries: inout UploadTries) async throws(TransferError) -> String {
        var record = try await begun(target)
        let parts = S3Parts(target.file)
        let there = try await listed(target, record)
        tries.record(reached: there.keys.reduce(0) { $0 + parts.count($1) })
        let whole = S3Parts.Whole()
        for number in 1...parts.count {
            let digests = try await queue.run { () throws(TransferError) in try parts.digests(number, into: whole) }
            if let tag = there[number] {
                let part = S3Record.Part(md5: digests.md5, tag: tag)
                if tag == digests.md5 || record.parts[number] == part {
                    record.parts[number] = part
                    continue
                }
            }
            let answer = try await client.perform(
                .put, target.url, query: [("partNumber", String(number)), ("uploadId", record.upload)],
                body: .filePart(path: target.file.path, offset: parts.offset(number), count: parts.count(number)),
                payload: digests.sha256, progress: target.course.sending(after: parts.offset(number), tries))
            guard answer.isSuccess else { throw try await refused(answer, target, "sending part \(number)") }
            let tag = Self.tag(answer) ?? digests.md5
            record.parts[number] = S3Record.Part(md5: digests.md5, tag: tag)
            await records.set(record, of: target, isKept: tag != digests.md5)
            tries.record(reached: parts.offset(number) + parts.count(number))
        }
        await records.set(record, of: target, isKept: false)
        // Checked before any file gets its name, because the parts' digests are those of the file's current content.
        guard whole.sha256 == target.file.sha256 else {
            throw TransferError(
                code: .corrupted, operation: "upload to \(target.shown)",
                message: "\(target.file.path) has other bytes than were built; look at this machine's disk")
        }
        return record.upload
    }

    /// Completes the upload: makes an object of exactly these parts.
    func complete(_ target: UploadTarget, isNew: Bool) async throws(TransferError) -> TransferResponse {
        let record = try await begun(target)
        let lines = (1...S3Parts(target.file).count).map { number in
            "<Part><PartNumber>\(number)</PartNumber><ETag>\"\(record.parts[number]?.tag ?? "")\"</ETag></Part>"
        }
        let body =
            "<CompleteMultipartUpload xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">" + lines.joined()
            + "</CompleteMultipartUpload>"
        return try await client.perform(
            .post, target.url, query: [("uploadId", record.upload)], body: .bytes(Array(body.utf8)),
            payload: S3Signature.sha256(body), isNew: isNew)
    }

    /// Returns the ETag in an answer, without quotes; `nil` if there is none.
    static func tag(_ answer: TransferResponse) -> String? {
        let tag = (answer.headers["ETag"] ?? S3Answer(answer).first("ETag"))?.filter { $0 != "\"" } ?? ""
        // A tag that could end a line of the record or an XML element is ignored.
        return tag.isEmpty || tag.contains { $0.isWhitespace || $0 == "<" || $0 == "&" } ? nil : tag
    }

    /// Whether the server has ended the upload, for instance by a rule of the bucket.
    static func isGone(_ answer: TransferResponse) -> Bool {
        answer.status == 404 && S3Answer(answer).first("Code") != "NoSuchBucket"
            || S3Answer(answer).first("Code") == "NoSuchUpload"
    }

    /// Returns the upload of an earlier try or process, or starts a new one.
    private func begun(_ target: UploadTarget) async throws(TransferError) -> S3Record {
        if let record = await records[target] { return record }
        let answer = try await client.perform(.post, target.url, query: [("uploads", "")])
        guard answer.isSuccess, let id = S3Answer(answer).first("UploadId"), !id.isEmpty, !id.contains("\n") else {
            throw client.refused(answer, target.url, "beginning the upload")
        }
        let record = S3Record(upload: id)
        await records.set(record, of: target, isKept: true)
        return record
    }

    /// Returns the tags of the parts that the server has, keyed by number.
    private func listed(_ target: UploadTarget, _ record: S3Record) async throws(TransferError) -> [Int: String] {
        let answer = try await client.perform(
            .get, target.url, query: [("uploadId", record.upload), ("max-parts", String(S3Parts.maximumCount))])
        // A key without the permission to list parts can still use those that this process sent.
        if answer.status == 403, S3Answer(answer).first("Code") == "AccessDenied" {
            return record.parts.mapValues(\.tag)
        }
        guard answer.isSuccess else { throw try await refused(answer, target, "listing the parts") }
        let cut = S3Parts(target.file)
        var parts: [Int: String] = [:]
        for part in S3Answer(answer).each("Part") {
            // A part of another size is not of this file. Sizes from the server must also not overflow when they are
            // added.
            guard let number = part.first("PartNumber").flatMap({ Int($0) }), number >= 1, number <= cut.count,
                let size = part.first("Size").flatMap({ Int64($0) }), size == cut.count(number),
                let tag = part.first("ETag")
            else { continue }
            parts[number] = tag.filter { $0 != "\"" }
        }
        return parts
    }

    private func refused(
        _ answer: TransferResponse, _ target: UploadTarget, _ step: String
    ) async throws(TransferError) -> TransferError {
        guard Self.isGone(answer) else { return client.refused(answer, target.url, step) }
        await records.forget(target)
        return TransferError(
            code: .interrupted, operation: "upload to \(target.shown)",
            message: "\(step): the server has ended the upload that was begun; another one begins")
    }
}
