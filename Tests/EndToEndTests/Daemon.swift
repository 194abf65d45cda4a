import Basics
import BotSupport
import Foundation
import Glibc
import JobProtocol
import TestSupport
import Testing

/// The daemon as it is installed: the real program with a settings file, a free port on the loopback, and a bot `kit` whose repository has the
/// `post-receive` hook.
final class Daemon: Sendable {
    let directory: TemporaryDirectory
    let port: Int
    let work: GitRepository
    let remote: GitRepository
    private let process = Locked<StartedProgram?>(nil)

    var state: String { directory.path("state") }
    var settings: String { directory.path("etc/martlet.yml") }
    var url: String { "http://127.0.0.1:\(port)" }
    var socket: String { state + "/martlet.socket" }

    init(_ directory: TemporaryDirectory, bot: String, settings: String) async throws {
        self.directory = directory
        port = try LoopbackSocket.freePort()
        remote = try await GitRepository.make(at: directory.path("kit.git"), isBare: true)
        work = try await GitRepository.make(at: directory.path("work"))
        try directory.write(
            "etc/martlet.yml", "listen: 127.0.0.1:\(port)\nstate: \(state)\nconcurrency: 2\n" + settings)
        try directory.write(
            "etc/bots/kit.yml", "repository: \(remote.path)\nwebhook: { secret: kit-webhook }\npoll: off\n" + bot)
        try directory.directory().makeDirectories("etc/secrets", mode: 0o700)
        // Otherwise a daemon that is started as root would not stay root.
        try directory.directory().setMode(0o700, ofDirectory: "etc")
        try directory.write("etc/secrets/kit-webhook", "a secret", mode: 0o600)
        // Another process copies it: a file that this process had open for writing cannot be run for a moment (`TemporaryDirectory.write`).
        try await runExpectingSuccess(
            ["cp", Project.root + "/hooks/post-receive", remote.path + "/hooks/post-receive"])
        try await remote.git("config", "martlet.url", "\(url)/webhooks/push/kit")
        try await remote.git("config", "martlet.secret", directory.path("etc/secrets/kit-webhook"))
    }

    // MARK: The process

    /// The daemon's process; `nil` while it does not run.
    var pid: Int32? { process.value?.pid }

    /// Starts the daemon, and returns when it answers.
    /// - Parameters:
    ///   - program: Another path of `martlet` than that of the build.
    ///   - preparation: A command of the shell that becomes the daemon: `ulimit -n 64`.
    func start(program: String? = nil, after preparation: String? = nil) async throws {
        let martlet = try program ?? TestTools.builtProduct("martlet")
        let command = [martlet, "serve", "--settings", settings]
        let process = try await StartedProgram.start(
            preparation.map { ["/bin/sh", "-c", $0 + "; exec \"$@\"", "sh"] + command } ?? command,
            environment: [
                "PATH": ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin", "HOME": directory.path,
            ],
            output: directory.path("daemon.log"))
        self.process.withLock { $0 = process }
        let isUp = await until("the daemon answers") { await isHealthy() }
        if !isUp { throw BotFailure(try directory.text("daemon.log")) }
    }

    private func isHealthy() async -> Bool {
        // It does not answer yet. A request without an answer is repeated before the limit of the wait.
        (try? await run(TestTools.curl + ["-f", "--max-time", "5", url + "/health"]).status) == 0
    }

    /// Ends the daemon as systemd does.
    /// - Returns: Its exit status; `nil` if it does not run.
    @discardableResult
    func stop(sourceLocation: SourceLocation = #_sourceLocation) async throws -> Int32? {
        try await end(by: [SIGTERM], sourceLocation: sourceLocation)
    }

    /// Sends the daemon signals, and waits for its exit.
    /// - Returns: Its exit status, or the negative number of the signal that ended it; `nil` if it does not run.
    func end(by signals: [Int32], sourceLocation: SourceLocation = #_sourceLocation) async throws -> Int32? {
        guard let running = process.value else { return nil }
        process.withLock { $0 = nil }
        for signal in signals {
            running.signal(signal)
            // A pending signal would absorb the next one of its kind (signal(7)).
            await until("signal \(signal) is taken") { !Self.hasPending(signal, running.pid) }
        }
        return try await running.end(sourceLocation: sourceLocation)
    }

