import Foundation
import Glibc

/// What retention removes: docs/operating/retention.md. The ledger is what was there before.
extension KillSweep {
    /// In seconds. A removal is done soon, not at once.
    private static let patience = 15.0

    func beginRetention() throws -> Course {
        let bot = KillScenario.retention.rawValue
        let commit = try service.git(bot, "rev-parse", "HEAD")
        // The first integration is of its branch's push and is kept. Those that a user starts are not.
        var numbers = try listed(bot)
        while numbers.count < 3 {
            let number = try service.integrate(bot, commit: commit)
            try service.completed(bot, number)
            numbers.insert(number, at: 0)
        }
        let (kept, gone) = ([numbers[0], numbers[numbers.count - 1]], Array(numbers[1..<(numbers.count - 1)]))
        let before = try kept.map { try content($0, of: bot) }
        return Course(
            bot: bot, act: { try $0.send("POST", "/api/v1/prune", body: "{}").status == 200 }, results: [],
            attempts: [:]
        ) { _ in
            var found: [String] = []
            if try self.listed(bot) != kept { found.append("\(bot) lists \(try self.listed(bot)) instead of \(kept)") }
            for (number, content) in zip(kept, before) where try self.content(number, of: bot) != content {
                found.append("\(bot)#\(number), which is kept, is not what it was")
            }
            for number in gone { found += try self.traces(of: number, bot) }
            return found
        }
    }

    /// Returns the numbers of a bot's integrations, newest first.
    private func listed(_ bot: String) throws -> [Int] {
        let items = try service.client.get("bots/\(bot)/integrations?limit=100")["items"] as? [[String: Any]] ?? []
        return items.compactMap { $0["number"] as? Int }
    }

    /// Returns all contents of an integration: its page, its log, the sums of its files, and the commit that it holds.
    private func content(_ number: Int, of bot: String) throws -> [String] {
        let path = "/api/v1/bots/\(bot)/integrations/\(number)"
        let view = try service.client.send("GET", path)
        let log = try service.client.send("GET", path + "/log/debug")
        let files = try Shell.run(
            "/bin/sh",
            ["-c", "cd '\(service.state)/integrations/\(bot)/\(number)' && find . -type f | sort | xargs sha256sum"])
        return ["\(view.status) \(view.text)", "\(log.status) \(log.text)", files, try held(number, bot)]
    }

    private func held(_ number: Int, _ bot: String) throws -> String {
        let mirrors = try FileManager.default.contentsOfDirectory(atPath: service.state + "/repositories")
        return try mirrors.sorted().map { mirror in
            try Shell.run(
                "git",
                [
                    "--git-dir", "\(service.state)/repositories/\(mirror)", "for-each-ref",
                    "refs/martlet/\(bot)/\(number)",
                ])
        }.joined()
    }

    /// Returns what is left of a removed integration after `patience`.
    private func traces(of number: Int, _ bot: String) throws -> [String] {
        let path = "/api/v1/bots/\(bot)/integrations/\(number)"
        let places = ["\(bot)/\(number)", ".removed/\(bot).\(number)"].map { "\(service.state)/integrations/\($0)" }
        var found: [String] = []
        _ = try Moment.until(limit: Self.patience, pause: 20) {
            found = places.filter { access($0, F_OK) == 0 }.map { "\($0) is left" }
            if try !held(number, bot).isEmpty { found.append("\(bot)#\(number) holds its commit") }
            found += try databaseViolations().filter { $0.contains("removed in part") }
            for path in [path, path + "/log/debug", path + "/artifacts"] {
                let status = try service.client.send("GET", path).status
                if status != 410 { found.append("\(path) answers \(status)") }
            }
            return found.isEmpty
        }
        return found
    }
}
