import Basics
import Foundation
import Glibc
import TestSupport
import Testing

@testable import ServiceSupport

/// The real daemon, killed while it removes integrations.
@Suite struct RetentionKillTests {
    private static let places = [
        ("retention.removed", "before"), ("retention.removed", "after"), ("retention.moved", "before"),
        ("retention.moved", "after"), ("retention.deleted", "before"), ("retention.deleted", "after"),
    ]

    private static let recipe = """
        configurations:
          debug: { build: "echo build; rm -f made.txt; echo made > made.txt", test: "echo test" }
        analyze: []
        archive: { include: [made.txt] }

        """

    /// The parts of an integration that a client can see.
    private struct Seen {
        var status: Int
        var log: Int
        var isListed: Bool
        var hasDirectory: Bool
        var isHeld: Bool
    }

    private static func look(at number: Int, _ service: Service) throws -> Seen {
        let path = "/api/v1/bots/kit/integrations/\(number)"
        let items = try service.client.get("bots/kit/integrations?limit=100")["items"] as? [[String: Any]] ?? []
        let mirror = try FileManager.default.contentsOfDirectory(atPath: service.state + "/repositories").first ?? ""
        let refs = try Shell.run(
            "git",
            ["--git-dir", service.state + "/repositories/" + mirror, "for-each-ref", "refs/martlet/kit/\(number)"])
        return Seen(
            status: try service.client.send("GET", path).status,
            log: try service.client.send("GET", path + "/log/debug").status,
            isListed: items.contains { $0["number"] as? Int == number },
            hasDirectory: access(service.state + "/integrations/kit/\(number)", F_OK) == 0,
            isHeld: !refs.isEmpty)
    }

    /// Arms the place, prunes, kills the daemon where it stopped, and starts it again.
    private static func kill(_ place: (String, String), _ service: Service) throws {
        let failpoint = service.root + "/failpoint"
        unlink(failpoint + ".hit")
        try service.write("failpoint", "\(place.0) \(place.1)\n")
        let socket = service.state + "/martlet.socket"
        // There is no answer if the daemon stops before it.
        let asking = Thread {
            _ = try? ServiceClient(socket: socket).send("POST", "/api/v1/prune", body: "{}")
        }
        asking.start()
        let isHit = Moment.until(limit: 60) { access(failpoint + ".hit", F_OK) == 0 }
        guard isHit else { throw ServiceFailure("\(place) was not passed: \(service.text("daemon.log").suffix(500))") }
        service.end(SIGKILL)
        try service.start()
    }

    @Test(
        .proves(
            .releases,
            "Versions: Retention removes rows, files and held commit together; a kill leaves nothing half visible, and the next start finishes"
        ))
    func testThatAKillLeavesNothingHalfVisible() async throws {
        let martlet = try TestTools.builtProduct("martlet")
        try await withTemporaryDirectory { directory in
            let root = try directory.makeDirectory("service")
            try await SerialQueue(label: "retention-kills").run {
                let service = try Service(
                    root: root, programs: String(martlet.dropLast("/martlet".count)), settings: "isolation: none\n",
                    environment: ["MARTLET_FAILPOINT": root + "/failpoint"])
                defer {
                    service.endAll()
                    service.remove()
                }
                // given: two integrations
                let commit = try service.makeBot(
                    "kit", files: [".martlet.yml": Self.recipe], lines: "retention: { integrations: 1 }\n")
                try service.start()
                _ = try service.begun("kit")
                // The push at the branch's head is kept; integrations that a user starts are not.
                var newest = try service.integrate("kit", commit: commit)
                try service.completed("kit", newest)
                for place in Self.places {
                    let old = newest
                    newest = try service.integrate("kit", commit: commit)
                    try service.completed("kit", newest)
                    // when: only the older one is removed
                    try Self.kill(place, service)
                    // then: at once it either exists with all its parts, or not at all
                    let seen = try Self.look(at: old, service)
                    if place == ("retention.removed", "before") {
                        #expect(seen.status == 200 && seen.log == 200 && seen.isListed && seen.hasDirectory, "\(seen)")
                        _ = try service.client.send("POST", "/api/v1/prune", body: "{}")
                    } else {
                        #expect(seen.status == 410 && seen.log == 410 && !seen.isListed, "\(place): \(seen)")
                    }
                    // Soon nothing is left of it
                    let isGone = try Moment.until(limit: 60) {
                        let seen = try Self.look(at: old, service)
                        let aside = try? FileManager.default.contentsOfDirectory(
                            atPath: service.state + "/integrations/.removed")
                        return seen.status == 410 && !seen.hasDirectory && !seen.isHeld && aside?.isEmpty != false
                    }
                    let left = try Self.look(at: old, service)
                    #expect(isGone, "\(place): \(left)")
                    let other = try Self.look(at: newest, service)
                    #expect(other.status == 200 && other.log == 200 && other.isHeld, "\(place): \(other)")
                }
                // No number was used twice
                #expect(newest == Self.places.count + 2)
            }
        }
    }
}
