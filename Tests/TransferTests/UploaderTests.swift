import Basics
import Crypto
import Encodings
import Foundation
import TestSupport
import Testing
import Transfer

@Suite struct UploaderTests {
    static let base = "https://files.example/kit/"

    static func file(_ directory: TemporaryDirectory, _ name: String, _ text: String) throws -> UploadFile {
        let path = try directory.write("made/" + name, text)
        return UploadFile(
            path: path, name: name, sha256: Hexadecimal.encode(SHA256.hash(data: Array(text.utf8))),
            size: Int64(text.utf8.count))
    }

    private func withUploader(
        isMoveSupported: Bool = true, needsCollections: Bool = false,
        _ body: (Uploader, FakeTransport, TemporaryDirectory) async throws -> Void
    ) async throws {
        try await withTemporaryDirectory { directory in
            try await withFakeTransport { transport in
                transport.serve(
                    Self.base, isMoveSupported: isMoveSupported, needsCollections: needsCollections)
                try await body(
                    Uploader(transport: transport, identifiers: SeededIdentifiers()), transport, directory)
                _ = transport.takeRequests()
            }
        }
    }

    @Test(
        .proves(
            .releases,
            "Uploads: Uploaded beside, read back (size, digest), moved into place; one version at the end (T2, T4, T5, U3f, U5, U6)"
        ), .proves(.transfer, "Upload by http(s) PUT, beside and then moved"))
    func testThatNothingGetsItsNameBeforeAllIsThere() async throws {
        try await withUploader { uploader, transport, directory in
            // given
            let files = [try Self.file(directory, "a", "one"), try Self.file(directory, "b", "two")]
            transport.forbid(.put, Self.base + "1.0.0/a")
            transport.forbid(.put, Self.base + "1.0.0/b")

            // when
            let results = try await uploader.upload(files, to: Self.base + "{version}/", values: ["version": "1.0.0"])

            // then
            #expect(results.map(\.outcome) == [.uploaded, .uploaded])
            #expect(results.map(\.url) == [Self.base + "1.0.0/a", Self.base + "1.0.0/b"])
            #expect(transport.urls == [Self.base + "1.0.0/a", Self.base + "1.0.0/b"])
            let methods = transport.takeRequests().map(\.method)
            // Each file is requested after its move, because an answer alone does not prove the move.
            #expect(methods == [.get, .put, .get, .get, .put, .get, .get, .move, .head, .get, .move, .head])
        }
    }

    @Test(.proves(.releases, "Uploads: names of up to 255 bytes, whose parts have shorter ones"), .longNames)
    func testThatTheLongestNamesHaveRoomForTheirParts() async throws {
        try await withUploader { uploader, transport, directory in
            // given: names that are even longer when they are encoded
            let names =
                ["a", "b"].map { String(repeating: "n", count: 254) + $0 } + [
                    String(repeating: "\u{E9}", count: 127)
                ]
            let files = try names.map { try Self.file(directory, $0, $0) }

            // when
            let results = try await uploader.upload(files, to: Self.base)

            // then
            #expect(results.map(\.outcome) == [.uploaded, .uploaded, .uploaded])
            let parts = transport.takeRequests().filter { $0.method == .put }.map { $0.url.dropFirst(Self.base.count) }
            #expect(Set(parts).count == 3)
            #expect(parts.allSatisfy { $0.hasPrefix(".") && $0.contains(".part-") && $0.utf8.count <= 255 })
        }
    }

    @Test func testThatTheSameBytesThereAreSuccess() async throws {
        try await withUploader { uploader, transport, directory in
            // given
            let file = try Self.file(directory, "a", "one")
            transport.store(Array("one".utf8), at: Self.base + "a")
            transport.forbid(.put, Self.base)

            // when
            let results = try await uploader.upload([file], to: Self.base)

            // then
            #expect(results.map(\.outcome) == [.alreadyThere])
        }
    }

    @Test(arguments: ["two", "longer than one", ""])
    func testThatOtherBytesThereAreAnErrorAndStay(bytes: String) async throws {
        try await withUploader { uploader, transport, directory in
            // given
            let file = try Self.file(directory, "a", "one")
            transport.store(Array(bytes.utf8), at: Self.base + "a")
            for method in [TransferRequest.Method.put, .move, .delete] { transport.forbid(method, Self.base + "a") }

            // when, then
            await expectRejection(TransferError.self, \.code, .exists) {
                try await uploader.upload([file], to: Self.base)
            }
            #expect(transport.file(Self.base + "a") == Array(bytes.utf8))
        }
    }

