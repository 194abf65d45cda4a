import Basics
import Foundation
import TestSupport
import Testing
import Transfer

/// The contract of every `Transport` with a file server: run with the fake, and with libcurl against two real servers.
@Suite(.enabled(if: FileManager.default.fileExists(atPath: "/usr/bin/python3"), "there is no /usr/bin/python3"))
struct TransportContractTests {
    enum Kind: String, CaseIterable, Sendable {
        case fake, curlWithPython, curlWithNginx

        /// All transports that can start here. `testThatAllServersAreHere` reports a missing nginx.
        static var present: [Kind] { allCases.filter { $0 != .curlWithNginx || TestTools.find("nginx") != nil } }
    }

    /// Runs a test with a transport, and the URL of an empty collection that it reaches.
    private func withTransport(
        _ kind: Kind, _ body: (any Transport, _ base: String, TemporaryDirectory) async throws -> Void
    ) async throws {
        try await withTemporaryDirectory { directory in
            switch kind {
            case .fake:
                try await withFakeTransport { transport in
                    transport.serve("http://files.example/kit/", needsCollections: true)
                    try await body(transport, "http://files.example/kit/", directory)
                    _ = transport.takeRequests()
                }
            case .curlWithPython:
                try await PythonServer.running(in: directory) { server in
                    try await body(CurlTransport(), server.origin + "/kit/", directory)
                }
            case .curlWithNginx:
                try await NginxServer.running(in: directory) { server in
                    try await body(CurlTransport(), server.origin + "/kit/", directory)
                }
            }
        }
    }

    private func request(
        _ method: TransferRequest.Method, _ url: String, _ body: TransferRequest.Body = .none,
        to target: String? = nil
    ) -> TransferRequest {
        var request = TransferRequest(method, url, body: body)
        request.isPlainHTTPAllowed = true
        request.target = target
        return request
    }

