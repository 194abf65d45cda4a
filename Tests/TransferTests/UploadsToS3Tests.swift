import Foundation
import TestSupport
import Testing
import Transfer

/// Uploads into a bucket of OpenStack Swift, which checks every signature and every digest.
@Suite(
    .proves(.releases, "Uploads: S3 (sigv4), against a strict server"), .program("swift-proxy-server"),
    .program("swift-object-server"), .program("memcached"), .program("curl"))
struct UploadsToS3Tests {
    @Test func testThatFilesArriveWholeAndOnce() async throws {
        try await withTemporaryDirectory { directory in
            try await StrictS3Server.running(in: directory) { server in
                // given
                let files = [
                    try UploaderTests.file(directory, "kit 1+größe.tar.zst", String(repeating: "x", count: 20 << 20)),
                    try UploaderTests.file(directory, "SHA256SUMS", "sums"),
                    try UploaderTests.file(directory, "empty", ""),
                ]
                let uploader = try Uploader(transport: CurlTransport())
                let progress = Locked<[UploadProgress]>([])
                var options = server.options
                options.progress = { told in progress.withLock { $0.append(told) } }

                // when
                let first = try await uploader.upload(
                    files, to: server.url(), values: ["version": "1.0.0"], options: options)
                let second = try await uploader.upload(
                    files, to: server.url(), values: ["version": "1.0.0"], options: options)

                // then
                #expect(first.map(\.outcome) == [.uploaded, .uploaded, .uploaded])
                #expect(first.map(\.url) == files.map { "s3://files/kit/1.0.0/" + $0.name })
                #expect(second.map(\.outcome) == [.alreadyThere, .alreadyThere, .alreadyThere])
                let listing = try await server.listing()
                #expect(listing.keys == ["kit/1.0.0/SHA256SUMS", "kit/1.0.0/empty", "kit/1.0.0/kit 1+größe.tar.zst"])
                #expect(listing.uploads == 0)
                let told = progress.withLock { $0 }.filter { $0.number == 1 && $0.phase == .sending }
                #expect(told.last?.bytes == 20 << 20)
                #expect(told.map(\.bytes) == told.map(\.bytes).sorted())

                // and other bytes
                for (name, text) in [
                    ("SHA256SUMS", "other"), ("kit 1+größe.tar.zst", String(repeating: "y", count: 20 << 20)),
                ] {
                    let other = try UploaderTests.file(directory, name, text)
                    await expectRejection(TransferError.self, \.code, .exists) {
                        try await uploader.upload(
                            [other], to: server.url(), values: ["version": "1.0.0"], options: server.options)
                    }
                }
                #expect(
                    try await uploader.upload(
                        [try UploaderTests.file(directory, "SHA256SUMS", "sums")], to: server.url(),
                        values: ["version": "1.0.0"], options: options
                    ).map(\.outcome) == [.alreadyThere])
            }
        }
    }

    @Test func testThatWhatIsWrongIsSaid() async throws {
        try await withTemporaryDirectory { directory in
            try await StrictS3Server.running(in: directory) { server in
                // given
                let file = try UploaderTests.file(directory, "a", "one")
                let lie = UploadFile(path: file.path, name: "a", sha256: S3Lie.digest, size: file.size)
                let uploader = try Uploader(transport: CurlTransport())
                let values = ["version": "1.0.0"]
                func expect(
                    _ code: TransferError.Code, _ words: String, file: UploadFile, bucket: String = "files",
                    credentials: TransferCredentials?, sourceLocation: SourceLocation = #_sourceLocation
                ) async {
                    var options = server.options
                    options.credentials = credentials
                    let error = await expectRejection(
                        TransferError.self, \.code, code, sourceLocation: sourceLocation
                    ) {
                        try await uploader.upload(
                            [file], to: server.url(bucket: bucket), values: values, options: options)
                    }
                    expectContains(error?.message ?? "", words, sourceLocation: sourceLocation)
                    #expect(error?.description.contains("canary") == false, sourceLocation: sourceLocation)
                }
                let right = server.options.credentials

                // when, then
                await expect(
                    .credentials, "SignatureDoesNotMatch", file: file,
                    credentials: .password(user: StrictS3Server.accessKey, password: "canary-wrong"))
                await expect(
                    .credentials, "access key", file: file, credentials: .password(user: "nobody", password: "canary"))
                await expect(.credentials, "ACCESSKEY:SECRET", file: file, credentials: .bearer(token: "canary"))
                await expect(.notFound, "bucket", file: file, bucket: "absent", credentials: right)
                // The server checks the digest that the signature covers, so other bytes than the built ones never arrive.
                await expect(.status, "BadDigest", file: lie, credentials: right)
                #expect(try await server.listing().keys == [])
            }
        }
    }

    @Test func testThatAClockThatIsWrongIsSaid() async throws {
        try await withTemporaryDirectory { directory in
            try await StrictS3Server.running(in: directory) { server in
                let file = try UploaderTests.file(directory, "a", "one")
                let uploader = try Uploader(transport: CurlTransport(), now: { 1_369_353_600 })
                let error = await expectRejection(TransferError.self, \.code, .credentials) {
                    try await uploader.upload(
                        [file], to: server.url(), values: ["version": "1.0.0"], options: server.options)
                }
                expectContains(error?.message ?? "", "clock")
            }
        }
    }
}

private enum S3Lie {
    /// The digest of other bytes.
    static let digest = String(repeating: "ab", count: 32)
}
