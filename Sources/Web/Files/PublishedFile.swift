import Basics
import Hummingbird
import Model

/// A file whose digest is known before it is opened, and the answer that sends it.
struct PublishedFile: Sendable {
    /// The absolute path of a directory of the operator; the file is in it.
    let root: String
    let path: String
    let artifact: Artifact
    let cacheControl: String
    let site: Site
    /// The key under which a download is counted; `nil`: it is not counted.
    var download: Downloads.Key?
    /// Whether the next requests may be answered from memory, because only the path determines the answer.
    var isKept = false

    /// Answers a request for the file.
    /// - Throws: 404 if the file is gone; 500 if it differs from its record, since damaged files are not served.
    func response(to call: AuthorizedRequest) async throws -> Response {
        let file = try await open()
        let status = file.status
        guard status.size == artifact.size.bytes else { throw rotten("it has \(status.size) bytes") }
        let head = FileHead(
            artifact, modified: Timestamp(millisecondsSinceEpoch: max(0, status.modified / 1_000_000)),
            cacheControl: cacheControl)
        let isSmall = head.size <= Int64(FileCache.maximumFileBytes)
        let isHead = call.request.method == .head
        let answer = try head.answer(to: call.request.headers, isHead: isHead)
        // A file that fits into memory is read and verified each time, a larger one once. An answer without any bytes of the file is not verified,
        // unless the file is known to be damaged: a proxy may ask for the headers before it transfers 64 GiB.
        let bytes = isSmall ? try await read(file.file) : nil
        let isSent = answer.range != nil && !isHead
        if isSmall || isSent || site.checks.isKnownDamaged(place) {
            if bytes == nil, try await !site.checks.isWhole(file, sha256: artifact.sha256) {
                throw rotten("its bytes are others")
            }
            site.checks.isWell(place)
        }
        if let bytes, isKept, call.isAnonymous {
            site.fileCache.put(.init(head: head, bytes: bytes, download: download), at: call.request.head.path ?? "")
        }
        guard let range = answer.range else { return Response(status: answer.status, headers: answer.headers) }
        let downloaded = head.isDownload(answer) ? download : nil
        let onSent: @Sendable () -> Void = { [site] in if let downloaded { site.downloads.count(downloaded) } }
        let body =
            if let bytes {
                site.files.body(of: bytes, range: Int(range.lowerBound)..<Int(range.upperBound), onSent: onSent)
            } else { site.files.body(of: file.file, range: range, over: call.channel, call.progress, onSent: onSent) }
        return Response(status: answer.status, headers: answer.headers, body: body)
    }

    private var place: String { "\(root)/\(path)" }

    private func open() async throws -> RecordedFile {
        do throws(FileError) {
            return try await site.files.run { [root, path] () throws(FileError) in
                try RecordedFile(path, beneath: root)
            }
        } catch  where [.notFound, .notDirectory, .isDirectory].contains(error.code) {
            throw Problem.notFound
        }
    }

    private func read(_ file: OpenFile) async throws -> ByteBuffer {
        let size = Int(artifact.size.bytes)
        let bytes: [UInt8]
        do throws(OpenFile.ReadError) {
            bytes = try await site.files.run { () throws(OpenFile.ReadError) in try file.read(at: 0, count: size) }
        } catch {
            throw rotten("it cannot be read (errno \(error.errno))")
        }
        guard Digest.sha256(of: bytes) == artifact.sha256 else { throw rotten("its bytes are others") }
        return ByteBuffer(bytes: bytes)
    }

    private func rotten(_ what: String) -> Rotten {
        site.checks.isDamaged(place, at: site.clock())
        return Rotten(path: place, what: what)
    }

    struct Rotten: Error, CustomStringConvertible {
        let path: String
        let what: String
        var description: String {
            "\(path) is not what was recorded, \(what): it was changed or damaged on the disk; "
                + "restore it from a backup (digests of a version's files are in its manifest.json)"
        }
    }
}