    @Test func testThatATruncatedFileIsSentAgain() async throws {
        try await withUploader { uploader, transport, directory in
            // given
            let file = try Self.file(directory, "a", "one")
            transport.fail(request: 2, with: .truncation)

            // when
            _ = try await uploader.upload([file], to: Self.base)

            // then
            #expect(transport.file(Self.base + "a") == Array("one".utf8))
            #expect(transport.urls.count == 1)
        }
    }

    @Test func testThatAServerThatTruncatesGetsNothingPublished() async throws {
        try await withUploader { uploader, transport, directory in
            // given
            let file = try Self.file(directory, "a", "one")
            transport.fail(request: 2, with: .truncation)
            transport.fail(request: 4, with: .truncation)
            transport.forbid(.move, Self.base)

            // when, then
            await expectRejection(TransferError.self, \.code, .corrupted) {
                try await uploader.upload([file], to: Self.base)
            }
            #expect(transport.urls == [])
        }
    }

    @Test func testThatALostAnswerOfAMoveIsRecognized() async throws {
        try await withUploader { uploader, transport, directory in
            // given
            let file = try Self.file(directory, "a", "one")
            transport.fail(request: 5, with: .after(.interrupted))

            // when
            let results = try await uploader.upload([file], to: Self.base)

            // then
            #expect(results.map(\.outcome) == [.uploaded])
            #expect(transport.urls == [Self.base + "a"])
        }
    }

    /// The answers of a server that accepts every method that it does not know.
    @Test(
        .proves(
            .releases,
            "Uploads: Uploaded beside, read back (size, digest), moved into place; one version at the end (T2, T4, T5, U3f, U5, U6)"
        ), arguments: [200, 204, 207])
    func testThatAMoveThatNeverWasIsNoSuccess(status: Int) async throws {
        try await withUploader { uploader, transport, directory in
            // given
            let file = try Self.file(directory, "a", "one")
            transport.fail(request: 5, with: .status(status))

            // when, then
            await expectRejection(TransferError.self, \.code, .corrupted) {
                try await uploader.upload([file], to: Self.base)
            }
            #expect(transport.urls == [])
        }
    }

    @Test(.proves(.releases, "Uploads: WebDAV: MKCOL, MOVE with `Overwrite: F`"))
    func testThatMissingCollectionsAreMade() async throws {
        try await withUploader(needsCollections: true) { uploader, transport, directory in
            let file = try Self.file(directory, "a", "one")
            _ = try await uploader.upload(
                [file], to: Self.base + "{branch}/{version}", values: ["branch": "b", "version": "1"])
            #expect(transport.urls == [Self.base + "b/1/a"])
        }
    }

    @Test func testThatAServerWithoutMoveGetsThePutItself() async throws {
        try await withUploader(isMoveSupported: false) { uploader, transport, directory in
            // given
            let file = try Self.file(directory, "a", "one")

            // when
            let results = try await uploader.upload([file], to: Self.base)

            // then
            #expect(results.map(\.outcome) == [.uploaded])
            #expect(transport.urls == [Self.base + "a"])
            let put = transport.takeRequests().last { $0.method == .put }
            #expect(put?.headers["if-none-match"] == "*")
        }
    }

    @Test(.proves(.steps, "Two files of one name are an error before anything is published"))
    func testThatTwoFilesForOneNameAreRefusedBeforeAnyRequest() async throws {
        try await withUploader { uploader, transport, directory in
            // given
            let files = [try Self.file(directory, "a", "one"), try Self.file(directory, "b", "two")]

            // when, then
            await expectRejection(TransferError.self, \.code, .invalid) {
                try await uploader.upload([files[0], files[0]], to: Self.base)
            }
            #expect(transport.count == 0)
        }
    }

