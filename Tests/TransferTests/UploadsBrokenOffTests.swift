import Basics
import Foundation
import TestSupport
import Testing
import Transfer

/// Row U1f of the threats: 64 MB whose connection breaks at every tenth arrive once, complete, and leave no other file.
@Suite struct UploadsBrokenOffTests {
    private static let size = 64_000_000
    /// The places in bytes from the client, each a tenth of the file further. The tenth one would be after its end.
    private static let tenths = (1...9).map { $0 * size / 10 }

    @Suite(.program("sshd"), .program("ssh-keygen"), .program("python3"), .program("openssl")) struct GivenOpenSSH {
        @Test(
            .proves(
                .releases,
                "Uploads: Broken off: resumed (sftp, ftp, S3's parts) or restarted (http); tries bounded, each told (U1f, U2f)"
            ))
        func testThatU1fItGoesOnWhereItBrokeOff() async throws {
            try await withTemporaryDirectory { directory in
                let port = try LoopbackSocket.freePort()
                try await CuttingProxy.running(
                    in: directory, to: [("127.0.0.1", port, nil)], cuts: UploadsBrokenOffTests.tenths
                ) { proxy in
                    try await SSHServer.running(in: directory, port: port) { server in
                        let way = try #require(proxy.ports[port])
                        let key = try directory.text("hostkey.pub").split(separator: " ").prefix(2).joined(
                            separator: " ")
                        var options = server.options
                        options.retries = .immediate
                        options.knownHosts = try directory.write("known", "[127.0.0.1]:\(way) \(key)\n")
                        let told = try await UploadsBrokenOffTests.upload(
                            to: server.url.replacing(":\(port)/", with: ":\(way)/") + "{version}/", options, directory)
                        try await UploadsBrokenOffTests.expectOnce(
                            directory.path("remote/1.0.0"), told, proxy, isResumed: true)
                    }
                }
            }
        }
    }

    @Suite(.program("vsftpd"), .program("openssl"), .program("python3")) struct GivenVsftpd {
        @Test(
            .proves(
                .releases,
                "Uploads: Broken off: resumed (sftp, ftp, S3's parts) or restarted (http); tries bounded, each told (U1f, U2f)"
            ), arguments: [true, false])
        func testThatU1fItGoesOnWhereItBrokeOff(isTLS: Bool) async throws {
            try await withTemporaryDirectory { directory in
                try await FTPServer.running(in: directory, address: "127.0.0.2") { server in
                    let ways = [("127.0.0.2", server.port, nil)] + server.dataPorts.map { ("127.0.0.2", $0, $0) }
                    try await CuttingProxy.running(in: directory, to: ways, cuts: UploadsBrokenOffTests.tenths) {
                        proxy in
                        let told = try await UploadsBrokenOffTests.upload(
                            to: server.url(isTLS: isTLS, port: proxy.ports[server.port]) + "{version}/", server.options,
                            directory)
                        try await UploadsBrokenOffTests.expectOnce(
                            directory.path("remote/1.0.0"), told, proxy, isResumed: true)
                    }
                }
            }
        }
    }

    @Suite(.program("nginx"), .program("python3"), .program("openssl")) struct GivenNginx {
        @Test(
            .proves(.releases, "Uploads: WebDAV: MKCOL, MOVE with `Overwrite: F`"),
            .proves(
                .releases,
                "Uploads: Broken off: resumed (sftp, ftp, S3's parts) or restarted (http); tries bounded, each told (U1f, U2f)"
            ), arguments: UploadsBrokenOffTests.tenths)
        func testThatU1fItBeginsAnew(cut: Int) async throws {
            try await withTemporaryDirectory { directory in
                try await NginxServer.running(in: directory) { server in
                    let port = try #require(Int(server.origin.split(separator: ":")[2]))
                    try await CuttingProxy.running(in: directory, to: [("127.0.0.1", port, nil)], cuts: [cut]) {
                        proxy in
                        var options = UploadOptions.plain()
                        options.retries = .immediate
                        let told = try await UploadsBrokenOffTests.upload(
                            to: "http://127.0.0.1:\(try #require(proxy.ports[port]))/kit/{version}/", options, directory
                        )
                        try await UploadsBrokenOffTests.expectOnce(
                            directory.path("files/kit/1.0.0"), told, proxy, cuts: 1, isResumed: false)
                    }
                }
            }
        }
    }

