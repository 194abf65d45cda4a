import Basics
import CLibGit2
import Model
import TestSupport
import Testing

@testable import SourceControl

/// The limits of the memory and time that a server over http may use.
@Suite struct HTTPLimitTests {
    /// N5.
    @Test(
        .proves(
            .sourceControl,
            "A wrong answer over http is reported and traps nothing. A pack of any size takes 256 KiB of memory, and the server is not given up while libgit2 works"
        ),
        .proves(
            .intake,
            "A server's list of refs may have 64 MiB and 500,000 refs of any kind; a longer one fails the scan with a message"
        ))
    func testThatAListWithoutEndIsGivenUp() async throws {
        try await withTemporaryDirectory { directory in
            var limits = NetworkLimits()
            limits.listBytes = 1 << 20
            let commit = try #require(CommitID("00000000000000000000000000000000000000aa"))
            let line = SmartHTTPAnswer.packet("\(commit) refs/pull/\(String(repeating: "x", count: 900))\n")
            let list = SmartHTTPAnswer.list(commit).dropLast(4) + Array(String(repeating: line, count: 4000).utf8)
            let answer = SmartHTTPAnswer.answer(SmartHTTPAnswer.listType, Array(list), length: 1 << 40)
            try await ScriptedHTTPServer.serving(bytes: { _ in answer }) { server in
                let mirror = Mirrors(directory: directory.path("mirrors"), limits: limits, engine: .library).mirror(
                    of: try RemoteURL("http://127.0.0.1:\(server.port)/kit", isInsecureAllowed: true))
                let error = await expectRejection(SourceControlError.self, \.code, .tooLarge) {
                    try await mirror.scan()
                }
                expectContains("\(try #require(error))", "the server's list of refs is longer than")
            }
        }
    }

    /// N5: short lines are few bytes, but libgit2 needs some 200 bytes of memory for each.
    @Test(
        .proves(
            .intake,
            "A server's list of refs may have 64 MiB and 500,000 refs of any kind; a longer one fails the scan with a message"
        ))
    func testThatAListOfTooManyRefsThatDoNotCountIsGivenUp() async throws {
        try await withTemporaryDirectory { directory in
            var limits = NetworkLimits()
            limits.listLines = 3000
            let commit = try #require(CommitID("00000000000000000000000000000000000000aa"))
            for (count, isTooMuch) in [(2990, false), (30_000, true)] {
                let lines = (0..<count).map { SmartHTTPAnswer.packet("\(commit) refs/pull/\($0)/head\n") }
                let list = SmartHTTPAnswer.list(commit).dropLast(4) + Array(lines.joined().utf8) + Array("0000".utf8)
                let answer = SmartHTTPAnswer.answer(SmartHTTPAnswer.listType, Array(list))
                try await ScriptedHTTPServer.serving(bytes: { _ in answer }) { server in
                    let mirror = Mirrors(
                        directory: directory.path("mirrors-\(count)"), limits: limits, engine: .library
                    ).mirror(of: try RemoteURL("http://127.0.0.1:\(server.port)/kit", isInsecureAllowed: true))
                    guard isTooMuch else {
                        #expect(try await mirror.scan().heads.count == 1)
                        return
                    }
                    let error = await expectRejection(SourceControlError.self, \.code, .tooLarge) {
                        try await mirror.scan()
                    }
                    expectContains("\(try #require(error))", "500000 refs of any kind; remove some there")
                }
            }
        }
    }

