import Basics
import Foundation
import HTTPTypes
import Hummingbird
import Model

/// A file whose digest is known before it is opened, and the answer that sends it.
struct PublishedFile: Sendable {
    /// An absolute directory of the operator's; the file lies beneath it.
    let root: String
    let path: String
    let artifact: Artifact
    let cacheControl: String
    let sender: FileSender

    /// - Throws: 404 when the file is gone; 500 when its size is not the one that was recorded: what rotted is not
    ///   served.
    func response(to request: Request) async throws -> Response {
        let (file, status) = try await open()
        guard status.size == artifact.size.bytes else { throw Rotten(path: path, size: status.size) }
        let entityTag = "\"\(artifact.sha256)\""
        let modified = Timestamp(millisecondsSinceEpoch: max(0, status.modified / 1_000_000))
        var headers = self.headers(entityTag: entityTag, modified: modified)
        let asked = request.headers
        let conditions = Preconditions(
            ifMatch: asked[.ifMatch], ifNoneMatch: asked[.ifNoneMatch], ifModifiedSince: asked[.ifModifiedSince],
            ifUnmodifiedSince: asked[.ifUnmodifiedSince], ifRange: asked[.ifRange])
        switch conditions.judge(entityTag: entityTag, modified: modified) {
        case .notModified:
            headers[.contentType] = nil
            return Response(status: .notModified, headers: headers)
        case .failed: throw Problem(412, "The file is another than the one that the request names.")
        case .send: break
        }
        let isRangeAllowed = conditions.allowsRange(entityTag: entityTag, modified: modified)
        switch isRangeAllowed ? ByteRange(header: asked[.range], size: status.size) : .whole {
        case .whole:
            return Response(status: .ok, headers: headers, body: sender.body(of: file, range: 0..<status.size))
        case .part(let range):
            headers[.contentRange] = "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(status.size)"
            return Response(status: .partialContent, headers: headers, body: sender.body(of: file, range: range))
        case .unsatisfiable:
            headers[.contentRange] = "bytes */\(status.size)"
            return Response(status: .rangeNotSatisfiable, headers: headers)
        }
    }

    private func open() async throws -> (OpenFile, FileStatus) {
        do throws(FileError) {
            return try await sender.run { [root, path] () throws(FileError) in
                let directory = try Directory(opening: root)
                let file = OpenFile(descriptor: try directory.openForReading(path))
                guard let status = try directory.status(path) else {
                    throw FileError(operation: "open", path: path, errno: ENOENT)
                }
                return (file, status)
            }
        } catch  where [.notFound, .notDirectory, .isDirectory].contains(error.code) {
            throw Problem.notFound
        }
    }

    private func headers(entityTag: String, modified: Timestamp) -> HTTPFields {
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
        return headers
    }

    struct Rotten: Error, CustomStringConvertible {
        let path: String
        let size: Int64
        var description: String {
            "\(path) has \(size) bytes, which is not what was recorded: it was changed or damaged on the disk; "
                + "restore it from a backup (its digest is in manifest.json)"
        }
    }
}