    private static func hasPending(_ signal: Int32, _ pid: Int32) -> Bool {
        let status = String(decoding: (try? WholeFile.read("/proc/\(pid)/status", limit: 8192)) ?? [], as: UTF8.self)
        return status.split(separator: "\n").contains { line in
            guard line.hasPrefix("SigPnd:") || line.hasPrefix("ShdPnd:") else { return false }
            let mask = line.split(separator: "\t").last.flatMap { UInt64($0, radix: 16) } ?? 0
            return mask & 1 << UInt64(signal - 1) != 0
        }
    }

    /// Ends the launcher and everything that it still runs.
    func endJobs() async {
        guard let bytes = try? WholeFile.read(state + "/launcher.socket.lock", limit: 256),
            let content = LockContent(String(decoding: bytes, as: UTF8.self)), content.isAlive
        else { return }
        await until("the jobs' end") { ProcessTable.jobs(of: content.pid).isEmpty }
        kill(content.pid, SIGTERM)
        await until("the launcher's end") { !content.isAlive }
    }

    // MARK: People

    /// Runs a command on the daemon's socket.
    func martlet(_ arguments: String..., input: String? = nil, isOnSocket: Bool = true) async throws -> ProgramResult {
        try await run(
            [try TestTools.builtProduct("martlet")] + arguments, in: directory.path,
            environment: ["PATH": "/usr/bin:/bin", "HOME": directory.path]
                .merging(isOnSocket ? ["MARTLET_URL": socket] : [:]) { $1 },
            input: input)
    }

    /// Runs a command that must succeed, and returns its output.
    func output(_ arguments: String..., sourceLocation: SourceLocation = #_sourceLocation) async throws -> String {
        try await output(arguments, sourceLocation: sourceLocation)
    }

    /// Runs a command that must succeed, and returns its output.
    func output(_ arguments: [String], sourceLocation: SourceLocation = #_sourceLocation) async throws -> String {
        let result = try await run(
            [try TestTools.builtProduct("martlet")] + arguments, in: directory.path,
            environment: ["PATH": "/usr/bin:/bin", "HOME": directory.path, "MARTLET_URL": socket])
        #expect(result.status == 0, "\(arguments): \(result.stderr)", sourceLocation: sourceLocation)
        return result.stdout
    }

    /// Returns the body and the status of an answer.
    func get(_ path: String, headers: [String] = []) async throws -> (status: Int, body: String) {
        let fields = headers.flatMap { ["-H", $0] }
        let result = try await run(TestTools.curl + ["-w", "\n%{http_code}", url + path] + fields)
        var lines = result.stdout.split(separator: "\n", omittingEmptySubsequences: false)
        let status = lines.popLast().flatMap { Int($0) } ?? 0
        return (status, lines.joined(separator: "\n"))
    }
}

/// Runs a test with a daemon, and ends the daemon afterwards in any case. Tests watch its jobs by files outside of their workspaces, so the jobs
/// have no sandbox unless the settings state otherwise.
func withDaemon(
    bot: String = "", settings: String = "isolation: none\n", isStarted: Bool = true,
    sourceLocation: SourceLocation = #_sourceLocation,
    _ body: (Daemon) async throws -> Void
) async throws {
    try await withTemporaryDirectory(sourceLocation: sourceLocation) { directory in
        let daemon = try await Daemon(directory, bot: bot, settings: settings)
        var failure: (any Error)?
        do {
            if isStarted { try await daemon.start() }
            try await body(daemon)
        } catch {
            failure = error
        }
        do {
            if let status = try await daemon.stop() {
                #expect(status == 0, "the daemon's exit status", sourceLocation: sourceLocation)
            }
        } catch {
            failure = failure ?? error
        }
        await daemon.endJobs()
        if let failure {
            print(try directory.text("daemon.log"))
            throw failure
        }
    }
}