    @Test(arguments: [false, true]) func testThatNoFailureLeavesAWrongFile(isMoveSupported: Bool) async throws {
        var count = 0
        var hasSucceeded = false
        while !hasSucceeded {
            count += 1
            try #require(count < 60)
            for failure in [FakeTransport.Failure.before(.unreachable), .after(.interrupted), .status(503)] {
                try await withUploader(isMoveSupported: isMoveSupported) { uploader, transport, directory in
                    // given
                    let files = [try Self.file(directory, "a", "one"), try Self.file(directory, "b", "two")]
                    transport.fail(request: count, with: failure)

                    // when
                    do {
                        _ = try await uploader.upload(files, to: Self.base)
                        hasSucceeded = transport.count < count
                    } catch let error as TransferError {
                        #expect([.unreachable, .interrupted, .status].contains(error.code))
                    }

                    // then: each file's name has all of its bytes or does not exist, and another try succeeds.
                    for (name, text) in [("a", "one"), ("b", "two")] {
                        let found = transport.file(Self.base + name)
                        #expect(found == nil || found == Array(text.utf8))
                    }
                    guard transport.count >= count else { return }
                    _ = try await uploader.upload(files, to: Self.base)
                    #expect(Set(transport.urls).isSuperset(of: [Self.base + "a", Self.base + "b"]))
                }
            }
        }
    }

    @Suite struct GivenALocalDirectory {
        @Test(.proves(.transfer, "Upload into a local directory, beside and then renamed"), arguments: ["", "file://"])
        func testThatItCopiesBesideAndRenames(scheme: String) async throws {
            try await withTemporaryDirectory { directory in
                // given
                let uploader = Uploader(transport: FakeTransport())
                let files = [try UploaderTests.file(directory, "a b", "one")]
                let target = scheme + directory.path("share/{version}/")

                // when
                let first = try await uploader.upload(files, to: target, values: ["version": "1.0.0"])
                let second = try await uploader.upload(files, to: target, values: ["version": "1.0.0"])

                // then
                #expect(first.map(\.outcome) == [.uploaded])
                #expect(second.map(\.outcome) == [.alreadyThere])
                expectFile(directory.path("share/1.0.0/a b"), "one")
                #expect(try Directory(opening: directory.path("share/1.0.0")).entries().count == 1)
            }
        }

        @Test(
            .proves(
                .releases,
                "Uploads: An upload's progress on page, API and command line: which file, bytes of bytes, which try and why"
            ))
        func testThatItSaysHowFarItIs() async throws {
            try await withTemporaryDirectory { directory in
                // given
                let file = try UploaderTests.file(directory, "a", "one")
                let told = Locked<[UploadProgress]>([])
                var options = UploadOptions()
                options.progress = { progress in told.withLock { $0.append(progress) } }

                // when
                _ = try await Uploader(transport: FakeTransport()).upload(
                    [file], to: directory.path("share"), options: options)

                // then
                #expect(
                    told.value.map { "\($0.phase.rawValue) \($0.bytes)" } == [
                        "looking 0", "sending 0", "sending 3", "reading back 3", "moving 3",
                    ])
                #expect(told.value.allSatisfy { $0.file == "a" && $0.size == 3 && $0.attempt == 1 })
            }
        }

        /// The names are as long as a file system allows, and differ only at the end.
        @Test(.proves(.releases, "Uploads: names of up to 255 bytes, whose parts have shorter ones"), .longNames)
        func testThatTheLongestNamesHaveRoomForTheirParts() async throws {
            try await withTemporaryDirectory { directory in
                // given
                let names =
                    ["a", "b"].map { String(repeating: "n", count: 254) + $0 } + [
                        String(repeating: "\u{E9}", count: 127)
                    ]
                let files = try names.map { try UploaderTests.file(directory, $0, $0) }
                let share = try directory.makeDirectory("share")
                func there() throws -> [String] { try Directory(opening: share).entries().map(\.name).sorted() }
                let parts = Locked<Set<String>>([])
                var options = UploadOptions()
                options.session = UploadOptions.session(of: ["kit"])
                options.progress = { progress in
                    guard progress.phase == .readingBack, let entries = try? Directory(opening: share).entries() else {
                        return
                    }
                    parts.withLock { $0.formUnion(entries.map(\.name).filter { $0.hasPrefix(".") }) }
                }
                let uploader = Uploader(transport: FakeTransport())

                // when
                let results = try await uploader.upload(files, to: share, options: options)

                // then
                #expect(results.map(\.outcome) == [.uploaded, .uploaded, .uploaded])
                #expect(try there() == names.sorted())
                #expect(parts.value.count == 3)
                // The parts of the same upload by another process are found by their names.
                for name in names { try directory.directory().remove("share/\(name)") }
                for part in parts.value { try directory.write("share/\(part)", "n") }
                #expect(try await uploader.upload(files, to: share, options: options).count == 3)
                #expect(try there() == names.sorted())
                for part in parts.value { try directory.write("share/\(part)", "n") }
                await uploader.discard(files, to: share, options: options)
                #expect(try there() == names.sorted())
            }
        }

