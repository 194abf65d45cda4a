import Foundation
import TestSupport
import Testing
import Transfer

/// Buckets with other clients, servers that end or lose an upload, and the next process.
@Suite struct UploadsIntoBucketsTests {
    private static let other = TransferError(code: .interrupted, operation: "x", message: "the test broke it")

    /// Returns a file of four parts: three of 5 MiB, and a small one.
    private func large(_ directory: TemporaryDirectory, _ letter: String = "x") throws -> UploadFile {
        try UploaderTests.file(directory, "a", String(repeating: letter, count: 17 << 20))
    }

    private func small(_ directory: TemporaryDirectory, _ name: String = "a", _ text: String = "one") throws
        -> UploadFile
    {
        try UploaderTests.file(directory, name, text)
    }

    // MARK: Others

    @Test(.proves(.releases, "Uploads: S3 (sigv4), against a strict server"))
    func testThatTwoUploadsToOneKeyNeverMixNorEndEachOther() async throws {
        try await withTemporaryDirectory { directory in
            // given: while one client sends its parts, another sends all of its own to the same key
            let bucket = FakeBucket(condition: .passedOver)
            let (mine, others) = (
                try large(directory, "x"), try directory.write("others/a", String(repeating: "y", count: 17 << 20))
            )
            let second = try UploaderTests.file(directory, "b", String(repeating: "y", count: 17 << 20))
            let same = UploadFile(path: others, name: "a", sha256: second.sha256, size: second.size)
            let outcome = Locked<[UploadResult.Outcome]>([])
            bucket.once("PUT a?partNumber=2") { _ throws(TransferError) in
                do {
                    let results = try await bucket.upload(same, session: "other")
                    outcome.withLock { $0 = results.map(\.outcome) }
                } catch { Issue.record(error) }
                return nil
            }

            // when, then
            await expectRejection(TransferError.self, \.code, .exists) {
                try await bucket.upload(mine, session: "mine")
            }
            #expect(outcome.value == [.uploaded])
            #expect(bucket.object("a")?.allSatisfy { $0 == "y" } == true)
            #expect(bucket.state.value.uploads.isEmpty)
        }
    }

    @Test func testThatAFailureEndsNobodyElsesUpload() async throws {
        try await withTemporaryDirectory { directory in
            let bucket = FakeBucket()
            bucket.state.withLock { $0.uploads["others"] = ("kit/a", [:]) }
            bucket.once("PUT a?partNumber=3") { _ throws(TransferError) in FakeBucket.error(403, "AccessDenied") }
            await expectRejection(TransferError.self, \.code, .denied) {
                try await bucket.upload(large(directory), session: "s", memory: NotedUploads())
            }
            #expect(bucket.state.value.uploads.keys.sorted() == ["others"])
        }
    }

    @Test(
        .proves(
            .releases,
            "Uploads: Uploaded beside, read back (size, digest), moved into place; one version at the end (T2, T4, T5, U3f, U5, U6)"
        ), arguments: [FakeBucket.Condition.passedOver, .unknown])
    func testThatWhatAnotherWroteInBetweenIsNotRemoved(condition: FakeBucket.Condition) async throws {
        for isLarge in [false, true] {
            try await withTemporaryDirectory { directory in
                // given: two clients overwrite each other, and the other one was last
                let bucket = FakeBucket(condition: condition)
                let file = try isLarge ? large(directory) : small(directory)
                for _ in 0..<(condition == .unknown ? 3 : 2) {
                    bucket.once("GET a ") { _ throws(TransferError) in nil }
                }
                bucket.once("GET a ") { _ throws(TransferError) in
                    bucket.store("theirs", at: "a")
                    return nil
                }

                // when, then
                await expectRejection(TransferError.self, \.code, .exists) { try await bucket.upload(file) }
                #expect(bucket.object("a") == "theirs")
            }
        }
    }

    @Test func testThatItLooksRightBeforeItWrites() async throws {
        try await withTemporaryDirectory { directory in
            // given: a server that overwrites, and another client that is first while the second file is checked
            let bucket = FakeBucket(condition: .passedOver)
            bucket.once("GET b ") { _ throws(TransferError) in
                bucket.store("theirs", at: "a")
                return nil
            }

            // when, then
            await expectRejection(TransferError.self, \.code, .exists) {
                try await bucket.upload([small(directory, "a"), small(directory, "b")])
            }
            #expect(bucket.object("a") == "theirs")
            #expect(bucket.count("PUT a") == 0)
        }
    }

