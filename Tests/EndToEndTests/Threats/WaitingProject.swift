import BotSupport
import Foundation
import TestSupport
import Testing

/// A project whose build records each run and waits for the file `go` in the test's directory.
enum WaitingProject {
    static func push(_ daemon: Daemon) async throws {
        let (go, runs) = (daemon.directory.path("go"), daemon.directory.path("runs"))
        try await daemon.push(building: "echo run >>\(runs); while [ ! -f \(go) ]; do sleep 0.02; done")
    }

    static func isBuilding(_ daemon: Daemon) -> Bool {
        FileManager.default.fileExists(atPath: daemon.directory.path("runs"))
    }
}

extension Daemon {
    /// Pushes a project whose only step is a command of its Makefile, without analysis, tests or products.
    func push(building command: String) async throws {
        _ = try await work.commit(
            files: [
                "Makefile": "all:\n\t\(command)\n",
                ".martlet.yml": "configurations:\n  debug: { test: none }\nanalyze: []\narchive: { include: [] }\n",
            ], message: "Begin")
        try await work.push(to: remote)
    }

    /// Waits until an integration of `kit` is completed.
    /// - Returns: Its JSON.
    func completion(of number: Int) async throws -> String {
        var body = ""
        try await until("the end of kit#\(number)", limit: Bot.waitLimit) {
            body = try await get("/api/v1/bots/kit/integrations/\(number)").body
            return body.contains("\"completed\"")
        }
        return body
    }
}