    @Suite(.program("swift-proxy-server"), .program("swift-object-server"), .program("memcached"), .program("curl"))
    struct GivenAStrictS3Server {
        @Test(
            .proves(
                .releases,
                "Uploads: Broken off: resumed (sftp, ftp, S3's parts) or restarted (http); tries bounded, each told (U1f, U2f)"
            ))
        func testThatU1fItSendsThePartsThatAreMissing() async throws {
            try await withTemporaryDirectory { directory in
                try await StrictS3Server.running(in: directory) { server in
                    try await CuttingProxy.running(
                        in: directory, to: [("127.0.0.1", server.port, nil)], cuts: UploadsBrokenOffTests.tenths
                    ) { proxy in
                        // when
                        let told = try await UploadsBrokenOffTests.upload(
                            to: server.url(port: proxy.ports[server.port]), server.options, directory)

                        // then
                        #expect(try proxy.cuts() == 9)
                        #expect((told.map(\.attempt).max() ?? 0) >= 10)
                        let listing = try await server.listing()
                        #expect(listing.keys == ["kit/1.0.0/kit.tar.zst"])
                        #expect(listing.uploads == 0)
                    }
                }
            }
        }
    }

    // MARK: -

    /// Uploads 64 MB as `kit.tar.zst`, and checks the result.
    /// - Returns: The reported progress.
    private static func upload(
        to target: String, _ options: UploadOptions, _ directory: TemporaryDirectory
    ) async throws -> [UploadProgress] {
        let path = directory.path("kit.tar.zst")
        // No two places have the same bytes.
        let key = String(repeating: "0", count: 32)
        try await runExpectingSuccess([
            "sh", "-c",
            "openssl enc -aes-128-ctr -K \(key) -iv \(key) -in /dev/zero 2>/dev/null | head -c \(size) >\(path)",
        ])
        let sum = try await runExpectingSuccess(["sha256sum", path]).prefix(64)
        let file = UploadFile(path: path, name: "kit.tar.zst", sha256: String(sum), size: Int64(size))
        let told = Locked<[UploadProgress]>([])
        var options = options
        options.progress = { progress in told.withLock { $0.append(progress) } }
        let results = try await Uploader(transport: CurlTransport()).upload(
            [file], to: target, values: ["version": "1.0.0"], options: options)
        #expect(results.map(\.outcome) == [.uploaded])
        return told.value
    }

    private static func expectOnce(
        _ place: String, _ told: [UploadProgress], _ proxy: CuttingProxy, cuts: Int = 9, isResumed: Bool,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        #expect(try proxy.cuts() == cuts, sourceLocation: sourceLocation)
        let entries = try Directory(opening: place).entries().map(\.name)
        #expect(entries == ["kit.tar.zst"], sourceLocation: sourceLocation)
        try await runExpectingSuccess(["cmp", place + "/kit.tar.zst", proxy.directory.path("kit.tar.zst")])
        // Each try is reported with the reason of the previous end. An ftp server that notices a cut late costs one more.
        let attempts = told.map(\.attempt).max() ?? 0
        let begins = (1...max(1, attempts)).compactMap { attempt in
            told.first { $0.phase == .sending && $0.attempt == attempt }
        }
        #expect(begins.count > cuts, sourceLocation: sourceLocation)
        #expect(begins.dropFirst().allSatisfy { $0.interruption != nil }, sourceLocation: sourceLocation)
        let isGoneOnWith = begins.dropFirst().allSatisfy { $0.bytes > 0 }
        #expect(isGoneOnWith == isResumed, "\(begins.map(\.bytes))", sourceLocation: sourceLocation)
    }
}
