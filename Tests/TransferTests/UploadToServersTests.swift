import Basics
import Foundation
import TestSupport
import Testing
import Transfer

/// Uploads to real servers on the loopback.
@Suite struct UploadToServersTests {
    @Suite(.program("nginx")) struct GivenNginx {
        @Test(
            .proves(.releases, "Uploads: WebDAV: MKCOL, MOVE with `Overwrite: F`"),
            .proves(.transfer, "Upload by http(s) PUT, beside and then moved"),
            arguments: ["PUT DELETE MKCOL MOVE", "PUT DELETE MKCOL", "PUT"])
        func testThatFilesArriveWholeAndOnce(methods: String) async throws {
            try await withTemporaryDirectory { directory in
                let makesDirectories = methods == "PUT"
                try await NginxServer.running(
                    in: directory, methods: methods, makesDirectories: makesDirectories
                ) { server in
                    // given
                    let files = [
                        try UploaderTests.file(directory, "kit 1.tar.zst", String(repeating: "x", count: 3_000_000)),
                        try UploaderTests.file(directory, "SHA256SUMS", "sums"),
                    ]
                    let options = UploadOptions.plain()
                    let uploader = try Uploader(transport: CurlTransport())
                    let target = server.origin + "/kit/{version}"

                    // when
                    let first = try await uploader.upload(
                        files, to: target, values: ["version": "1.0.0"], options: options)
                    let second = try await uploader.upload(
                        files, to: target, values: ["version": "1.0.0"], options: options)

                    // then
                    #expect(first.map(\.outcome) == [.uploaded, .uploaded])
                    #expect(second.map(\.outcome) == [.alreadyThere, .alreadyThere])
                    expectFile(directory.path("files/kit/1.0.0/SHA256SUMS"), "sums")
                    let names = try Directory(opening: directory.path("files/kit/1.0.0")).entries().map(\.name)
                    // A server without MOVE and DELETE keeps the parts beside the files.
                    #expect(names.filter { !$0.contains(".part-") } == ["SHA256SUMS", "kit 1.tar.zst"])
                    if methods.contains("DELETE") { #expect(names.count == 2) }
                    let other = try UploaderTests.file(directory, "SHA256SUMS", "other")
                    await expectRejection(TransferError.self, \.code, .exists) {
                        try await uploader.upload([other], to: target, values: ["version": "1.0.0"], options: options)
                    }
                    expectFile(directory.path("files/kit/1.0.0/SHA256SUMS"), "sums")
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
                try await NginxServer.running(in: directory) { server in
                    let file = try UploaderTests.file(directory, "a", "one")
                    let options = UploadOptions.plain()
                    for target in ["{branch}-{file}", "{branch}/"] {
                        _ = try await Uploader(transport: CurlTransport()).upload(
                            [file], to: server.origin + "/kit/" + target, values: ["branch": "release/1.0"],
                            options: options)
                    }
                    expectFile(directory.path("files/kit/release%2F1.0-a"), "one")
                    expectFile(directory.path("files/kit/release%2F1.0/a"), "one")
                    #expect(try Directory(opening: directory.path("files/kit")).entries().count == 2)
                }
            }
        }
    }

    @Suite(.program("python3")) struct GivenAServerThatMisbehaves {
        @Test(arguments: [
            ("truncating", TransferError.Code.corrupted), ("forbidden", .denied), ("private", .credentials),
        ])
        func testThatItSaysWhatIsWrong(path: String, code: TransferError.Code) async throws {
            try await withTemporaryDirectory { directory in
                try await PythonServer.running(in: directory) { server in
                    let file = try UploaderTests.file(directory, "a", "one")
                    let options = UploadOptions.plain(.password(user: "ci", password: "canary-secret"))
                    let error = await expectRejection(TransferError.self, \.code, code) {
                        try await Uploader(transport: CurlTransport()).upload(
                            [file], to: server.origin + "/\(path)/", options: options)
                    }
                    #expect(error?.description.contains("canary-secret") == false)
                }
            }
        }

        @Test func testThatAMoveWhoseAnswerIsLostIsRecognized() async throws {
            try await withTemporaryDirectory { directory in
                try await PythonServer.running(in: directory) { server in
                    let file = try UploaderTests.file(directory, "a", "one")
                    let options = UploadOptions.plain()
                    let results = try await Uploader(transport: CurlTransport()).upload(
                        [file], to: server.origin + "/losingmove/", options: options)
                    #expect(results.map(\.outcome) == [.uploaded])
                }
            }
        }
    }

    @Suite(.program("sshd"), .program("ssh-keygen")) struct GivenOpenSSH {
        @Test(
            .proves(.releases, "Uploads: sftp with known hosts and an ed25519 key"),
            .proves(.transfer, "Upload by sftp, beside and then moved; the host's key has to be known"))
        func testThatFilesArriveWholeAndOnce() async throws {
            try await withTemporaryDirectory { directory in
                try await SSHServer.running(in: directory) { server in
                    // given
                    let files = [
                        try UploaderTests.file(
                            directory, "kit \"1\".tar.zst", String(repeating: "x", count: 1_000_000)),
                        try UploaderTests.file(directory, "SHA256SUMS", "sums"),
                    ]
                    let uploader = try Uploader(transport: CurlTransport())
                    let (target, values) = (server.url + "{branch}/{version}/", ["version": "1.0.0", "branch": "r"])

                    // when
                    let first = try await uploader.upload(files, to: target, values: values, options: server.options)
                    let second = try await uploader.upload(files, to: target, values: values, options: server.options)

                    // then
                    #expect(first.map(\.outcome) == [.uploaded, .uploaded])
                    #expect(second.map(\.outcome) == [.alreadyThere, .alreadyThere])
                    let place = try Directory(opening: directory.path("remote/r/1.0.0"))
                    #expect(try place.entries().map(\.name) == ["SHA256SUMS", "kit \"1\".tar.zst"])
                    expectFile(directory.path("remote/r/1.0.0/SHA256SUMS"), "sums")
                }
            }
        }

        @Test(.proves(.releases, "Uploads: an sftp address in the user's home (`/~/`)"))
        func testThatAnAddressInTheUsersHomeIsMovedThereToo() async throws {
            try await withTemporaryDirectory { directory in
                try await SSHServer.running(in: directory) { server in
                    // given
                    let file = try UploaderTests.file(directory, "a b", "one")
                    let uploader = try Uploader(transport: CurlTransport())
                    // when
                    let results = try await uploader.upload([file], to: server.urlAtHome, options: server.options)
                    // then
                    #expect(results.map(\.outcome) == [.uploaded])
                    expectFile(directory.path("remote/a b"), "one")
                    #expect(try Directory(opening: directory.path("remote")).entries().count == 1)
                }
            }
        }

        @Test func testThatOtherBytesThereAreAnErrorAndStay() async throws {
            try await withTemporaryDirectory { directory in
                try await SSHServer.running(in: directory) { server in
                    // given
                    try directory.write("remote/a", "mine")
                    let file = try UploaderTests.file(directory, "a", "one")

                    // when, then
                    await expectRejection(TransferError.self, \.code, .exists) {
                        try await Uploader(transport: CurlTransport()).upload(
                            [file], to: server.url, options: server.options)
                    }
                    expectFile(directory.path("remote/a"), "mine")
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
                try await SSHServer.running(in: directory) { server in
                    let file = try UploaderTests.file(directory, "a", "one")
                    for target in ["{branch}-{file}", "{branch}/"] {
                        _ = try await Uploader(transport: CurlTransport()).upload(
                            [file], to: server.url + target, values: ["branch": "release/1.0"], options: server.options)
                    }
                    expectFile(directory.path("remote/release%2F1.0-a"), "one")
                    expectFile(directory.path("remote/release%2F1.0/a"), "one")
                    #expect(try Directory(opening: directory.path("remote")).entries().count == 2)
                }
            }
        }

        @Test(
            .proves(.releases, "Uploads: sftp with known hosts and an ed25519 key"),
            .proves(.transfer, "Upload by sftp, beside and then moved; the host's key has to be known"))
        func testThatARenameNeverOverwrites() async throws {
            try await withTemporaryDirectory { directory in
                try await SSHServer.running(in: directory) { server in
                    // given
                    try directory.write("remote/part", "one")
                    try directory.write("remote/a", "mine")
                    var move = TransferRequest(.move, server.url + "part", credentials: server.options.credentials)
                    move.knownHosts = server.knownHosts
                    move.target = server.url + "a"
                    let transport = try CurlTransport()

                    // when
                    let refused = try await transport.perform(move)
                    move.url = server.url + "absent"
                    let absent = try await transport.perform(move)
                    var delete = move
                    delete.method = .delete
                    delete.url = server.url + "part"
                    let deleted = try await transport.perform(delete)

                    // then
                    #expect(refused.status == 412)
                    #expect(absent.status == 404 || absent.status == 412)
                    #expect(deleted.status == 204)
                    expectFile(directory.path("remote/a"), "mine")
                    expectNoFile(directory.path("remote/part"))
                }
            }
        }

        @Test(
            .proves(.releases, "Uploads: sftp with known hosts and an ed25519 key"),
            .proves(.transfer, "Upload by sftp, beside and then moved; the host's key has to be known"))
        func testThatTheHostKeyHasToBeKnown() async throws {
            try await withTemporaryDirectory { directory in
                try await SSHServer.running(in: directory) { server in
                    // given
                    let stranger = try directory.text("stranger.pub").split(separator: " ").prefix(2)
                    let lines = [
                        "empty": "", "other": "[127.0.0.1]:\(server.port) \(stranger.joined(separator: " "))\n",
                    ]
                    var request = TransferRequest(.get, server.url + "a", credentials: server.options.credentials)
                    let transport = try CurlTransport()

                    // when, then
                    await expectRejection(TransferError.self, \.code, .hostKey) { try await transport.perform(request) }
                    for (name, text) in lines {
                        request.knownHosts = try directory.write("hosts-" + name, text)
                        let error = await expectRejection(TransferError.self, \.code, .hostKey) {
                            try await transport.perform(request)
                        }
                        expectContains(error?.message ?? "", "known_hosts")
                        #expect(try directory.text("hosts-" + name) == text)
                    }
                }
            }
        }

        @Test(.proves(.releases, "Uploads: sftp with known hosts and an ed25519 key"))
        func testThatAWrongKeyIsNamed() async throws {
            try await withTemporaryDirectory { directory in
                try await SSHServer.running(in: directory) { server in
                    var request = TransferRequest(.get, server.url + "a")
                    request.knownHosts = server.knownHosts
                    let transport = try CurlTransport()
                    for credentials: TransferCredentials? in [
                        nil, .privateKey(user: nil, path: directory.path("stranger"), passphrase: nil),
                        .privateKey(user: nil, path: directory.path("absent"), passphrase: nil),
                        .password(user: nil, password: "canary-secret"), .bearer(token: "canary-secret"),
                    ] {
                        request.credentials = credentials
                        let error = await expectRejection(TransferError.self, \.code, .credentials) {
                            try await transport.perform(request)
                        }
                        #expect(error?.description.contains("canary-secret") == false)
                    }
                }
            }
        }
    }
}
