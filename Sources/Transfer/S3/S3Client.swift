import Foundation

/// A client for signed requests to one bucket.
struct S3Client: Sendable {
    let transport: any Transport
    let options: UploadOptions
    let bucket: S3Bucket
    /// The current time in seconds since 1970.
    let now: @Sendable () -> Int64

    /// The size limit of an answer in bytes. A list of 1,000 parts has 0.3 MB.
    private static let answerLimit: Int64 = 4 << 20

    /// Performs a signed request.
    /// - Parameters:
    ///   - payload: The body's SHA-256. The server refuses another body (`XAmzContentSHA256Mismatch`).
    ///   - isNew: Whether the object must not exist yet.
    ///   - match: The tag that the existing object must have.
    ///   - progress: See `TransferRequest`.
    func perform(
        _ method: TransferRequest.Method, _ key: String, query: [(String, String)] = [],
        body: TransferRequest.Body = .none, payload: String = S3Signature.emptyPayload, isNew: Bool = false,
        match: String? = nil, progress: (@Sendable (Int64) -> Void)? = nil
    ) async throws(TransferError) -> TransferResponse {
        var headers: TransferHeaders = isNew ? ["If-None-Match": "*"] : [:]
        if let match { headers["If-Match"] = "\"\(match)\"" }
        var request = try signed(method, key, query: query, payload: payload, headers: headers)
        request.body = body
        request.limits = options.limits(for: body.size)
        request.progress = progress
        request.limits.response = Self.answerLimit
        return try await transport.perform(request)
    }

    /// The result of reading an object.
    struct Found: Sendable {
        /// Whether it has the file's bytes.
        let isRight: Bool
        /// The object's ETag without quotes; `nil` if the server does not state one.
        var tag: String?
    }

    /// Reads an object; `nil` if it does not exist.
    func holds(_ key: String, _ file: UploadFile) async throws(TransferError) -> Found? {
        var request = try signed(.get, key, query: [], payload: S3Signature.emptyPayload)
        request.destination = .digest
        request.limits = options.limits(for: file.size)
        request.limits.response = file.size + RemoteUpload.errorPage
        let answer: TransferResponse
        do throws(TransferError) {
            answer = try await transport.perform(request)
        } catch  where error.code == .tooLarge {
            return Found(isRight: false)
        }
        switch answer.status {
        case 200:
            return Found(
                isRight: answer.size == file.size && answer.sha256 == file.sha256, tag: S3Multipart.tag(answer))
        case 404: return nil
        default:
            // The answer's body was hashed and is gone, so the request is repeated for its message. An answer with another status, such as the object
            // itself, does not explain this one.
            let again = try? await perform(.get, key)
            throw refused(again?.status == answer.status ? again ?? answer : answer, key, "reading what is there")
        }
    }

    private func signed(
        _ method: TransferRequest.Method, _ key: String, query: [(String, String)], payload: String,
        headers: TransferHeaders = [:]
    ) throws(TransferError) -> TransferRequest {
        guard case .password(let user?, let password) = options.credentials, !user.isEmpty else {
            throw TransferError(
                code: .credentials, operation: "upload to s3://\(bucket.name)/\(key)",
                message: "an S3 server wants ACCESSKEY:SECRET; store it as the secret that `credentials:` names")
        }
        let signature = S3Signature(accessKey: user, secret: password, region: bucket.region)
        let path = bucket.path(key)
        var headers = headers
        if method == .put { headers["Content-Type"] = "application/octet-stream" }
        let text = S3Signature.query(query)
        var request = TransferRequest(
            method, "\(bucket.scheme)\(bucket.host)\(path)" + (text.isEmpty ? "" : "?" + text),
            headers: signature.headers(
                method.rawValue, host: bucket.host, path: path, query: query, headers: headers, payload: payload,
                time: now()))
        request.isPlainHTTPAllowed = options.isPlainHTTPAllowed
        request.certificateAuthorities = options.certificateAuthorities
        request.limits = options.limits
        return request
    }

    /// Converts a refusal of the server into an error.
    func refused(_ answer: TransferResponse, _ key: String, _ step: String) -> TransferError {
        let text = S3Answer(answer)
        let said =
            text.first("Code").map { code in ": \(code)" + (text.first("Message").map { ", \($0)" } ?? "") } ?? ""
        let (code, advice): (TransferError.Code, String) =
            switch (answer.status, text.first("Code")) {
            // S3 asks for another try in these cases, although the status does not.
            case (_, "RequestTimeout"), (_, "ConditionalRequestConflict"), (_, "OperationAborted"):
                (.interrupted, "the server asks to try again")
            case (_, "RequestTimeTooSkewed"):
                (.credentials, "this machine's clock and the server's differ; set the clock")
            case (_, "SignatureDoesNotMatch"), (_, "InvalidAccessKeyId"), (401, _):
                (.credentials, "the server refused the access key or its secret; see `credentials:` of the trigger")
            case (_, "AuthorizationHeaderMalformed"), (300..<400, _):
                (.status, "the bucket is in another region; write the right region= into the address")
            case (403, _): (.denied, "the server denies it to this access key")
            case (_, "NoSuchBucket"): (.notFound, "there is no such bucket; make it first")
            case (404, _): (.notFound, "the server does not know it")
            case (507, _): (.status, "the server's disk is full")
            case (500..., _): (.status, "the server failed")
            default: (.status, "the server did not accept it")
            }
        return TransferError(
            code: code, operation: "upload to s3://\(bucket.name)/\(key)",
            message: "\(step): status \(answer.status)\(said.prefix(500)); \(advice)",
            // An error within an answer of status 200 is a failure of the server (AWS, "CompleteMultipartUpload").
            status: answer.isSuccess ? 500 : answer.status)
    }
}
