import Basics
import Model
import Settings
import TestSupport
import Testing
import Transfer

@testable import Releases

@Suite struct UploadNotesTests {
    @Test func testThatWhatIsKeptIsThereForTheNextProcessAndGoesWhenItIsForgotten() async throws {
        try await withTemporaryDirectory { directory in
            // given
            let place = directory.path("integrations/kit/3/_trigger-office/uploads")

            // when
            await UploadNotes(directory: place).save("one\n1 a b", of: "s3://a/b")
            await UploadNotes(directory: place).save("two", of: "s3://a/c")

            // then
            let next = UploadNotes(directory: place)
            #expect(await next.load("s3://a/b") == "one\n1 a b")
            #expect(await next.load("s3://a/d") == nil)
            await next.save(nil, of: "s3://a/b")
            #expect(await next.load("s3://a/b") == nil)
            #expect(await next.load("s3://a/c") == "two")
            await next.save(nil, of: "s3://a/c")
            expectNoFile(place)
        }
    }

    /// A bucket of one object, whose parts have tags that the server chooses.
    private final class Bucket: Transport {
        struct State {
            var begun = 0
            var sent: [String] = []
            var isDone = false
            var breaksAt: String? = "2"
        }

        let state = Locked(State())
        let sha256: String
        let size: Int64

        init(_ file: Artifact) { (sha256, size) = (file.sha256, file.size.bytes) }

        func perform(_ request: TransferRequest) async throws(TransferError) -> TransferResponse {
            let part = request.url.split(separator: "partNumber=").dropFirst().first.map {
                String($0.prefix { $0 != "&" })
            }
            let answer: TransferResponse? = state.withLock { state in
                switch request.method {
                case .put:
                    let part = part ?? ""
                    if state.breaksAt == part {
                        state.breaksAt = nil
                        return nil
                    }
                    state.sent.append(part)
                    return TransferResponse(status: 200, headers: ["ETag": "\"t\(part)\""])
                case .post where request.url.contains("uploadId="):
                    state.isDone = true
                    return TransferResponse(status: 200)
                case .post:
                    state.begun += 1
                    return TransferResponse(status: 200, body: Array("<R><UploadId>u</UploadId></R>".utf8))
                case .get where request.url.contains("uploadId="):
                    let list = state.sent.map {
                        "<Part><PartNumber>\($0)</PartNumber><ETag>t\($0)</ETag><Size>\(5 << 20)</Size></Part>"
                    }
                    return TransferResponse(status: 200, body: Array(list.joined().utf8))
                case .get where state.isDone: return TransferResponse(status: 200, size: size, sha256: sha256)
                case .get: return TransferResponse(status: 404)
                default: return TransferResponse(status: 204)
                }
            }
            guard let answer else {
                throw TransferError(code: .canceled, operation: "PUT", message: "the process ended")
            }
            return answer
        }

        func stream(_ request: TransferRequest) async throws(TransferError) -> TransferStream {
            throw TransferError(code: .invalid, operation: "stream", message: "a bucket is not streamed")
        }
    }

    @Test(
        .proves(
            .releases,
            "Uploads: Broken off: resumed (sftp, ftp, S3's parts) or restarted (http); tries bounded, each told (U1f, U2f)"
        ))
    func testThatU2fTheNextDaemonGoesOnWithItsOwnUpload() async throws {
        try await withTemporaryDirectory { directory in
            // given: a daemon that ended during the second of four parts
            let text = String(repeating: "x", count: 17 << 20)
            let path = try directory.write("made/kit.tar", text)
            let artifact = Artifact(
                configuration: nil, path: "kit.tar", size: ByteCount(17 << 20),
                sha256: Digest.sha256(of: Array(text.utf8)))
            let secrets = SecretStore(directory: directory.path("secrets"), credentialsDirectory: nil)
            try secrets.set("office", "AKIA:key")
            let shipment = Uploads.Shipment(
                files: [.init(path: path, artifact: artifact)], template: "s3://acme/kit/?endpoint=https://s3.example",
                values: ["commit": "c"], credentials: "office",
                integration: IntegrationID(bot: try #require(Name("kit")), number: 3),
                trigger: try #require(Name("office")),
                notes: directory.path("notes"))
            let bucket = Bucket(artifact)
            await expectRejection(TransferError.self, \.code, .canceled) {
                try await Uploads(uploader: Uploader(transport: bucket), secrets: secrets).send(shipment)
            }

            // when
            let sent = try await Uploads(uploader: Uploader(transport: bucket), secrets: secrets).send(shipment)

            // then
            #expect(sent == "uploaded 1 file")
            #expect(bucket.state.value.begun == 1)
            #expect(bucket.state.value.sent == ["1", "2", "3", "4"])
            expectNoFile(directory.path("notes"))
        }
    }
}
