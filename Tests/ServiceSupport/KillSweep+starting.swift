import GRDB
import Glibc

/// The work that a daemon does once when it starts. The daemon is stopped when there is such work, and is killed in its next start.
extension KillSweep {
    /// Whether the daemon answers. A start needs no other act.
    private static func answers(_ client: ServiceClient) throws -> Bool {
        try client.send("GET", "/health").status == 200
    }

    /// A job whose integration is failed at the start: the file `crashes` of `CrashMarks` states three traps.
    func beginLeavingAlone() throws -> Course {
        let bot = KillScenario.leftAlone.rawValue
        let (commit, number) = try running(bot)
        service.end(SIGKILL)
        let version = try Shell.run(service.programs + "/martlet", ["--version"])
        try service.write("state/crashes", "\(version)\n3 integration \(bot)#\(number)\n", mode: 0o600)
        return Course(
            bot: bot, act: { try Self.answers($0) }, results: [(commit, "internal-error")], attempts: ["debug": 1],
            isAtStart: true)
    }

    /// The daemon is killed while it sends a message, which does not arrive.
    func beginResuming() throws -> Course {
        let (bot, listener) = (KillScenario.tellingResumed.rawValue, listener)
        listener.set(.holds, for: bot)
        let one = try turn(bot)
        let number = try ended(one.commit, of: bot)
        try awaitHeld(bot)
        service.end(SIGKILL)
        listener.release(bot, status: 503)
        return Course(
            bot: bot, act: { try Self.answers($0) }, results: [(one.commit, one.result)], attempts: ["debug": 1],
            isAtStart: true
        ) { _ in
            // If the kill is before any message is sent again, no message is one that may have arrived.
            try self.violations(bot, number, one.type, isTaken: true, isDaemonKilled: false)
        }
    }

    /// A version without a row, as in an older copy of the database.
    func beginAdopting() throws -> Course {
        let (bot, version) = (KillScenario.adopting.rawValue, "1.0.\(runs)")
        let commit = try service.commit(bot, files: ["version": version + "\n"])
        let number = try ended(commit, of: bot)
        let sums = service.text("state/files/\(bot)/\(version)/SHA256SUMS")
        service.end(SIGTERM)
        try change("DELETE FROM versions WHERE product = ? AND version = ?", [bot, version])
        return Course(
            bot: bot, act: { try Self.answers($0) }, results: [(commit, "succeeded")], attempts: ["debug": 1],
            isAtStart: true
        ) { _ in
            try self.adoptViolations(version, of: bot, integration: "\(bot)#\(number)", sums: sums)
        }
    }

    /// The row equals the manifest, and the files have not changed.
    private func adoptViolations(
        _ version: String, of bot: String, integration: String, sums: String
    ) throws -> [String] {
        let name = "\(bot) \(version)"
        let view = try service.client.send("GET", "/api/v1/products/\(bot)/versions/\(version)")
        guard view.status == 200 else { return ["\(name) is not adopted: \(view.status) \(view.text)"] }
        var found: [String] = []
        if !view.text.contains("\"\(integration)\"") { found.append("\(name) is another's: \(view.text)") }
        let served = try service.client.send("GET", "/files/\(bot)/\(version)/SHA256SUMS")
        if sums.isEmpty || served.text != sums { found.append("\(name) has other files: \(served.text)") }
        return found
    }

    /// Changes the database of a daemon that is down.
    func change(_ sql: String, _ arguments: StatementArguments) throws {
        let queue = try DatabaseQueue(path: service.state + "/martlet.sqlite")
        try queue.write { try $0.execute(sql: sql, arguments: arguments) }
        try queue.close()
    }
}
