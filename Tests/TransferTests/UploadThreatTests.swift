import Basics
import Crypto
import Encodings
import Foundation
import TestSupport
import Testing
import Transfer

/// Rows T1 to T5, U1f to U3f, U5 and U6 of the threats, as far as they concern uploads.
@Suite struct UploadThreatTests {
    private static let base = "https://files.example/kit/"

    private static func uploader(_ transport: FakeTransport) -> Uploader {
        Uploader(transport: transport, identifiers: SeededIdentifiers())
    }

    private static var options: UploadOptions {
        var options = UploadOptions()
        options.retries = .immediate
        options.session = "session"
        return options
    }

    // MARK: T1, T2

    @Test(
        .proves(
            .releases,
            "Uploads: Templates `{product} {version} {branch} {commit} {configuration} {file}`, each value encoded for its place (T1)"
        ),
        .program("python3"),
        arguments: [
            "a?b#c", "%2f%2e%2e", "release/1.0", "a;type=i", "a b", "1.0.0+b", "größe", "🦜", "{file}", "a@b:c", "-Q",
            "@/etc/passwd",
        ])
    func testThatT1AValueIsOneSegmentOfOneRequest(value: String) async throws {
        try await withTemporaryDirectory { directory in
            try await PythonServer.running(in: directory) { server in
                // given
                let file = try UploaderTests.file(directory, "a", "one")
                let options = UploadOptions.plain()

                // when
                _ = try await Uploader(transport: CurlTransport()).upload(
                    [file], to: server.origin + "/kit/{version}-{file}", values: ["version": value], options: options)

                // then: every request is for that name, or for the part beside it. Servers decode once, so the name itself contains the encoded
                // slash.
                let held = value.replacing("%2f", with: "%252f").replacing("/", with: "%2F")
                let name = "\(PercentEncoding.encode(held))-a"
                let paths = Set(try server.requests().map { $0.split(separator: " ")[1] })
                #expect(paths.count == 2)
                for path in paths {
                    let last = path.split(separator: "/").last.map(String.init) ?? ""
                    #expect(path.hasPrefix("/kit/") && path.split(separator: "/").count == 2, "\(path)")
                    #expect(last == name || last.hasPrefix(".\(name).part-"), "\(path)")
                }
            }
        }
    }