    @Test(.proves(.releases, "Uploads: S3 (sigv4), against a strict server"), arguments: ["theirs", "one"])
    func testThatWhoIsFirstByTheServersWordIsNotWrittenOver(text: String)
        async throws
    {
        try await withTemporaryDirectory { directory in
            // given: the other client's object arrives after the last check
            let bucket = FakeBucket(condition: .kept)
            bucket.once("PUT a") { _ throws(TransferError) in
                bucket.store(text, at: "a")
                return nil
            }

            // when
            let upload = Task { try await bucket.upload(small(directory)) }

            // then
            if text == "one" {
                let results = try await upload.value
                #expect(results.count == 1)
            } else {
                await expectRejection(TransferError.self, \.code, .exists) { try await upload.value }
            }
            #expect(bucket.object("a") == text)
            #expect(bucket.state.value.asked.filter { $0.method == .put }.map { $0.headers["If-None-Match"] } == ["*"])
        }
    }

    // MARK: Wrong bytes

    @Test(arguments: [1, 2]) func testThatWrongBytesOfOurOwnAreRemovedAndSentOnceMore(times: Int) async throws {
        for isLarge in [false, true] {
            try await withTemporaryDirectory { directory in
                // given: a server that stores other bytes than it got, under the tag that it returned
                let bucket = FakeBucket()
                let file = try isLarge ? large(directory) : small(directory)
                for _ in 0..<times {
                    bucket.once(file.size < 100 ? "PUT a" : "POST a?uploadId") { _ throws(TransferError) in
                        bucket.store("wrong", at: "a")
                        let tag = bucket.state.value.objects["kit/a"]?.tag ?? ""
                        return FakeBucket.answer(200, "<Result><ETag>&quot;\(tag)&quot;</ETag></Result>", tag: tag)
                    }
                }

                // when, then
                if times < Uploader.attempts {
                    let results = try await bucket.upload(file)
                    #expect(results.map(\.outcome) == [.uploaded])
                    #expect(bucket.object("a")?.utf8.count == Int(file.size))
                } else {
                    await expectRejection(TransferError.self, \.code, .corrupted) { try await bucket.upload(file) }
                    #expect(bucket.object("a") == nil)
                }
            }
        }
    }

    @Test func testThatAFileThatChangedSinceItWasBuiltGetsNoName() async throws {
        try await withTemporaryDirectory { directory in
            let bucket = FakeBucket()
            let file = try large(directory)
            try directory.write("made/a", String(repeating: "y", count: 17 << 20))
            await expectRejection(TransferError.self, \.code, .corrupted) { try await bucket.upload(file) }
            #expect(bucket.count("POST a?uploadId") == 0)
            #expect(bucket.object("a") == nil)
            #expect(bucket.state.value.uploads.isEmpty)
        }
    }

    @Test(.proves(.releases, "Uploads: S3 (sigv4), against a strict server"))
    func testThatJustTheFilesPartsBecomeTheObject() async throws {
        try await withTemporaryDirectory { directory in
            // given: a server that has one part more, of the right size
            let bucket = FakeBucket()
            bucket.once("PUT a?partNumber=4") { _ throws(TransferError) in
                bucket.state.withLock { state in
                    state.uploads["u1"]?.parts[5] = .init(bytes: Array(repeating: 0, count: 1), tag: "x")
                }
                return nil
            }
            let results = try await bucket.upload(large(directory))
            #expect(results.map(\.outcome) == [.uploaded])
            #expect(bucket.object("a")?.utf8.count == 17 << 20)
        }
    }

    // MARK: Servers that fail

    @Test(arguments: [
        ("POST a?uploadId", 200, "InternalError"), ("POST a?uploadId", 200, "SlowDown"),
        ("POST a?uploadId", 409, "ConditionalRequestConflict"), ("PUT a?partNumber=2", 400, "RequestTimeout"),
        ("PUT a?partNumber=2", 503, "SlowDown"),
    ])
    func testThatWhatS3SaysToTryAgainIsTriedAgain(words: String, status: Int, code: String) async throws {
        try await withTemporaryDirectory { directory in
            let bucket = FakeBucket()
            bucket.once(words) { _ throws(TransferError) in FakeBucket.error(status, code) }
            let results = try await bucket.upload(large(directory))
            #expect(results.map(\.outcome) == [.uploaded])
            // No existing part was sent again.
            #expect(bucket.count("PUT a?partNumber") == (words.hasPrefix("PUT") ? 5 : 4))
        }
    }