        /// A share with linked files (jdupes, hardlink(1)), and a version whose files are linked into a copy.
        @Test(
            .proves(
                .releases,
                "Serving: Published files that have second names (`cp -al`) are served, verified and uploaded"))
        func testThatSecondNamesAreNoHindrance() async throws {
            try await withTemporaryDirectory { directory in
                // given
                let uploader = Uploader(transport: FakeTransport())
                let file = try UploaderTests.file(directory, "a", "one")
                #expect(link(file.path, directory.path("copy")) == 0)
                // when
                let first = try await uploader.upload([file], to: directory.path("share"), values: [:])
                #expect(link(directory.path("share/a"), directory.path("share/same")) == 0)
                let second = try await uploader.upload([file], to: directory.path("share"), values: [:])
                // then
                #expect(first.map(\.outcome) == [.uploaded])
                #expect(second.map(\.outcome) == [.alreadyThere])
            }
        }

        /// Half of the file, or all of it under both names: the process was killed while it copied, or while it moved without a rename's flags.
        @Test(
            .proves(
                .releases,
                "Uploads into a directory work on shares without a rename's flags (NFS, 9p, sshfs), end at a cancel, and find what a kill left"
            ), arguments: [false, true])
        func testThatWhatAKilledTryLeftIsNoHindrance(isMoved: Bool) async throws {
            try await withTemporaryDirectory { directory in
                // given
                let file = try UploaderTests.file(directory, "a", "one")
                try directory.write("share/.a.part-7", isMoved ? "one" : "o")
                if isMoved { #expect(link(directory.path("share/.a.part-7"), directory.path("share/a")) == 0) }

                // when
                var options = UploadOptions()
                options.session = "7"
                let results = try await Uploader(transport: FakeTransport()).upload(
                    [file], to: directory.path("share"), options: options)

                // then
                #expect(results.map(\.outcome) == [isMoved ? .alreadyThere : .uploaded])
                expectFile(directory.path("share/a"), "one")
                #expect(try Directory(opening: directory.path("share")).entries().map(\.name) == ["a"])
            }
        }

        @Test(
            .proves(
                .releases,
                "Uploads into a directory work on shares without a rename's flags (NFS, 9p, sshfs), end at a cancel, and find what a kill left"
            ))
        func testThatACanceledOneEndsAndLeavesNothing() async throws {
            try await withTemporaryDirectory { directory in
                // given
                let file = try UploaderTests.file(directory, "a", "one")
                let place = directory.path("share")
                // when
                let upload = Task {
                    withUnsafeCurrentTask { $0?.cancel() }
                    return try await Uploader(transport: FakeTransport()).upload([file], to: place)
                }
                // then
                await expectRejection(TransferError.self, \.code, .canceled) { try await upload.value }
                #expect(try Directory(opening: place).entries().isEmpty)
            }
        }

        @Test func testThatItLeavesOtherBytesAlone() async throws {
            try await withTemporaryDirectory { directory in
                // given
                try directory.write("share/a", "mine")
                let file = try UploaderTests.file(directory, "a", "one")

                // when, then
                await expectRejection(TransferError.self, \.code, .exists) {
                    try await Uploader(transport: FakeTransport()).upload([file], to: directory.path("share"))
                }
                expectFile(directory.path("share/a"), "mine")
                #expect(try Directory(opening: directory.path("share")).entries().count == 1)
            }
        }
    }
}

extension Trait where Self == ConditionTrait {
    /// Skips the test, with that reason, if a file's name can have fewer than 255 bytes (pathconf(3)), as under eCryptfs.
    static var longNames: Self {
        .enabled("files have no names of 255 bytes here") {
            try await withTemporaryDirectory { directory in pathconf(directory.path, Int32(_PC_NAME_MAX)) >= 255 }
        }
    }
}