    /// Each commit is kept in memory, for the next request.
    @Test(
        .proves(
            .sourceControl,
            "A wrong answer over http is reported and traps nothing. A pack of any size takes 256 KiB of memory, and the server is not given up while libgit2 works"
        ))
    func testThatAServerThatKnowsCommitsWithoutEndIsGivenUp() async throws {
        var limits = NetworkLimits()
        limits.listBytes = 1 << 20
        try await withOrigin { fixture in
            // given: as many commits as are offered at once
            for number in 0..<20 { _ = try await fixture.origin.commit(files: ["a": "\(number)\n"]) }
            let served = try await HTTPTransportTests.Served(fixture)
            let unknown = "00000000000000000000000000000000000000aa"
            let list = SmartHTTPAnswer.list(try #require(CommitID(unknown)), "multi_ack_detailed")
            let line = SmartHTTPAnswer.packet("ACK \(unknown) common\n")
            let known = Array(String(repeating: line, count: 50_000).utf8)
            let isHonest = Locked(true)
            try await ScriptedHTTPServer.serving(bytes: { head in
                if isHonest.value { return head.hasPrefix("GET ") ? served.listAnswer : served.packAnswer }
                return head.hasPrefix("GET ")
                    ? SmartHTTPAnswer.answer(SmartHTTPAnswer.listType, list)
                    : SmartHTTPAnswer.answer(SmartHTTPAnswer.packType, known, length: 1 << 40)
            }) { server in
                let url = try RemoteURL("http://127.0.0.1:\(server.port)/kit", isInsecureAllowed: true)
                let mirror = Mirrors(directory: fixture.directory.path("mirrors"), limits: limits, engine: .library)
                    .mirror(of: url)
                try await mirror.fetch([fixture.main: served.commit])
                isHonest.withLock { $0 = false }

                // when, then
                let heads = try await mirror.scan().heads
                await expectRejection(SourceControlError.self, \.code, .tooLarge) { try await mirror.fetch(heads) }
            }
        }
    }

    /// Reads an answer on a serial queue of its own.
    private static func reading<Value: Sendable>(
        _ answer: [UInt8], _ body: @escaping @Sendable (HTTPStream, NetworkControl) throws -> Value
    ) async throws -> Value {
        let value = Locked<Value?>(nil)
        try await ScriptedHTTPServer.serving(bytes: { _ in answer }) { server in
            let url = "http://127.0.0.1:\(server.port)/kit"
            let result = try await SerialQueue(label: "test").run { () throws -> Value in
                let control = NetworkControl(limits: NetworkLimits())
                let owner = UnsafeMutablePointer<git_transport>.allocate(capacity: 1)
                defer { owner.deallocate() }
                let parent = try #require(HTTPSubtransport(owner: owner, control: control))
                let stream = HTTPStream(try HTTPRequest(url, GIT_SERVICE_UPLOADPACK_LS), by: parent)
                defer { stream.end() }
                control.beginPack()
                return try body(stream, control)
            }
            value.withLock { $0 = result }
        }
        return try #require(value.value)
    }

    /// A pack of any size needs a few hundred kilobytes of memory, however fast it arrives.
    @Test(
        .proves(
            .sourceControl,
            "A wrong answer over http is reported and traps nothing. A pack of any size takes 256 KiB of memory, and the server is not given up while libgit2 works"
        ))
    func testThatWhatIsNotReadYetStaysWithTheServer() async throws {
        let body = [UInt8](repeating: 7, count: 16 << 20)
        let answer = SmartHTTPAnswer.answer(SmartHTTPAnswer.listType, body)
        let (count, most) = try await Self.reading(answer) { stream, _ in
            var space = [UInt8](repeating: 0, count: 65_536)
            var (count, most) = (0, 0)
            while true {
                let now = try space.withUnsafeMutableBytes { try stream.read(into: $0) }
                if now == 0 { return (count, most) }
                count += now
                most = max(most, stream.unread)
            }
        }
        #expect(count == body.count)
        #expect(most < HTTPStream.maximumPending + 65_536)
    }

    /// libgit2 reads nothing while it assembles a pack, which takes minutes for millions of deltas.
    @Test(
        .proves(
            .sourceControl,
            "A wrong answer over http is reported and traps nothing. A pack of any size takes 256 KiB of memory, and the server is not given up while libgit2 works"
        ))
    func testThatAServerThatNobodyReadsIsNotSilent() async throws {
        let answer = SmartHTTPAnswer.answer(SmartHTTPAnswer.listType, [UInt8](repeating: 7, count: 1 << 20))
        let (before, silent, waited) = try await Self.reading(answer) { stream, control in
            let before = control.silence { _ in 90_000 }
            var space = [UInt8](repeating: 0, count: 10)
            _ = try space.withUnsafeMutableBytes { try stream.read(into: $0) }
            let silent = control.silence { _ in 90_000 }
            return (before, silent, control.waiting { control.silence { _ in 90_000 } })
        }
        #expect(before == nil)
        #expect(silent == nil)
        // The time counts from the beginning of the wait, not from the server's last byte.
        #expect(try #require(waited) < .seconds(90))
    }
}
