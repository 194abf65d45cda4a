import Basics
import Encodings
import TestSupport
import Testing
import Transfer

/// Uploads to a real vsftpd on the loopback.
@Suite(.program("vsftpd"), .program("openssl")) struct UploadsByFTPTests {
    @Test(
        .proves(
            .releases,
            "Uploads: ftp and ftps (explicit TLS), at a real vsftpd, which renames over anything: it is asked before, one round trip is left open"
        ), arguments: [true, false])
    func testThatFilesArriveWholeAndOnce(isTLS: Bool) async throws {
        try await withTemporaryDirectory { directory in
            try await FTPServer.running(in: directory) { server in
                // given
                let files = [
                    try UploaderTests.file(
                        directory, "kit \"1\";type=a.tar.zst", String(repeating: "x", count: 1_000_000)),
                    try UploaderTests.file(directory, "SHA256SUMS", "sums"),
                ]
                let uploader = try Uploader(transport: CurlTransport())
                let target = server.url(isTLS: isTLS) + "{branch}/{version}/"
                let values = ["version": "1.0.0", "branch": "r"]

                // when
                let first = try await uploader.upload(files, to: target, values: values, options: server.options)
                let second = try await uploader.upload(files, to: target, values: values, options: server.options)

                // then
                #expect(first.map(\.outcome) == [.uploaded, .uploaded])
                #expect(second.map(\.outcome) == [.alreadyThere, .alreadyThere])
                let place = try Directory(opening: directory.path("remote/r/1.0.0"))
                #expect(try place.entries().map(\.name) == ["SHA256SUMS", "kit \"1\";type=a.tar.zst"])
                expectFile(directory.path("remote/r/1.0.0/SHA256SUMS"), "sums")
                // The server's own log has the encrypted commands too; PBSZ and PROT show the encryption.
                let log = try directory.text("ftp.log")
                #expect(log.contains("\"PROT P\"") == isTLS)
            }
        }
    }

    @Test func testThatOtherBytesThereAreAnErrorAndStay() async throws {
        try await withTemporaryDirectory { directory in
            try await FTPServer.running(in: directory) { server in
                // given
                try directory.write("remote/a", "mine")
                let file = try UploaderTests.file(directory, "a", "one")

                // when, then
                await expectRejection(TransferError.self, \.code, .exists) {
                    try await Uploader(transport: CurlTransport()).upload(
                        [file], to: server.url(), options: server.options)
                }
                expectFile(directory.path("remote/a"), "mine")
                #expect(try Directory(opening: directory.path("remote")).entries().count == 1)
            }
        }
    }

    @Test(
        .proves(
            .releases,
            "Uploads: ftp and ftps (explicit TLS), at a real vsftpd, which renames over anything: it is asked before, one round trip is left open"
        ))
    func testThatItRenamesOverNothingThatCameMeanwhile() async throws {
        try await withTemporaryDirectory { directory in
            try await FTPServer.running(in: directory) { server in
                // given: while the bytes are sent, another client writes the name.
                let file = try UploaderTests.file(directory, "a", "one")
                var options = server.options
                options.progress = { progress in
                    guard progress.phase == .readingBack else { return }
                    do { try directory.write("remote/a", "mine") } catch { Issue.record(error) }
                }

                // when, then
                await expectRejection(TransferError.self, \.code, .exists) {
                    try await Uploader(transport: CurlTransport()).upload([file], to: server.url(), options: options)
                }
                expectFile(directory.path("remote/a"), "mine")
                #expect(try Directory(opening: directory.path("remote")).entries().count == 1)
            }
        }
    }

    @Test(
        .proves(
            .releases,
            "Uploads: ftp and ftps (explicit TLS), at a real vsftpd, which renames over anything: it is asked before, one round trip is left open"
        ))
    func testThatWhatMayNotBeReadIsNotRenamedOver() async throws {
        try await withTemporaryDirectory { directory in
            try await FTPServer.running(in: directory, more: "anon_world_readable_only=YES") { server in
                // given: another user's file, in a directory that both may write to
                try directory.write("remote/a", "theirs", mode: 0o600)
                let file = try UploaderTests.file(directory, "a", "one")

                // when, then
                let error = await expectRejection(TransferError.self, \.code, .denied) {
                    try await Uploader(transport: CurlTransport()).upload(
                        [file], to: server.url(), options: server.options)
                }
                expectContains(error?.message ?? "", "may not read; it was left as it is")
                expectFile(directory.path("remote/a"), "theirs")
                #expect(try Directory(opening: directory.path("remote")).entries().count == 1)
            }
        }
    }

    @Test(
        .proves(
            .releases,
            "Uploads: ftp and ftps (explicit TLS), at a real vsftpd, which renames over anything: it is asked before, one round trip is left open"
        ))
    func testThatU2fAServerThatTakesNothingAfterAnOffsetGetsItFromTheFirstByte() async throws {
        try await withTemporaryDirectory { directory in
            try await FTPServer.running(in: directory, more: "cmds_denied=REST") { server in
                // given: the rest of an earlier process, and then one that the server can continue
                try directory.write("remote/.a.part-s", "o")
                let file = try UploaderTests.file(directory, "a", "one")
                var options = server.options
                options.session = "s"

                // when
                let results = try await Uploader(transport: CurlTransport()).upload(
                    [file], to: server.url(), options: options)

                // then
                #expect(results.map(\.outcome) == [.uploaded])
                expectFile(directory.path("remote/a"), "one")
                #expect(try Directory(opening: directory.path("remote")).entries().count == 1)
                expectContains(try directory.text("ftp.log"), "\"DELE ")
            }
        }
    }

    @Test(
        .proves(
            .releases,
            "Uploads: ftp and ftps (explicit TLS), at a real vsftpd, which renames over anything: it is asked before, one round trip is left open"
        ))
    func testThatU2fTheNextProcessGoesOn() async throws {
        try await withTemporaryDirectory { directory in
            try await FTPServer.running(in: directory) { server in
                // given
                try directory.write("remote/.a.part-s", "o")
                let file = try UploaderTests.file(directory, "a", "one")
                let told = Locked<[Int64]>([])
                var options = server.options
                options.session = "s"
                options.progress = { progress in
                    if progress.phase == .sending { told.withLock { $0.append(progress.bytes) } }
                }

                // when
                _ = try await Uploader(transport: CurlTransport()).upload([file], to: server.url(), options: options)

                // then
                #expect(told.value.first == 1)
                expectContains(try directory.text("ftp.log"), "\"REST 1\"")
                expectFile(directory.path("remote/a"), "one")
                #expect(try Directory(opening: directory.path("remote")).entries().count == 1)
            }
        }
    }

    @Test(
        .proves(
            .releases,
            "Uploads: Templates `{product} {version} {branch} {commit} {configuration} {file}`, each value encoded for its place (T1)"
        ))
    func testThatT1AValueIsOneName() async throws {
        try await withTemporaryDirectory { directory in
            try await FTPServer.running(in: directory) { server in
                let file = try UploaderTests.file(directory, "a", "one")
                let uploader = try Uploader(transport: CurlTransport())
                for target in ["{branch}-{file}", "{branch}/"] {
                    _ = try await uploader.upload(
                        [file], to: server.url() + target, values: ["branch": "release/1.0"], options: server.options)
                }
                expectFile(directory.path("remote/release%2F1.0-a"), "one")
                expectFile(directory.path("remote/release%2F1.0/a"), "one")
                #expect(try Directory(opening: directory.path("remote")).entries().count == 2)
            }
        }
    }

    @Test(
        .proves(
            .releases,
            "Uploads: ftp and ftps (explicit TLS), at a real vsftpd, which renames over anything: it is asked before, one round trip is left open"
        ))
    func testThatNothingGoesOutReadableUnlessItMay() async throws {
        try await withTemporaryDirectory { directory in
            try await FTPServer.running(in: directory, offersTLS: false) { server in
                // given
                let file = try UploaderTests.file(directory, "a", "one")
                let uploader = try Uploader(transport: CurlTransport())
                var options = server.options
                options.isPlainHTTPAllowed = false

                // when, then
                await expectRejection(TransferError.self, \.code, .schemeRefused) {
                    try await uploader.upload([file], to: server.url(isTLS: false), options: options)
                }
                await expectRejection(TransferError.self, \.code, .certificate) {
                    try await uploader.upload([file], to: server.url(), options: options)
                }
                #expect(!server.hasUser)
            }
        }
    }

    @Test(
        .proves(
            .releases,
            "Uploads: ftp and ftps (explicit TLS), at a real vsftpd, which renames over anything: it is asked before, one round trip is left open"
        ))
    func testThatT3ACertificateOfNobodyIsRefused() async throws {
        try await withTemporaryDirectory { directory in
            try await FTPServer.running(in: directory) { server in
                let file = try UploaderTests.file(directory, "a", "one")
                var options = server.options
                options.certificateAuthorities = nil
                await expectRejection(TransferError.self, \.code, .certificate) {
                    try await Uploader(transport: CurlTransport()).upload([file], to: server.url(), options: options)
                }
                #expect(!server.hasUser)
            }
        }
    }

    @Test func testThatAWrongPasswordIsNamed() async throws {
        try await withTemporaryDirectory { directory in
            try await FTPServer.running(in: directory) { server in
                let file = try UploaderTests.file(directory, "a", "one")
                var options = server.options
                options.credentials = .password(user: "ftp", password: "canary-other")
                let error = await expectRejection(TransferError.self, \.code, .credentials) {
                    try await Uploader(transport: CurlTransport()).upload([file], to: server.url(), options: options)
                }
                #expect(error?.description.contains("canary") == false)
            }
        }
    }

    @Test(
        .proves(
            .releases,
            "Uploads: ftp and ftps (explicit TLS), at a real vsftpd, which renames over anything: it is asked before, one round trip is left open"
        ), arguments: ["\r\nDELE remote", "a\u{0}b"])
    func testThatT1NothingInAPathEndsACommand(name: String) async throws {
        try await withTemporaryDirectory { directory in
            try await FTPServer.running(in: directory) { server in
                var request = TransferRequest(.delete, server.url() + PercentEncoding.encode(name))
                request.credentials = server.options.credentials
                request.certificateAuthorities = server.options.certificateAuthorities
                let transport = try CurlTransport()
                await expectRejection(TransferError.self, \.code, .invalid) { try await transport.perform(request) }
                #expect(!server.hasUser)
            }
        }
    }
}