    @Test(arguments: ["PUT a?partNumber=3", "POST a?uploadId"])
    func testThatAnUploadThatTheServerEndedIsBegunAnew(words: String) async throws {
        try await withTemporaryDirectory { directory in
            let bucket = FakeBucket()
            bucket.once(words) { _ throws(TransferError) in
                bucket.state.withLock { $0.uploads = [:] }
                return nil
            }
            let results = try await bucket.upload(large(directory))
            #expect(results.map(\.outcome) == [.uploaded])
            #expect(bucket.state.value.begun == 2)
            #expect(bucket.state.value.uploads.isEmpty)
        }
    }

    // MARK: The next try, and the next process

    @Test(arguments: [true, false]) func testThatPartsAreSentOnce(areTagsDigests: Bool) async throws {
        try await withTemporaryDirectory { directory in
            let bucket = FakeBucket(areTagsDigests: areTagsDigests)
            bucket.once("PUT a?partNumber=3") { _ throws(TransferError) in throw Self.other }
            let results = try await bucket.upload(large(directory))
            #expect(results.map(\.outcome) == [.uploaded])
            #expect((1...4).map { bucket.count("PUT a?partNumber=\($0)") } == [1, 1, 2, 1])
        }
    }

    @Test(
        .proves(
            .releases,
            "Uploads: Broken off: resumed (sftp, ftp, S3's parts) or restarted (http); tries bounded, each told (U1f, U2f)"
        ), arguments: [true, false])
    func testThatU2fTheNextProcessGoesOnWithItsOwn(areTagsDigests: Bool) async throws {
        try await withTemporaryDirectory { directory in
            // given: an upload that ended with its process, and another client's upload of the same key
            let bucket = FakeBucket(areTagsDigests: areTagsDigests)
            bucket.state.withLock { $0.uploads["others"] = ("kit/a", [:]) }
            let (file, notes) = (try large(directory), NotedUploads())
            let canceled = TransferError(code: .canceled, operation: "x", message: "the process ended")
            bucket.once("PUT a?partNumber=3") { _ throws(TransferError) in throw canceled }
            await expectRejection(TransferError.self, \.code, .canceled) {
                try await bucket.upload(file, session: "s", memory: notes)
            }
            #expect(notes.texts.count == 1)

            // when
            let results = try await bucket.upload(file, session: "s", memory: notes)

            // then
            #expect(results.map(\.outcome) == [.uploaded])
            #expect((1...4).map { bucket.count("PUT a?partNumber=\($0)") } == [1, 1, 2, 1])
            #expect(bucket.state.value.begun == 1)
            #expect(bucket.state.value.uploads.keys.sorted() == ["others"])
            #expect(notes.texts == [])
        }
    }

    @Test func testThatU2fACanceledUploadLeavesNothingOfItsOwnOnceItIsDiscarded() async throws {
        try await withTemporaryDirectory { directory in
            // given
            let bucket = FakeBucket()
            bucket.state.withLock { $0.uploads["others"] = ("kit/a", [:]) }
            let (file, notes) = (try large(directory), NotedUploads())
            let canceled = TransferError(code: .canceled, operation: "x", message: "canceled")
            bucket.once("PUT a?partNumber=3") { _ throws(TransferError) in throw canceled }
            await expectRejection(TransferError.self, \.code, .canceled) {
                try await bucket.upload(file, session: "s", memory: notes)
            }

            // when
            await Uploader(transport: bucket).discard([file], to: FakeBucket.place, options: bucket.options("s", notes))

            // then
            #expect(bucket.state.value.uploads.keys.sorted() == ["others"])
            #expect(notes.texts == [])
        }
    }

    @Test func testThatAServerThatDoesNotAnswerIsAskedToClearUpOnce() async throws {
        try await withTemporaryDirectory { directory in
            // given
            let bucket = FakeBucket()
            let notes = NotedUploads()
            let files = try ["a", "b", "c"].map {
                try UploaderTests.file(directory, $0, String(repeating: "x", count: 17 << 20))
            }
            let canceled = TransferError(code: .canceled, operation: "x", message: "canceled")
            bucket.once("PUT c?partNumber=1") { _ throws(TransferError) in throw canceled }
            await expectRejection(TransferError.self, \.code, .canceled) {
                try await bucket.upload(files, session: "s", memory: notes)
            }
            for _ in files {
                bucket.once("DELETE") { _ throws(TransferError) in
                    throw TransferError(code: .timedOut, operation: "x", message: "no answer")
                }
            }

            // when
            await Uploader(transport: bucket).discard(files, to: FakeBucket.place, options: bucket.options("s", notes))

            // then
            #expect(bucket.count("DELETE") == 1)
        }
    }
}