    @Test(
        .proves(
            .releases,
            "Uploads: Uploaded beside, read back (size, digest), moved into place; one version at the end (T2, T4, T5, U3f, U5, U6)"
        ), .program("python3"), arguments: ["http://127.0.0.2:9/x", "file:///etc/passwd", "ftp://127.0.0.1/x"])
    func testThatT2ARedirectEndsTheUpload(target: String) async throws {
        try await withTemporaryDirectory { directory in
            try await PythonServer.running(in: directory) { server in
                let file = try UploaderTests.file(directory, "a", "one")
                let options = UploadOptions.plain(.password(user: "ci", password: "canary-secret"))
                let error = await expectRejection(TransferError.self, \.code, .status) {
                    try await Uploader(transport: CurlTransport()).upload(
                        [file], to: "\(server.origin)/redirect?to=\(PercentEncoding.encode(target))&name={file}",
                        options: options)
                }
                expectContains(error?.message ?? "", "redirects, which is not followed")
                #expect(
                    try server.requests().allSatisfy { $0.contains(" /redirect") || $0.contains(" /.redirect.part-") })
            }
        }
    }

    // MARK: T4, T5

    @Test(
        .proves(
            .releases,
            "Uploads: Uploaded beside, read back (size, digest), moved into place; one version at the end (T2, T4, T5, U3f, U5, U6)"
        ))
    func testThatT4OtherBytesThanWereSentAreNeverMoved() async throws {
        try await withTemporaryDirectory { directory in
            try await withFakeTransport { transport in
                // given: the server answers 201 and stores fewer bytes, each time.
                transport.serve(Self.base)
                let file = try UploaderTests.file(directory, "a", "one")
                for request in 1...20 { transport.fail(request: request, with: .truncation) }
                transport.forbid(.move, Self.base)

                // when, then
                await expectRejection(TransferError.self, \.code, .corrupted) {
                    try await Self.uploader(transport).upload([file], to: Self.base, options: Self.options)
                }
                #expect(transport.urls == [])
                #expect(transport.takeRequests().count { $0.method == .put } == Uploader.attempts)
            }
        }
    }

    @Test(
        .proves(
            .releases,
            "Uploads: Uploaded beside, read back (size, digest), moved into place; one version at the end (T2, T4, T5, U3f, U5, U6)"
        ))
    func testThatT5AHundredUploadsOfTheSameMakeOneFile() async throws {
        try await withTemporaryDirectory { directory in
            try await withFakeTransport { transport in
                // given
                transport.serve(Self.base)
                let file = try UploaderTests.file(directory, "a", "one")
                let uploader = Self.uploader(transport)

                // when
                for _ in 0..<100 { _ = try await uploader.upload([file], to: Self.base, options: Self.options) }

                // then
                let requests = transport.takeRequests()
                #expect(requests.count { $0.method == .put } == 1)
                #expect(requests.count { $0.method == .move } == 1)
                #expect(transport.urls == [Self.base + "a"])
            }
        }
    }

    @Test(
        .proves(
            .releases,
            "Uploads: Uploaded beside, read back (size, digest), moved into place; one version at the end (T2, T4, T5, U3f, U5, U6)"
        ))
    func testThatT5AnUploadEndsRightWhereverTheOneBeforeWasKilled() async throws {
        for count in 1...40 {
            var isThrough = false
            try await withTemporaryDirectory { directory in
                try await withFakeTransport { transport in
                    // given: a killed process leaves what it had sent to the server.
                    transport.serve(Self.base)
                    let files = [
                        try UploaderTests.file(directory, "a", "one"), try UploaderTests.file(directory, "b", "two"),
                    ]
                    transport.fail(request: count, with: .silenceAfter)
                    let killed = Task {
                        try await Self.uploader(transport).upload(files, to: Self.base, options: Self.options)
                    }
                    await until("the request is reached, or the upload through") {
                        transport.count >= count || transport.file(Self.base + "b") != nil
                    }
                    isThrough = transport.count < count
                    killed.cancel()
                    _ = try? await killed.value
                    if isThrough { return _ = transport.takeRequests() }

                    // when
                    _ = try await Self.uploader(transport).upload(files, to: Self.base, options: Self.options)

                    // then
                    #expect(transport.urls == [Self.base + "a", Self.base + "b"], "killed at request \(count)")
                    #expect(transport.file(Self.base + "a") == Array("one".utf8))
                    _ = transport.takeRequests()
                }
            }
            if isThrough { return }
        }
        Issue.record("the upload took more than 40 requests")
    }

    // MARK: U1f to U3f

    @Test(arguments: [408, 429, 500, 502, 503, 504])
    func testThatU1fAServerThatFailsForAMomentIsAskedAgain(status: Int) async throws {
        try await withTemporaryDirectory { directory in
            try await withFakeTransport { transport in
                transport.serve(Self.base)
                let file = try UploaderTests.file(directory, "a", "one")
                transport.fail(request: 2, with: .status(status))
                let told = Locked<[UploadProgress]>([])
                var options = Self.options
                options.progress = { progress in told.withLock { $0.append(progress) } }
                let results = try await Self.uploader(transport).upload([file], to: Self.base, options: options)
                #expect(results.map(\.outcome) == [.uploaded])
                #expect(transport.urls == [Self.base + "a"])
                // A status that may mean a missing collection is answered by creating it.
                if status != 500 {
                    #expect(
                        told.value.contains { $0.phase == .waiting && $0.interruption?.contains("\(status)") == true })
                    #expect(told.value.contains { $0.phase == .sending && $0.attempt == 2 })
                }
                _ = transport.takeRequests()
            }
        }
    }

    @Test(arguments: [507, 501, 413, 403]) func testThatU1fAFullDiskIsToldAtOnce(status: Int) async throws {
        try await withTemporaryDirectory { directory in
            try await withFakeTransport { transport in
                transport.serve(Self.base)
                let file = try UploaderTests.file(directory, "a", "one")
                transport.fail(request: 2, with: .status(status))
                await #expect(throws: TransferError.self) {
                    try await Self.uploader(transport).upload([file], to: Self.base, options: Self.options)
                }
                #expect(transport.urls == [])
                #expect(transport.takeRequests().count { $0.method == .put } == 1)
            }
        }
    }

    @Test(
        .proves(
            .releases,
            "Uploads: Broken off: resumed (sftp, ftp, S3's parts) or restarted (http); tries bounded, each told (U1f, U2f)"
        ))
    func testThatU1fTriesAreBoundedAndTheWaitsGrow() async throws {
        try await withTemporaryDirectory { directory in
            try await withFakeTransport { transport in
                // given
                transport.serve(Self.base)
                let file = try UploaderTests.file(directory, "a", "one")
                for request in 1...100 { transport.fail(request: request, with: .before(.unreachable)) }
                let timer = ManualClock()
                var options = Self.options
                options.retries = UploadRetries(
                    backoff: Backoff(first: .seconds(1), limit: .seconds(30), jitter: { 1 }), timer: timer)

                // when
                let upload = Task { [options] in
                    try await Self.uploader(transport).upload([file], to: Self.base, options: options)
                }
                for seconds in [1, 2, 4, 8] {
                    await timer.awaitSleepers()
                    timer.advance(by: .seconds(seconds))
                }

                // then
                let error = await expectRejection(TransferError.self, \.code, .unreachable) { try await upload.value }
                expectContains(error?.message ?? "", "given up after 5 tries")
                // One request per try, and one that cleans up.
                #expect(transport.takeRequests().count == 6)
            }
        }
    }

    /// The process ends in the middle, at each tenth. Its task is canceled, and the server has what a kill leaves.
    @Test(
        .proves(
            .releases,
            "Uploads: Broken off: resumed (sftp, ftp, S3's parts) or restarted (http); tries bounded, each told (U1f, U2f)"
        ), .program("sshd"), .program("ssh-keygen"))
    func testThatU2fTheNextProcessGoesOnAtEachTenth() async throws {
        try await withTemporaryDirectory { directory in
            try await SSHServer.running(in: directory) { server in
                // given
                let size = 20_000_000
                let path = directory.path("kit.tar.zst")
                try await runExpectingSuccess(["sh", "-c", "head -c \(size) /dev/urandom >\(path)"])
                let sum = try await runExpectingSuccess(["sha256sum", path]).prefix(64)
                let file = UploadFile(path: path, name: "kit.tar.zst", sha256: String(sum), size: Int64(size))
                var options = server.options
                options.session = "kit-41"

                // when
                var begins: [Int64] = []
                for tenth in 1...9 {
                    // The callback itself cancels it, so that no further bytes are sent.
                    let (first, running) = (Locked<Int64?>(nil), Locked<Task<[UploadResult], any Error>?>(nil))
                    options.progress = { progress in
                        guard progress.phase == .sending else { return }
                        first.withLock { $0 = $0 ?? progress.bytes }
                        if progress.bytes >= Int64(tenth * size / 10) { running.value?.cancel() }
                    }
                    let upload = Task { [options] in
                        try await Uploader(transport: CurlTransport()).upload([file], to: server.url, options: options)
                    }
                    running.withLock { $0 = upload }
                    await expectRejection(TransferError.self, \.code, .canceled) { try await upload.value }
                    begins.append(first.value ?? -1)
                    expectNoFile(directory.path("remote/kit.tar.zst"))
                }
                options.progress = nil
                let results = try await Uploader(transport: CurlTransport()).upload(
                    [file], to: server.url, options: options)

                // then
                #expect(results.map(\.outcome) == [.uploaded])
                #expect(begins[0] == 0)
                #expect(begins == begins.sorted() && begins[8] > Int64(size / 2), "\(begins)")
                #expect(try Directory(opening: directory.path("remote")).entries().map(\.name) == ["kit.tar.zst"])
                try await runExpectingSuccess(["cmp", path, directory.path("remote/kit.tar.zst")])
            }
        }
    }

    @Test func testThatU2fACanceledUploadLeavesNothingBesideOnceItIsDiscarded() async throws {
        try await withTemporaryDirectory { directory in
            try await withFakeTransport { transport in
                // given
                transport.serve(Self.base)
                let file = try UploaderTests.file(directory, "a", "one")
                transport.fail(request: 3, with: .silence)
                let upload = Task {
                    try await Self.uploader(transport).upload([file], to: Self.base, options: Self.options)
                }
                await until("the part is read back") { transport.count == 3 }
                upload.cancel()
                await expectRejection(TransferError.self, \.code, .canceled) { try await upload.value }
                #expect(transport.urls == [Self.base + ".a.part-session"])

                // when
                await Self.uploader(transport).discard([file], to: Self.base, options: Self.options)

                // then
                #expect(transport.urls == [])
                _ = transport.takeRequests()
            }
        }
    }

    @Test(
        .proves(
            .releases,
            "Uploads: Uploaded beside, read back (size, digest), moved into place; one version at the end (T2, T4, T5, U3f, U5, U6)"
        ))
    func testThatU3fALostAnswerMakesNoSecondVersion() async throws {
        for request in 1...20 {
            var isThrough = false
            try await withTemporaryDirectory { directory in
                try await withFakeTransport { transport in
                    transport.serve(Self.base)
                    let file = try UploaderTests.file(directory, "a", "one")
                    transport.fail(request: request, with: .after(.interrupted))
                    let results = try await Self.uploader(transport).upload(
                        [file], to: Self.base, options: Self.options)
                    #expect(results.map(\.outcome) == [.uploaded])
                    #expect(transport.urls == [Self.base + "a"])
                    isThrough = transport.takeRequests().count < request
                }
            }
            if isThrough { return }
        }
        Issue.record("the upload took more than 20 requests")
    }

    // MARK: U5, U6

    @Test(
        .proves(
            .releases,
            "Uploads: Uploaded beside, read back (size, digest), moved into place; one version at the end (T2, T4, T5, U3f, U5, U6)"
        ))
    func testThatU5OtherBytesThanWereArchivedGetNoName() async throws {
        try await withTemporaryDirectory { directory in
            try await withFakeTransport { transport in
                // given: the file was changed after its digest was made.
                transport.serve(Self.base)
                let file = try UploaderTests.file(directory, "a", "one")
                try directory.write("made/a", "two")
                transport.forbid(.move, Self.base)

                // when, then
                await expectRejection(TransferError.self, \.code, .corrupted) {
                    try await Self.uploader(transport).upload([file], to: Self.base, options: Self.options)
                }
                #expect(transport.urls == [])
                _ = transport.takeRequests()
            }
        }
    }

    @Test(
        .proves(
            .releases,
            "Uploads: Uploaded beside, read back (size, digest), moved into place; one version at the end (T2, T4, T5, U3f, U5, U6)"
        ))
    func testThatU6AVersionNeverGetsOtherBytes() async throws {
        try await withTemporaryDirectory { directory in
            try await withFakeTransport { transport in
                // given
                transport.serve(Self.base)
                let values = ["version": "1.2.0"]
                let target = Self.base + "{version}/"
                let uploader = Self.uploader(transport)
                let first = [
                    try UploaderTests.file(directory, "a", "one"), try UploaderTests.file(directory, "b", "two"),
                ]
                _ = try await uploader.upload(first, to: target, values: values, options: Self.options)

                // when: one file of a later try is different.
                let second = [first[0], try UploaderTests.file(directory, "b", "other")]
                await expectRejection(TransferError.self, \.code, .exists) {
                    try await uploader.upload(second, to: target, values: values, options: Self.options)
                }

                // then
                #expect(transport.file(Self.base + "1.2.0/b") == Array("two".utf8))
                #expect(transport.urls == [Self.base + "1.2.0/a", Self.base + "1.2.0/b"])
                _ = transport.takeRequests()
            }
        }
    }
}
