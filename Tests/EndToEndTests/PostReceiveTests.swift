import Archives
import Basics
import Encodings
import Foundation
import TestSupport
import Testing

/// `hooks/post-receive` in a bare repository, run by git.
@Suite(.program("perl"), .program("curl")) struct PostReceiveTests {
    private struct Server {
        let directory: TemporaryDirectory
        let work: GitRepository
        let bare: GitRepository
        var spool: String { bare.path + "/martlet-spool" }

        func say(_ url: String) async throws { try await bare.git("config", "martlet.url", url) }

        /// Returns the events that wait in the spool, oldest first.
        func kept() throws -> [String] {
            let names = try FileManager.default.contentsOfDirectory(atPath: spool)
            return names.filter { $0.hasSuffix(".json") }.sorted()
        }
    }

    private func withServer(_ body: (Server) async throws -> Void) async throws {
        try await withTemporaryDirectory { directory in
            let server = Server(
                directory: directory, work: try await GitRepository.make(at: directory.path("work")),
                bare: try await GitRepository.make(at: directory.path("kit.git"), isBare: true))
            // Another process copies it: a file that this process had open for writing cannot be run for a moment (`TemporaryDirectory.write`).
            try await runExpectingSuccess(
                ["cp", Project.root + "/hooks/post-receive", server.bare.path + "/hooks/post-receive"])
            try directory.write("secret", "a secret\n", mode: 0o600)
            try await server.bare.git("config", "martlet.secret", directory.path("secret"))
            _ = try await server.work.commit(files: ["a": "1"], message: "Begin")
            do {
                try await body(server)
            } catch {
                try await end(server)
                throw error
            }
            try await end(server)
        }
    }

    /// Waits until the processes that send, and that wait to send again, have exited.
    private func end(_ server: Server) async throws {
        guard FileManager.default.fileExists(atPath: server.spool) else { return }
        for name in try server.kept() { try FileManager.default.removeItem(atPath: server.spool + "/" + name) }
        for lock in ["sending.lock", "waiting.lock"]
        where FileManager.default.fileExists(atPath: server.spool + "/" + lock) {
            try await until("the end of the hook's processes", limit: TestLimits.wait * 2) {
                try await run(["flock", "--nonblock", server.spool + "/" + lock, "true"]).status == 0
            }
        }
    }

    @Test(
        .proves(
            .intake,
            "`hooks/post-receive` sends one signed request for all refs; more than the daemon takes ask for a scan"))
    func testThatOneSignedRequestTellsOfAllRefs() async throws {
        try await withServer { server in
            // given
            let listener = try PushListener()
            defer { listener.stop() }
            try await server.say("http://127.0.0.1:\(listener.port)/webhooks/push/kit")
            try await server.work.branch("release/\"1.0\"")
            try await server.work.tag("v1")
            // when
            try await server.work.push(to: server.bare)
            // then
            try await until("the request is taken") { try server.kept().isEmpty && !listener.requests.isEmpty }
            let request = try #require(listener.requests.first)
            #expect(listener.requests.count == 1)
            let digest = Digest.hmacSHA256(key: Array("a secret".utf8), message: Array(request.body.utf8))
            #expect(request.header("X-Hub-Signature-256") == "sha256=" + Hexadecimal.encode(digest))
            for ref in ["refs/heads/main", "refs/heads/release/\\\"1.0\\\"", "refs/tags/v1"] {
                expectContains(request.body, "{\"ref\":\"\(ref)\",\"before\":\"\(String(repeating: "0", count: 40))\"")
            }
        }
    }

    enum Silence: String, CaseIterable { case accepts, refuses, hasNoAddress, answers500 }

    @Test(
        .proves(
            .intake,
            "`hooks/post-receive` never delays a push by more than a second, even if the daemon is silent, unreachable or fails"
        ), arguments: Silence.allCases)
    func testThatNoPushIsDelayedByMoreThanASecond(silence: Silence) async throws {
        try await withServer { server in
            // given
            let silent = try LoopbackSocket()
            defer { silent.stop() }
            let failing = try PushListener(status: 500)
            defer { failing.stop() }
            let address =
                switch silence {
                case .accepts: "127.0.0.1:\(silent.port)"
                case .refuses: "127.0.0.1:\(try LoopbackSocket.freePort())"
                case .hasNoAddress: "martlet.invalid"
                case .answers500: "127.0.0.1:\(failing.port)"
                }
            let clock = ContinuousClock()
            let hook = server.bare.path + "/hooks/post-receive"
            try FileManager.default.moveItem(atPath: hook, toPath: hook + ".off")
            let plain = try await clock.measure { try await server.work.push(to: server.bare) }
            try FileManager.default.moveItem(atPath: hook + ".off", toPath: hook)
            try await server.say("http://\(address)/webhooks/push/kit")
            _ = try await server.work.commit(files: ["a": "2"])
            // when
            let delayed = try await clock.measure { try await server.work.push(to: server.bare) }
            // then
            print("a push with a daemon that \(silence): \(delayed), without the hook: \(plain)")
            // A hook that waits for the daemon would wait for ten seconds.
            #expect(delayed - plain < .milliseconds(TestLimits.passing(milliseconds: 1000, most: 8000)))
            #expect(try server.kept().count == 1)
        }
    }

    @Test(
        .proves(
            .intake,
            "`hooks/post-receive` spools a request that was not taken and sends it again, in order, each once, without another push. The spool is bounded"
        ))
    func testThatWhatWasKeptIsSentWithoutAnotherPushInItsOrderAndOnce() async throws {
        try await withServer { server in
            // given
            let port = try LoopbackSocket.freePort()
            try await server.say("http://127.0.0.1:\(port)/webhooks/push/kit")
            for number in 0..<3 {
                _ = try await server.work.commit(files: ["a": "\(number + 2)"])
                try await server.work.push(to: server.bare)
            }
            let kept = try server.kept()
            #expect(kept.count == 3)
            // when
            let listener = try PushListener(port: port)
            defer { listener.stop() }
            // then
            try await until("what was kept is sent", limit: TestLimits.wait * 2) { try server.kept().isEmpty }
            #expect(listener.requests.map { ($0.header("X-Martlet-Delivery") ?? "") + ".json" } == kept)
        }
    }

    @Test(
        .proves(
            .intake,
            "`hooks/post-receive` spools a request that was not taken and sends it again, in order, each once, without another push. The spool is bounded"
        ))
    func testThatPushesAtOnceSendEachOnce() async throws {
        try await withServer { server in
            // given
            let listener = try PushListener()
            defer { listener.stop() }
            try await server.say("http://127.0.0.1:\(listener.port)/webhooks/push/kit")
            // when
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<8 {
                    group.addTask { try await server.work.push(to: server.bare, ["HEAD:refs/heads/b\(number)"]) }
                }
                try await group.waitForAll()
            }
            // then
            try await until("all are sent") { try server.kept().isEmpty }
            let deliveries = listener.requests.compactMap { $0.header("X-Martlet-Delivery") }
            #expect(deliveries.count == 8)
            #expect(Set(deliveries).count == 8)
            #expect(Set(listener.requests.map(\.body)).count == 8)
        }
    }

    @Test(
        .proves(
            .intake,
            "`hooks/post-receive` spools a request that was not taken and sends it again, in order, each once, without another push. The spool is bounded"
        ))
    func testThatTheSpoolIsBoundedAndItsNewestAreKept() async throws {
        try await withServer { server in
            // given: more than a thousand from a day ago, and some from a month ago
            try await server.say("http://127.0.0.1:\(try LoopbackSocket.freePort())/webhooks/push/kit")
            // The hook's own time, by the name that it gave its first request.
            try await server.work.push(to: server.bare)
            let first = try #require(try server.kept().first)
            let now = try #require(first.split(separator: ".").first.flatMap { Int($0) })
            try FileManager.default.removeItem(atPath: server.spool + "/" + first)
            _ = try await server.work.commit(files: ["a": "2"])
            let spool = try Directory(creating: server.spool)
            func name(_ seconds: Int) -> String { "\(seconds).000000-00000000000000000000000000000000.json" }
            for number in 0..<1200 { try spool.write(name(now - 86_400 + number), bytes: Array("{}".utf8)) }
            for number in 0..<5 { try spool.write(name(now - 30 * 86_400 + number), bytes: Array("{}".utf8)) }
            try spool.write("0000000001.000000-00.part", bytes: [])
            try spool.write("notes", bytes: Array("not ours".utf8))
            // when
            try await server.work.push(to: server.bare)
            // then
            try await until("the spool is within its bounds") { try server.kept().count == 1000 }
            let kept = try server.kept()
            #expect(kept.first == name(now - 86_400 + 201))
            #expect(kept.last?.contains("-0000") == false, "the push's own is kept")
            #expect(!FileManager.default.fileExists(atPath: server.spool + "/0000000001.000000-00.part"))
            #expect(FileManager.default.fileExists(atPath: server.spool + "/notes"))
        }
    }

    @Test(
        .proves(
            .intake,
            "`hooks/post-receive` sends one signed request for all refs; more than the daemon takes ask for a scan"),
        arguments: [(10_000, 10_000), (10_001, 0)])
    func testThatMoreRefsThanTheDaemonTakesAskForAScan(count: Int, updates: Int) async throws {
        try await withServer { server in
            // given
            let listener = try PushListener()
            defer { listener.stop() }
            try await server.say("http://127.0.0.1:\(listener.port)/webhooks/push/kit")
            let (before, after) = (String(repeating: "0", count: 40), String(repeating: "a", count: 40))
            let lines = (0..<count).map { "\(before) \(after) refs/heads/b\($0)\n" }.joined()
            // when
            let result = try await run(["hooks/post-receive"], in: server.bare.path, input: lines)
            // then
            #expect(result.status == 0, "\(result.stderr)")
            await until("the request is taken") { listener.requests.count == 1 }
            #expect(listener.requests[0].body.components(separatedBy: "\"ref\":").count == updates + 1)
            if updates == 0 { #expect(listener.requests[0].body == "{\"updates\":[]}") }
        }
    }

    @Test(
        .proves(
            .intake,
            "`hooks/post-receive` spools a request that was not taken and sends it again, in order, each once, without another push. The spool is bounded"
        ))
    func testThatWhatTheDaemonNeverTakesIsNotSentForEver() async throws {
        try await withServer { server in
            // given
            let listener = try PushListener(status: 400)
            defer { listener.stop() }
            try await server.say("http://127.0.0.1:\(listener.port)/webhooks/push/kit")
            // when
            try await server.work.push(to: server.bare)
            // then
            try await until("it is dropped") { try server.kept().isEmpty }
            #expect(listener.requests.count == 1)
        }
    }

    @Test(
        .proves(
            .intake,
            "`hooks/post-receive` spools a request that was not taken and sends it again, in order, each once, without another push. The spool is bounded"
        ), arguments: [nil, ""])
    func testThatASecretThatCannotBeReadIsSaidAtOnce(content: String?) async throws {
        try await withServer { server in
            // given
            try await server.say("http://127.0.0.1:\(try LoopbackSocket.freePort())/webhooks/push/kit")
            try FileManager.default.removeItem(atPath: server.directory.path("secret"))
            if let content { try server.directory.write("secret", content) }
            // when
            let result = try await run(["hooks/post-receive"], in: server.bare.path, input: "0 1 refs/heads/main\n")
            // then
            #expect(result.status == 0)
            expectContains("\(result.stderr)", "the secret in \(server.directory.path("secret")) cannot be read")
            #expect(!FileManager.default.fileExists(atPath: server.spool))
        }
    }

    @Test func testThatTheSecretsFileMayBeNamedFromTheRepository() async throws {
        try await withServer { server in
            // given
            let listener = try PushListener()
            defer { listener.stop() }
            try await server.say("http://127.0.0.1:\(listener.port)/webhooks/push/kit")
            try await server.bare.git("config", "martlet.secret", "../secret")
            // when
            try await server.work.push(to: server.bare)
            // then
            try await until("the request is taken") { try server.kept().isEmpty && !listener.requests.isEmpty }
        }
    }

    /// git accepts names that are not UTF-8, and perl's decoding accepts some that no other decoder does.
    @Test(
        .proves(
            .intake,
            "`hooks/post-receive` spools a request that was not taken and sends it again, in order, each once, without another push. The spool is bounded"
        ), arguments: [[0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80], [0xFF]] as [[UInt8]])
    func testThatANameThatIsNoTextAsksForAScan(name: [UInt8]) async throws {
        try await withServer { server in
            // given
            let listener = try PushListener()
            defer { listener.stop() }
            try await server.say("http://127.0.0.1:\(listener.port)/webhooks/push/kit")
            let escaped = name.map { String(format: "\\%03o", $0) }.joined()
            // when
            let result = try await run(
                ["sh", "-c", "printf '0 1 refs/heads/\(escaped)\\n' | hooks/post-receive"], in: server.bare.path)
            // then
            #expect(result.status == 0, "\(result.stderr)")
            await until("the request is taken") { listener.requests.count == 1 }
            let request = try #require(listener.requests.first)
            #expect(request.body == "{\"updates\":[]}")
        }
    }

    @Test(
        .proves(
            .intake,
            "`hooks/post-receive` spools a request that was not taken and sends it again, in order, each once, without another push. The spool is bounded"
        ), arguments: [("group", 0o770), ("0660", 0o770), ("umask", 0o700), ("0600", 0o700)])
    func testThatTheSpoolIsSharedAsTheRepositoryIs(value: String, mode: Int) async throws {
        try await withServer { server in
            // given
            try await server.say("http://127.0.0.1:\(try LoopbackSocket.freePort())/webhooks/push/kit")
            try await server.bare.git("config", "core.sharedRepository", value)
            // when
            let result = try await run(["hooks/post-receive"], in: server.bare.path, input: "0 1 refs/heads/main\n")
            // then
            #expect(result.status == 0, "\(result.stderr)")
            let made = try FileManager.default.attributesOfItem(atPath: server.spool)[.posixPermissions] as? Int
            #expect(made.map { $0 & 0o777 } == mode)
            let kept = try #require(try server.kept().first)
            let file = try FileManager.default.attributesOfItem(atPath: server.spool + "/" + kept)[.posixPermissions]
            #expect(file as? Int == mode & 0o660)
        }
    }
}
