import Basics
import Foundation
import JobProtocol
import TestSupport
import Testing

@testable import ServiceSupport

/// What makes the daemon trap whenever it is worked on, in a real daemon that is started again each time.
@Suite(.program("git")) struct W16PoisonTests {
    private struct Found: Sendable {
        /// How often the daemon ended by itself.
        var traps = 0
        var kit = ""
        var reason = ""
    }

    /// Starts the daemon until it stays, at most five times.
    private func found(at subject: @escaping @Sendable (String) -> String) async throws -> Found {
        let martlet = try TestTools.builtProduct("martlet")
        return try await withTemporaryDirectory { directory in
            let root = try directory.makeDirectory("service")
            return try await BlockingLane(label: "poison").run {
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

    /// What is said of both.
    private static func read(_ service: Service, _ found: inout Found) {
        let (kit, bad) = (
            try? service.client.get("bots/kit/integrations/1"), try? service.client.get("bots/bad/integrations/1")
        )
        found.kit = kit?["result"] as? String ?? ""
        let look = (try? service.client.get("bots/bad"))?["lookError"] as? String
        found.reason = bad?["reason"] as? String ?? look ?? ""
    }

    @Test func testW16ThatAnIntegrationThatEndsTheDaemonIsLeftAloneAfterThreeTimes() async throws {
        let found = try await found { _ in "integration bad#1" }
        #expect(found.traps == 3)
        #expect(found.kit == "succeeded")
        expectContains(found.reason, "ended 3 times by a fault of its own")
    }

    @Test func testW16ThatARepositoryThatEndsTheDaemonIsLeftAloneAfterThreeTimes() async throws {
        let found = try await found { "look \($0)/repositories/bad.git" }
        #expect(found.traps == 3)
        #expect(found.kit == "succeeded")
        expectContains(found.reason, "ended 3 times by a fault of its own")
    }
}
