/// A version that cannot be published gives its number back: docs/guide/versions.md.
extension KillSweep {
    func beginAbandoning() throws -> Course {
        let (bot, version) = (KillScenario.abandoning.rawValue, "1.0.\(runs)")
        try service.git(bot, "rm", "-q", "--ignore-unmatch", "whole")
        let commit = try service.commit(bot, files: ["version": version + "\n"])
        return Course(
            bot: bot, act: push(commit, to: bot), results: [(commit, "trigger-error")],
            attempts: ["debug": 1, "_trigger-spoil": 1]
        ) { _ in
            try self.abandonViolations(version, of: bot)
        }
    }

    /// Nothing has the version, and another commit can be published as it.
    private func abandonViolations(_ version: String, of bot: String) throws -> [String] {
        var found = try databaseViolations()
        for path in ["/api/v1/products/\(bot)/versions/\(version)", "/files/\(bot)/\(version)/SHA256SUMS"] {
            let answer = try service.client.send("GET", path).status
            if answer != 404 { found.append("\(path) answers \(answer)") }
        }
        let commit = try service.commit(bot, files: ["whole": ""])
        let number = try ended(commit, of: bot)
        let published = try service.client.send("GET", "/api/v1/products/\(bot)/versions/\(version)").text
        if !published.contains("\"\(commit)\"") {
            found.append("\(bot)#\(number) cannot have the number \(version): \(published)")
        }
        return found
    }
}