    @Test(.program("nginx")) func testThatAllServersAreHere() { #expect(Kind.present == Kind.allCases) }

    @Test(
        .proves(.transfer, "One contract suite for the fake and for libcurl against real servers"),
        arguments: Kind.present)
    func testThatGetReturnsWhatPutStored(kind: Kind) async throws {
        try await withTransport(kind) { transport, base, directory in
            // given
            let bytes = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
            let path = try directory.write("local", bytes)

            // when
            let created = try await transport.perform(request(.put, base + "a", .bytes([1, 2, 3])))
            let replaced = try await transport.perform(request(.put, base + "a", .file(path: path)))
            let answer = try await transport.perform(request(.get, base + "a"))
            let head = try await transport.perform(request(.head, base + "a"))

            // then
            #expect(created.status == 201)
            #expect(replaced.status == 204)
            #expect(answer.status == 200)
            #expect(answer.body == bytes)
            #expect(head.status == 200)
            #expect(head.body == [])
            #expect(head.headers["content-length"] == "300000")
        }
    }

    @Test(arguments: Kind.present) func testThatAnAbsentFileIsAStatusAndNoError(kind: Kind) async throws {
        try await withTransport(kind) { transport, base, _ in
            let read = try await transport.perform(request(.get, base + "absent"))
            let removed = try await transport.perform(request(.delete, base + "absent"))
            #expect(read.status == 404)
            #expect(removed.status == 404)
        }
    }

    @Test(arguments: Kind.present) func testThatItHashesWhatItReads(kind: Kind) async throws {
        try await withTransport(kind) { transport, base, directory in
            // given
            _ = try await transport.perform(request(.put, base + "a", .bytes(Array("abc".utf8))))
            let sha256 = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"

            // when
            var digest = request(.get, base + "a")
            digest.destination = .digest
            var download = request(.get, base + "a")
            download.destination = .file(path: directory.path("download"))
            let (hashed, downloaded) = (try await transport.perform(digest), try await transport.perform(download))

            // then
            for answer in [hashed, downloaded] {
                #expect(answer.sha256 == sha256)
                #expect(answer.size == 3)
                #expect(answer.body == [])
            }
            expectFile(directory.path("download"), "abc")
            await expectRejection(TransferError.self, \.code, .file) { try await transport.perform(download) }
            expectFile(directory.path("download"), "abc")
        }
    }

    @Test(arguments: Kind.present) func testThatALargerAnswerThanTheLimitIsAnError(kind: Kind) async throws {
        try await withTransport(kind) { transport, base, directory in
            // given
            _ = try await transport.perform(request(.put, base + "a", .bytes([1, 2, 3, 4])))
            var download = request(.get, base + "a")
            download.limits.response = 3

            // when, then
            await expectRejection(TransferError.self, \.code, .tooLarge) { try await transport.perform(download) }
            download.destination = .file(path: directory.path("download"))
            await expectRejection(TransferError.self, \.code, .tooLarge) { try await transport.perform(download) }
            expectNoFile(directory.path("download"))
            download.limits.response = 4
            #expect(try await transport.perform(download).size == 4)
        }
    }

    @Test(
        .proves(
            .releases,
            "Versions: `fetch --signers --as`, yanked versions, what a server says instead, outputs and addresses that cannot be"
        ), arguments: Kind.present)
    func testThatWhatIsSaidInsteadOfAFileIsTheBodyAndNoFile(kind: Kind) async throws {
        try await withTransport(kind) { transport, base, directory in
            // given: less room than any server's message needs
            var download = request(.get, base + "absent")
            download.destination = .file(path: directory.path("download"))
            download.limits.response = 1

            // when
            let answer = try await transport.perform(download)

            // then
            #expect(answer.status == 404)
            #expect(answer.body.count > 1)
            #expect(answer.sha256 == nil)
            expectNoFile(directory.path("download"))
        }
    }

    @Test(
        .proves(.transfer, "One contract suite for the fake and for libcurl against real servers"),
        arguments: Kind.present)
    func testThatAMoveNeverOverwrites(kind: Kind) async throws {
        try await withTransport(kind) { transport, base, _ in
            // given
            _ = try await transport.perform(request(.put, base + "part", .bytes([1])))
            _ = try await transport.perform(request(.put, base + "taken", .bytes([2])))

            // when
            let refused = try await transport.perform(request(.move, base + "part", to: base + "taken"))
            let moved = try await transport.perform(request(.move, base + "part", to: base + "free"))

            // then
            #expect(refused.status == 412)
            #expect(moved.isSuccess)
            #expect(try await transport.perform(request(.get, base + "taken")).body == [2])
            #expect(try await transport.perform(request(.get, base + "free")).body == [1])
            #expect(try await transport.perform(request(.get, base + "part")).status == 404)
        }
    }

    @Test(arguments: Kind.present) func testThatAMissingCollectionIsAConflictUntilMade(kind: Kind) async throws {
        try await withTransport(kind) { transport, base, _ in
            let put = request(.put, base + "1.0.0/a", .bytes([1]))
            let make = request(.makeCollection, base + "1.0.0/")
            var statuses: [Int] = []
            for request in [put, make, make, put] { statuses.append(try await transport.perform(request).status) }
            // RFC 4918, section 9.7.1, requires 409; nginx 1.22 answers 500.
            #expect(statuses[0] == 409 || (kind == .curlWithNginx && statuses[0] == 500))
            #expect(statuses[1...] == [201, 405, 201])
        }
    }

    @Test(arguments: Kind.present) func testThatDeleteRemoves(kind: Kind) async throws {
        try await withTransport(kind) { transport, base, _ in
            _ = try await transport.perform(request(.put, base + "a", .bytes([1])))
            #expect(try await transport.perform(request(.delete, base + "a")).status == 204)
            #expect(try await transport.perform(request(.get, base + "a")).status == 404)
        }
    }

    @Test(arguments: Kind.present) func testThatAStreamGivesTheSameBytes(kind: Kind) async throws {
        try await withTransport(kind) { transport, base, _ in
            // given
            let bytes = (0..<2_000_000).map { UInt8(truncatingIfNeeded: $0 &* 13 &+ $0 >> 8) }
            _ = try await transport.perform(request(.put, base + "a", .bytes(bytes)))

            // when
            let stream = try await transport.stream(request(.get, base + "a"))
            var read: [UInt8] = []
            for try await chunk in stream.body { read += chunk }

            // then
            #expect(stream.status == 200)
            #expect(read == bytes)
        }
    }

    @Test(arguments: Kind.present) func testThatPlainHTTPHasToBeAllowed(kind: Kind) async throws {
        try await withTransport(kind) { transport, base, _ in
            for url in [base + "a", "ftp://127.0.0.1/a", "file:///etc/passwd"] {
                await expectRejection(TransferError.self, \.code, .schemeRefused) {
                    try await transport.perform(TransferRequest(.get, url))
                }
            }
        }
    }

    @Test(arguments: Kind.present) func testThatNoControlCharacterGetsIntoARequest(kind: Kind) async throws {
        try await withTransport(kind) { transport, base, _ in
            var header = request(.get, base + "a")
            header.headers["X-Version"] = "1\r\nX-Evil: 1"
            for bad in [header, request(.get, base + "a\r\nX-Evil: 1"), request(.get, base + "a b")] {
                await expectRejection(TransferError.self, \.code, .invalid) { try await transport.perform(bad) }
            }
        }
    }

    @Test(arguments: Kind.present) func testThatACanceledTaskCarriesNothing(kind: Kind) async throws {
        try await withTransport(kind) { transport, base, _ in
            let put = request(.put, base + "a", .bytes([1]))
            let task = Task {
                withUnsafeCurrentTask { $0?.cancel() }
                _ = await expectRejection(TransferError.self, \.code, .canceled) { try await transport.perform(put) }
            }
            await task.value
            let after = try await transport.perform(request(.get, base + "a"))
            #expect(after.status == 404)
        }
    }
}
