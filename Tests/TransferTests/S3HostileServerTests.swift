import Foundation
import TestSupport
import Testing
import Transfer

/// A bucket's server that answers falsely, or fails at the worst moment.
@Suite(.proves(.releases, "Uploads: S3 (sigv4), against a strict server"))
struct S3HostileServerTests {
    /// A server that answers by a closure, and records its requests.
    private final class Server: Transport {
        private let answer: @Sendable (TransferRequest) throws(TransferError) -> TransferResponse
        private let requests = Locked<[TransferRequest]>([])
        var asked: [TransferRequest] { requests.withLock { $0 } }

        init(_ answer: @escaping @Sendable (TransferRequest) throws(TransferError) -> TransferResponse) {
            self.answer = answer
        }

        func perform(_ request: TransferRequest) async throws(TransferError) -> TransferResponse {
            requests.withLock { $0.append(request) }
            return try answer(request)
        }

        func stream(_ request: TransferRequest) async throws(TransferError) -> TransferStream {
            throw TransferError(code: .invalid, operation: "stream", message: "a bucket is not streamed")
        }
    }

    private func upload(_ file: UploadFile, to server: Server) async throws -> [UploadResult] {
        var options = UploadOptions()
        options.credentials = .password(user: "AKIA", password: "key")
        options.retries = .immediate
        return try await Uploader(transport: server).upload(
            [file], to: "s3://acme/kit/?endpoint=https://s3.example", options: options)
    }

    private static func text(_ status: Int, _ body: String) -> TransferResponse {
        TransferResponse(status: status, headers: [:], body: Array(body.utf8))
    }

    @Test func testThatSizesBeyondAllBoundsEndNothing() async throws {
        try await withTemporaryDirectory { directory in
            // given: parts that the server lists with an impossible size
            let file = try UploaderTests.file(directory, "kit.tar", String(repeating: "x", count: 17 << 20))
            let isThere = Locked(false)
            let server = Server { request throws(TransferError) in
                switch request.method {
                case .get where request.url.contains("uploadId="):
                    let part = "<Size>9223372036854775807</Size><ETag>x</ETag></Part>"
                    return Self.text(
                        200,
                        "<ListPartsResult><Part><PartNumber>1</PartNumber>\(part)<Part><PartNumber>2</PartNumber>\(part)</ListPartsResult>"
                    )
                case .get:
                    return isThere.withLock { $0 }
                        ? TransferResponse(status: 200, headers: [:], size: file.size, sha256: file.sha256)
                        : Self.text(404, "")
                case .post where request.url.contains("uploadId="):
                    isThere.withLock { $0 = true }
                    return Self.text(200, "<CompleteMultipartUploadResult/>")
                case .post: return Self.text(200, "<Result><UploadId>u</UploadId></Result>")
                default: return Self.text(200, "")
                }
            }
            // when
            let results = try await upload(file, to: server)
            // then
            #expect(results.map(\.outcome) == [.uploaded])
            #expect(server.asked.filter { $0.method == .put }.count == 4)
        }
    }

    @Test func testThatAServerThatIsBusyAtTheReadBackLosesNoObject() async throws {
        try await withTemporaryDirectory { directory in
            // given: one answer of 503 when the object exists, which is too large to be read as a text
            let file = try UploaderTests.file(directory, "kit.tar", "bytes")
            let (isThere, isBusy) = (Locked(false), Locked(true))
            let server = Server { request throws(TransferError) in
                switch request.method {
                case .get where !isThere.withLock { $0 }: return Self.text(404, "")
                case .get where request.destination == .digest:
                    let isBusy = isBusy.withLock { busy in
                        defer { busy = false }
                        return busy
                    }
                    return isBusy
                        ? Self.text(503, "")
                        : TransferResponse(status: 200, headers: [:], size: file.size, sha256: file.sha256)
                case .get: throw TransferError(code: .tooLarge, operation: "get", message: "more than 4 MiB")
                default:
                    isThere.withLock { $0 = request.method == .put }
                    return Self.text(200, "")
                }
            }
            // when
            let results = try await upload(file, to: server)
            // then
            #expect(results.map(\.outcome) == [.uploaded])
            #expect(!server.asked.contains { $0.method == .delete })
            #expect(server.asked.filter { $0.method == .put }.count == 1)
        }
    }
}
