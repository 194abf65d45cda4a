import Basics
import Foundation
import JobProtocol
import TestSupport
import Testing

@testable import ServiceSupport

/// Subjects that make the daemon trap each time, with a real daemon that is restarted each time.
@Suite(.program("git")) struct W16PoisonTests {
    private struct Found: Sendable {
        /// The number of crashes of the daemon.
        var traps = 0
        var kit = ""
        var reason = ""
    }

    /// Starts the daemon until it stays up, at most five times.
    private func found(at subject: @escaping @Sendable (String) -> String) async throws -> Found {
        let martlet = try TestTools.builtProduct("martlet")
        return try await withTemporaryDirectory { directory in
            let root = try directory.makeDirectory("service")
            return try await SerialQueue(label: "poison").run {
                let service = try Service(
                    root: root, programs: String(martlet.dropLast("/martlet".count)),
                    environment: ["MARTLET_TRAP": root + "/trap", "SWIFT_BACKTRACE": "enable=no"])
                defer { service.endAll() }
                let recipe = "configurations: { debug: { build: 'true', test: 'true' } }\nanalyze: []\n"
                for bot in ["bad", "kit"] { _ = try service.makeBot(bot, files: [".martlet.yml": recipe]) }
                try service.write("trap", subject(root))
                var found = Found()
                for _ in 1...5 {
                    try? service.start()
                    let isFound = Moment.until(limit: 60, pause: 20) {
                        Self.read(service, &found)
                        return !found.kit.isEmpty && !found.reason.isEmpty || Self.isGone(service)
                    }
                    guard isFound, Self.isGone(service) else { break }
                    service.end(0)
                    found.traps += 1
                }
                return found
            }
        }
    }

    private static func isGone(_ service: Service) -> Bool {
        service.pid == 0 || ProcessTable.entry(of: service.pid)?.isAlive != true
    }

    /// Reads the reports about both subjects.
    private static func read(_ service: Service, _ found: inout Found) {
        let (kit, bad) = (
            try? service.client.get("bots/kit/integrations/1"), try? service.client.get("bots/bad/integrations/1")
        )
        found.kit = kit?["result"] as? String ?? ""
        let look = (try? service.client.get("bots/bad"))?["lookError"] as? String
        found.reason = bad?["reason"] as? String ?? look ?? ""
    }

    @Test(
        .proves(
            .intake,
            "What ends the daemon by a trap whenever it is worked on is left alone after three times, and said so; all else goes on (W16)"
        ))
    func testW16ThatAnIntegrationThatEndsTheDaemonIsLeftAloneAfterThreeTimes() async throws {
        let found = try await found { _ in "integration bad#1" }
        #expect(found.traps == 3)
        #expect(found.kit == "succeeded")
        expectContains(found.reason, "ended 3 times by a fault of its own")
    }

    @Test(
        .proves(
            .intake,
            "What ends the daemon by a trap whenever it is worked on is left alone after three times, and said so; all else goes on (W16)"
        ))
    func testW16ThatARepositoryThatEndsTheDaemonIsLeftAloneAfterThreeTimes() async throws {
        let found = try await found { "look \($0)/repositories/bad.git" }
        #expect(found.traps == 3)
        #expect(found.kit == "succeeded")
        expectContains(found.reason, "ended 3 times by a fault of its own")
    }

    // MARK: Requests

    /// A request that crashes the daemon, with the place of the fault: in its handler, in a read of the database, in a write.
    struct Request: Sendable, CustomTestStringConvertible {
        let method: String
        let path: String
        let subject: String
        var testDescription: String { subject }
    }

    @Test(
        .proves(.intake, "A trap while a request is answered counts against that request alone (W16)"),
        arguments: [
            Request(method: "GET", path: "/api/v1/deliveries", subject: "request /api/v1/deliveries"),
            Request(method: "GET", path: "/api/v1/deliveries", subject: "read list the deliveries"),
            Request(method: "DELETE", path: "/api/v1/tokens/ann", subject: "write revoke the token ann"),
        ])
    func testW16ThatARequestThatEndsTheDaemonIsNoFaultOfWhatRunsBeside(_ request: Request) async throws {
        let martlet = try TestTools.builtProduct("martlet")
        let (result, reason, traps) = try await withTemporaryDirectory { directory in
            let root = try directory.makeDirectory("service")
            return try await SerialQueue(label: "request").run {
                // given: an integration that runs until the test releases it
                let service = try Service(
                    root: root, programs: String(martlet.dropLast("/martlet".count)), settings: "isolation: none\n",
                    environment: ["MARTLET_TRAP": root + "/trap", "SWIFT_BACKTRACE": "enable=no"])
                defer { service.endAll() }
                let build = "while ! test -e \(root)/go; do sleep 0.02; done"
                _ = try service.makeBot(
                    "kit",
                    files: [
                        ".martlet.yml": "configurations: { debug: { build: '\(build)', test: 'true' } }\nanalyze: []\n"
                    ])
                try service.write("trap", request.subject)
                var traps = 0
                for _ in 0..<CrashMarks.limit {
                    try service.start()
                    // when: the request is sent while the integration runs
                    let isRunning = Moment.until(limit: 60, pause: 20) {
                        (try? service.client.get("bots/kit/integrations/1"))?["state"] as? String == "running"
                    }
                    guard isRunning else { break }
                    _ = try? service.client.send(request.method, request.path)
                    guard Moment.until(limit: 60, pause: 20, { Self.isGone(service) }) else { break }
                    service.end(0)
                    traps += 1
                }
                // then: the integration completes as usual
                try service.write("trap", "")
                try service.start()
                try service.write("go", "")
                _ = Moment.until(limit: 60, pause: 20) {
                    (try? service.client.get("bots/kit/integrations/1"))?["state"] as? String == "completed"
                }
                let end = try service.client.get("bots/kit/integrations/1")
                return (end["result"] as? String, end["reason"] as? String, traps)
            }
        }
        #expect(traps == CrashMarks.limit)
        #expect(result == "succeeded", "\(reason ?? "")")
    }
}
