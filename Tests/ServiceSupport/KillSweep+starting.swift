import GRDB
import Glibc

/// What a daemon does once, as it starts: it is brought down where there is something to do, and killed in its next start.
extension KillSweep {
    /// Whether the daemon answers, which is all that anybody asks of a start.
    private static func answers(_ client: ServiceClient) throws -> Bool {
        try client.send("GET", "/health").status == 200
    }

    /// A job of one that is left alone: `CrashMarks` says so by the file `crashes`, as after three traps.
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

    /// A message is being sent when its daemon is killed, and does not arrive.
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
            // A kill before anything is sent again makes no message of it that may have arrived.
            try self.violations(bot, number, one.type, isTaken: true, isDaemonKilled: false)
        }
    }

    /// A version whose row is gone, as where the database is an older one's copy.
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

    /// The row says what its manifest does, and its files are as they were.
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
