import Basics
import Encodings
import Foundation
import HTTPTypes
import Hummingbird
import Model

/// The response head for a file whose size and digest are known. Headers, conditions and ranges are decided only here.
struct FileHead: Sendable {
    /// The size of the whole file, in bytes.
    let size: Int64
    /// The SHA-256 of the file, in quotation marks.
    let entityTag: String
    /// `nil` for an export, which may change twice within a second: HTTP dates are not precise enough.
    let modified: Timestamp?
    /// The headers of an answer with the whole file, without those that every answer of the service has.
    private let headers: HTTPFields

    /// Creates the head for a published or archived file.
    /// - Parameter artifact: The record of the file, with its size and digest.
    init(_ artifact: Artifact, modified: Timestamp, cacheControl: String) {
        size = artifact.size.bytes
        entityTag = "\"\(artifact.sha256)\""
        self.modified = modified
        let name = artifact.path.split(separator: "/").last.map(String.init) ?? "file"
        let media = FileMediaType(fileName: name)
        var headers = HTTPFields()
        headers[.contentType] = media.type
        headers[.eTag] = entityTag
        headers[.lastModified] = HTTPDate.text(modified.millisecondsSinceEpoch / 1000)
        headers[.acceptRanges] = "bytes"
        headers[.cacheControl] = cacheControl
        if media.isAttachment { headers[.contentDisposition] = FileMediaType.disposition(name) }
        // RFC 9530: the digest is of the whole file, even if only a part is sent.
        if let digest = Hexadecimal.decode(artifact.sha256), let name = HTTPField.Name("Repr-Digest") {
            headers[name] = "sha-256=:\(Data(digest).base64EncodedString()):"
        }
        self.headers = headers
    }

    /// Creates the head for an export, which may change at any time.
    /// - Parameters:
    ///   - size: The size of the export, in bytes.
    ///   - sha256: Its digest in hexadecimal digits.
    init(exportOf size: Int64, sha256: String, type: String) {
        self.size = size
        entityTag = "\"\(sha256)\""
        modified = nil
        var headers = HTTPFields()
        headers[.contentType] = type
        headers[.eTag] = entityTag
        headers[.acceptRanges] = "bytes"
        self.headers = headers
    }

    /// An answer without its body.
    struct Answer: Sendable {
        let status: HTTPResponse.Status
        let headers: HTTPFields
        /// The part of the file that is the body; `nil` if there is no body.
        let range: Range<Int64>?
    }

    /// Decides the answer to a request.
    /// - Parameters:
    ///   - asked: The request's headers.
    ///   - isHead: Whether the method is HEAD, for which `Range` is ignored (RFC 9110, section 14.2).
    /// - Throws: 412 if a condition of the request fails.
    func answer(to asked: HTTPFields, isHead: Bool) throws(Problem) -> Answer {
        // The common case needs no header lookups.
        if asked.isEmpty { return Answer(status: .ok, headers: headers, range: 0..<size) }
        var headers = headers
        let conditions = Preconditions(
            ifMatch: asked[.ifMatch], ifNoneMatch: asked[.ifNoneMatch], ifModifiedSince: asked[.ifModifiedSince],
            ifUnmodifiedSince: asked[.ifUnmodifiedSince], ifRange: asked[.ifRange])
        switch conditions.judge(entityTag: entityTag, modified: modified) {
        case .notModified:
            headers[.contentType] = nil
            return Answer(status: .notModified, headers: headers, range: nil)
        case .failed: throw Problem(412, "The file is another than the one that the request names.")
        case .send: break
        }
        let isRangeAllowed = !isHead && conditions.allowsRange(entityTag: entityTag, modified: modified)
        switch isRangeAllowed ? ByteRange(header: asked[.range], size: size) : .whole {
        case .whole: return Answer(status: .ok, headers: headers, range: 0..<size)
        case .part(let range):
            headers[.contentRange] = "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(size)"
            return Answer(status: .partialContent, headers: headers, range: range)
        case .unsatisfiable:
            headers[.contentRange] = "bytes */\(size)"
            return Answer(status: .rangeNotSatisfiable, headers: headers, range: nil)
        }
    }

    /// Returns whether an answer contains the file's last byte. Only such answers count as downloads.
    func isDownload(_ answer: Answer) -> Bool { answer.range?.upperBound == size }
}
