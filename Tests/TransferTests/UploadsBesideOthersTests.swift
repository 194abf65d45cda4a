import Foundation
import TestSupport
import Testing
import Transfer

/// Servers that overwrite existing files, and another client that writes to the same place.
@Suite struct UploadsBesideOthersTests {
    private static let base = "https://files.example/kit/"

    private func withServer(
        isMoveSupported: Bool = true, _ body: (FakeTransport, TemporaryDirectory, UploadOptions) async throws -> Void
    ) async throws {
        try await withTemporaryDirectory { directory in
            try await withFakeTransport { transport in
                transport.serve(Self.base, isMoveSupported: isMoveSupported, movesOver: true)
                var options = UploadOptions()
                options.retries = .immediate
                try await body(transport, directory, options)
                _ = transport.takeRequests()
            }
        }
    }

    private func upload(
        _ names: [String], _ transport: FakeTransport, _ directory: TemporaryDirectory, _ options: UploadOptions
    ) async throws -> [UploadResult] {
        let files = try names.map { try UploaderTests.file(directory, $0, "one of \($0)") }
        return try await Uploader(transport: transport, identifiers: SeededIdentifiers()).upload(
            files, to: Self.base, options: options)
    }

    @Test(
        .proves(
            .releases,
            "Uploads: Uploaded beside, read back (size, digest), moved into place; one version at the end (T2, T4, T5, U3f, U5, U6)"
        ))
    func testThatItLooksRightBeforeItMoves() async throws {
        try await withServer { transport, directory, options in
            // given: another client creates `a` first, while `b` is sent
            transport.witness { url in
                if url.contains("/.b.part-") { transport.store(Array("theirs".utf8), at: Self.base + "a") }
            }

            // when, then
            await expectRejection(TransferError.self, \.code, .exists) {
                try await upload(["a", "b"], transport, directory, options)
            }
            #expect(transport.file(Self.base + "a") == Array("theirs".utf8))
            #expect(transport.urls == [Self.base + "a"])
        }
    }

    @Test func testThatTheHalfThatABrokenPutLeftIsWrittenOver() async throws {
        try await withServer(isMoveSupported: false) { transport, directory, options in
            // given: the requests are a check, a part, a read, a check, no MOVE, the part's removal, a check, PUT
            transport.fail(request: 8, with: .breaking)

            // when
            let results = try await upload(["a"], transport, directory, options)

            // then
            #expect(results.map(\.outcome) == [.uploaded])
            #expect(transport.file(Self.base + "a") == Array("one of a".utf8))
            #expect(
                transport.takeRequests().filter { $0.url == Self.base + "a" }.map(\.method) == [
                    .get, .get, .get, .put, .get, .put, .get,
                ])
        }
    }

    @Test func testThatWhatAnotherWroteAfterABrokenPutStays() async throws {
        try await withServer(isMoveSupported: false) { transport, directory, options in
            transport.fail(request: 8, with: .before(.interrupted))
            transport.witness { url in
                if transport.count == 7 { transport.store(Array("one of z".utf8), at: Self.base + "a") }
            }
            await expectRejection(TransferError.self, \.code, .exists) {
                try await upload(["a"], transport, directory, options)
            }
            #expect(transport.file(Self.base + "a") == Array("one of z".utf8))
        }
    }

    @Test(
        .proves(
            .releases,
            "Uploads: Uploaded beside, read back (size, digest), moved into place; one version at the end (T2, T4, T5, U3f, U5, U6)"
        ))
    func testThatWhatAnotherWroteBeforeTheReadBackIsNotRemoved() async throws {
        try await withServer(isMoveSupported: false) { transport, directory, options in
            transport.witness { url in
                if transport.count == 8 { transport.store(Array("theirs".utf8), at: Self.base + "a") }
            }
            await expectRejection(TransferError.self, \.code, .exists) {
                try await upload(["a"], transport, directory, options)
            }
            #expect(transport.file(Self.base + "a") == Array("theirs".utf8))
        }
    }

    @Test func testThatWrongBytesOfOurOwnAreRemoved() async throws {
        try await withServer(isMoveSupported: false) { transport, directory, options in
            transport.fail(request: 8, with: .truncation)
            await expectRejection(TransferError.self, \.code, .corrupted) {
                try await upload(["a"], transport, directory, options)
            }
            #expect(transport.urls == [])
        }
    }

    @Test func testThatALongFileMayTakeLong() async throws {
        try await withServer { transport, directory, options in
            let file = try UploaderTests.file(directory, "a", String(repeating: "x", count: 3 << 20))
            _ = try await Uploader(transport: transport).upload([file], to: Self.base, options: options)
            // The limit is one hour and the time of the slowest connection, 16 KiB a second, for 3 MiB.
            let requests = transport.takeRequests()
            #expect(requests.first { $0.method == .put }?.limits.total == .seconds(3600 + 192))
            #expect(requests.filter { $0.method == .get }.allSatisfy { $0.limits.total == .seconds(3600 + 192) })
        }
    }
}
