import Basics
import Foundation
import HTTPTypes
import Hummingbird
import Model

/// What is answered about a file whose bytes are known: the one place that decides headers, conditions and ranges.
struct FileHead: Sendable {
    /// Of the whole file, in bytes.
    let size: Int64
    /// With its quotation marks; the file's SHA-256.
    let entityTag: String
    /// `nil` for an export: a second is too long for what may change within it.
    let modified: Timestamp?
    /// Of an answer with the whole file, but for what every answer of the service has.
    private let headers: HTTPFields

    /// - Parameter artifact: Its size and digest are the file's.
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
        // RFC 9530: of the whole file, also with a part of it.
        if let digest = Hexadecimal.decode(artifact.sha256), let name = HTTPField.Name("Repr-Digest") {
            headers[name] = "sha-256=:\(Data(digest).base64EncodedString()):"
        }
        self.headers = headers
    }

    /// An export, which may change at any time.
    /// - Parameter sha256: In hexadecimal digits.
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
        /// The part of the file that is the body; nothing: there is none.
        let range: Range<Int64>?
    }

    /// - Parameters:
    ///   - asked: A request's headers.
    ///   - isHead: Whether it is a HEAD, for which `Range` means nothing (RFC 9110, section 14.2).
    /// - Throws: 412.
    func answer(to asked: HTTPFields, isHead: Bool) throws(Problem) -> Answer {
        // As most are: nothing is looked up.
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

    /// Whether an answer's last byte is the file's, which makes it a download; parts from elsewhere make none.
    func isDownload(_ answer: Answer) -> Bool { answer.range?.upperBound == size }
}
