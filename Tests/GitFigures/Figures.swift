import Basics
import Foundation
import Glibc
import Model
import SourceControl
import TestSupport
import Testing

/// Measures both sides and prints them beside each other.
enum Figures {
    /// - Returns: The duration of the body.
    static func time(_ body: () async throws -> Void) async throws -> Duration {
        let clock = ContinuousClock()
        let begin = clock.now
        try await body()
        return clock.now - begin
    }

    static func git(_ arguments: [String], in directory: String? = nil) async throws {
        var environment = GitRepository.environment()
        environment["GIT_CONFIG_COUNT"] = "1"
        environment["GIT_CONFIG_KEY_0"] = "safe.directory"
        environment["GIT_CONFIG_VALUE_0"] = "*"
        // The daemon checks the owner in another way.
        try await runExpectingSuccess(["git"] + arguments, in: directory, environment: environment)
    }

    static func say(_ name: String, _ what: String, ours: [Duration], git: [Duration], goal: Double? = nil) {
        guard let ours = ours.min(), let git = git.min() else { return }
        let ratio = ours / git
        var line = "figure  \(pad(name, 16)) \(pad(what, 46)) ours \(pad(text(ours), 10)) git \(pad(text(git), 10))"
        line += " ratio \(String(format: "%.2f", ratio))"
        if let goal { line += "  goal \(goal): \(ratio <= goal ? "met" : "missed")" }
        print(line)
        fflush(nil)
    }

    /// Returns the median, because each step has another amount of work.
    static func median(_ durations: [Duration]) -> [Duration] { [durations.sorted()[durations.count / 2]] }

    static func text(_ duration: Duration) -> String {
        let seconds = Double(duration.components.seconds) + Double(duration.components.attoseconds) / 1e18
        return String(format: "%.3f s", seconds)
    }

    static func pad(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.count))
    }

    /// Runs git's own server for a directory while the body runs.
    static func serving(_ directory: String, _ body: (_ origin: String) async throws -> Void) async throws {
        let port = try LoopbackSocket.freePort()
        // The process is not awaited and not in the background: Foundation would wait for each process that inherits its descriptors.
        let daemon = Process()
        daemon.executableURL = URL(fileURLWithPath: "/bin/sh")
        // It is not started by `git daemon`, whose child would survive it.
        daemon.arguments = [
            "-c", "exec \"$(git --exec-path)/git-daemon\" \"$@\"", "sh", "--reuseaddr", "--listen=127.0.0.1",
            "--port=\(port)", "--export-all",
            "--base-path=\(directory)",
        ]
        daemon.environment = GitRepository.environment()
        daemon.standardError = FileHandle.nullDevice
        try daemon.run()
        // SIGTERM is not used, because Foundation's children inherit it blocked.
        defer { kill(daemon.processIdentifier, SIGKILL) }
        await until("git's daemon listens") { LoopbackSocket.isListening(port) }
        try await body("git://127.0.0.1:\(port)")
    }
}
