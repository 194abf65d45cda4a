/// What a user takes back: docs/guide/versions.md, "Take a version back".
extension KillSweep {
    func beginYanking() throws -> Course {
        let (bot, version) = (KillScenario.yanking.rawValue, "1.0.\(runs)")
        let commit = try service.commit(bot, files: ["version": version + "\n"])
        _ = try ended(commit, of: bot)
        let path = "/api/v1/products/\(bot)/versions/\(version)/yank"
        return Course(
            bot: bot, act: { try $0.send("POST", path, body: "{}").status == 200 }, results: [(commit, "succeeded")],
            attempts: ["debug": 1]
        ) { _ in
            try self.yankViolations(version, of: bot)
        }
    }

    /// The database and the disk agree, no range resolves to the version, and its files stay. Each run yanks one version of the bot.
    private func yankViolations(_ version: String, of bot: String) throws -> [String] {
        let name = "\(bot) \(version)"
        var found: [String] = []
        if try service.client.get("products/\(bot)/versions/\(version)")["yanked"] as? Bool != true {
            found.append("\(name) is not yanked by the database")
        }
        if !service.text("state/files/\(bot)/yanked.json").contains("\"\(version)\"") {
            found.append("\(name) is not yanked by the disk")
        }
        for (path, status) in [("latest/", 404), ("~1.0/", 404), ("\(version)/SHA256SUMS", 200)] {
            let answer = try service.client.send("GET", "/files/\(bot)/\(path)").status
            if answer != status { found.append("/files/\(bot)/\(path) answers \(answer) instead of \(status)") }
        }
        return found
    }
}
