import Basics
import Foundation
import TestSupport
import Testing
import Transfer

/// Connections that break at other places than the file's bytes: in greetings and handshakes, during checks, during a rename.
@Suite(
    .proves(
        .releases,
        "Uploads: Broken off: resumed (sftp, ftp, S3's parts) or restarted (http); tries bounded, each told (U1f, U2f)")
)
struct UploadsCutAnywhereTests {
    /// Uploads a file once for each place of the cut, counted in the client's bytes since the phase began.
    private static func expectOnce(
        _ phase: UploadProgress.Phase, _ places: StrideTo<Int>, to target: String, _ options: UploadOptions,
        size: Int = 10,
        _ proxy: CuttingProxy, sourceLocation: SourceLocation = #_sourceLocation,
        _ expect: (_ name: String) async throws -> Void
    ) async throws {
        let transport = try CurlTransport()
        let isSSH = target.hasPrefix("sftp:")
        var (count, unreported) = (0, 0)
        for place in places {
            count += 1
            let name = "\(phase.rawValue)-\(place)"
            let file = try UploaderTests.file(proxy.directory, name, String(repeating: "x", count: size))
            let isNotified = Locked(false)
            var options = options
            options.retries = .immediate
            options.progress = { progress in
                let isFirst = isNotified.withLock { told in
                    defer { told = told || progress.phase == phase }
                    return !told && progress.phase == phase
                }
                guard isFirst else { return }
                do { try proxy.cut(after: place) } catch { Issue.record(error) }
            }
            do {
                let results = try await Uploader(transport: transport).upload([file], to: target, options: options)
                #expect(results.map(\.outcome) == [.uploaded], "\(name)", sourceLocation: sourceLocation)
                try await expect(name)
            } catch let error as TransferError where isSSH && [.hostKey, .credentials].contains(error.code) {
                // A connection that breaks during the key exchange, or when the user is asked for, looks like a wrong key.
                unreported += 1
            }
        }
        // Some of the places are within the phase.
        #expect(try proxy.cuts() > 1, sourceLocation: sourceLocation)
        #expect(unreported * 2 < count, sourceLocation: sourceLocation)
    }

    private static let phases: [UploadProgress.Phase] = [.looking, .moving]

    @Test(.program("sshd"), .program("ssh-keygen"), .program("python3"), arguments: phases)
    func testThatU1fSFTPIsGoneOnWith(phase: UploadProgress.Phase) async throws {
        try await withTemporaryDirectory { directory in
            let port = try LoopbackSocket.freePort()
            try await CuttingProxy.running(in: directory, to: [("127.0.0.1", port, nil)], cuts: []) { proxy in
                try await SSHServer.running(in: directory, port: port) { server in
                    let way = try #require(proxy.ports[port])
                    let key = try directory.text("hostkey.pub").split(separator: " ").prefix(2).joined(separator: " ")
                    var options = server.options
                    options.knownHosts = try directory.write("known", "[127.0.0.1]:\(way) \(key)\n")
                    try await Self.expectOnce(
                        phase, stride(from: 1, to: 7000, by: 270),
                        to: server.url.replacing(":\(port)/", with: ":\(way)/"), options, proxy
                    ) { name in
                        let names = try Directory(opening: directory.path("remote")).entries().map(\.name)
                        #expect(names.contains(name) && !names.contains { $0.hasPrefix(".") }, "\(name): \(names)")
                    }
                }
            }
        }
    }

    @Test(
        .program("swift-proxy-server"), .program("swift-object-server"), .program("memcached"), .program("curl"),
        arguments: [(UploadProgress.Phase.looking, 10, 2000), (.readingBack, 10, 1200), (.moving, 17 << 20, 2600)])
    func testThatU1fABucketsUploadIsGoneOnWith(phase: UploadProgress.Phase, size: Int, end: Int) async throws {
        try await withTemporaryDirectory { directory in
            try await StrictS3Server.running(in: directory) { server in
                try await CuttingProxy.running(in: directory, to: [("127.0.0.1", server.port, nil)], cuts: []) {
                    proxy in
                    try await Self.expectOnce(
                        phase, stride(from: 1, to: end, by: 260),
                        to: server.url(port: proxy.ports[server.port]).replacing("/{version}", with: ""),
                        server.options,
                        size: size, proxy
                    ) { name in
                        let listing = try await server.listing()
                        #expect(listing.keys.contains("kit/\(name)"))
                        #expect(listing.uploads == 0, "\(name)")
                    }
                }
            }
        }
    }
}
