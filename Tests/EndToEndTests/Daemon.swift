import Basics
import BotSupport
import Foundation
import Glibc
import JobProtocol
import TestSupport
import Testing

/// The daemon as it is installed: the real binary with a settings file, a free port on loopback, and a bot `kit` whose repository
/// has the `post-receive` hook.
final class Daemon: Sendable {
    let directory: TemporaryDirectory
    let port: Int
    let work: GitRepository
    let remote: GitRepository
    private let process = Locked<RunningProgram?>(nil)

    private struct RunningProgram: @unchecked Sendable {
        // Only asked for its identifier and its end.
        let process: Process
        let end: Task<Int32, Never>
    }

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
        try directory.write("etc/secrets/kit-webhook", "a secret", mode: 0o600)
        try FileManager.default.copyItem(
            atPath: Project.root + "/hooks/post-receive", toPath: remote.path + "/hooks/post-receive")
        try await remote.git("config", "martlet.url", "\(url)/webhooks/push/kit")
        try await remote.git("config", "martlet.secret", directory.path("etc/secrets/kit-webhook"))
    }

    // MARK: The process

    /// Its process, while it runs.
    var pid: Int32? { process.value?.process.processIdentifier }

    /// Starts it, and returns when it answers.
    /// - Parameters:
    ///   - program: Another place of `martlet` than where it was built.
    ///   - preparation: Done by the shell that becomes the daemon: `ulimit -n 64`.
    func start(program: String? = nil, after preparation: String? = nil) async throws {
        let process = Process()
        let martlet = try program ?? TestTools.builtProduct("martlet")
        process.executableURL = URL(fileURLWithPath: preparation == nil ? martlet : "/bin/sh")
        process.arguments =
            preparation.map { ["-c", $0 + "; exec \"$@\"", "sh", martlet, "serve", "--settings", settings] }
            ?? ["serve", "--settings", settings]
        process.environment = [
            "PATH": ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin", "HOME": directory.path,
        ]
        let log = directory.path("daemon.log")
        if !FileManager.default.fileExists(atPath: log) { try directory.write("daemon.log", "") }
        let handle = try #require(FileHandle(forWritingAtPath: log))
        try handle.seekToEnd()
        process.standardError = handle
        process.standardOutput = handle
        process.standardInput = FileHandle.nullDevice
        let (ends, continuation) = AsyncStream.makeStream(of: Int32.self)
        process.terminationHandler = { process in
            continuation.yield(process.terminationReason == .exit ? process.terminationStatus : -1)
            continuation.finish()
        }
        try process.run()
        let end = Task { await ends.first { _ in true } ?? -1 }
        self.process.withLock { $0 = RunningProgram(process: process, end: end) }
        let isUp = await until("the daemon answers") { await isHealthy() }
        if !isUp { throw BotFailure(try directory.text("daemon.log")) }
    }

    private func isHealthy() async -> Bool {
        // It does not answer yet. One that is not answered is asked again before the wait for all of it is over.
        (try? await run(TestTools.curl + ["-f", "--max-time", "5", url + "/health"]).status) == 0
    }

    /// Ends it as systemd does.
    /// - Returns: Its exit status.
    @discardableResult
    func stop() async -> Int32? {
        guard let running = process.value else { return nil }
        process.withLock { $0 = nil }
        running.process.terminate()
        return await running.end.value
    }

    /// Sends it signals, and awaits its end.
    /// - Returns: Its exit status; -1 when a signal ended it.
    func end(by signals: [Int32]) async -> Int32? {
        guard let running = process.value else { return nil }
        process.withLock { $0 = nil }
        for signal in signals { kill(running.process.processIdentifier, signal) }
        return await running.end.value
    }

    /// Ends the launcher and whatever it still runs.
    func endJobs() async {
        guard let bytes = try? WholeFile.read(state + "/launcher.socket.lock", limit: 256),
            let content = LockContent(String(decoding: bytes, as: UTF8.self)), content.isAlive
        else { return }
        await until("the jobs' end") { ProcessTable.jobs(of: content.pid).isEmpty }
        kill(content.pid, SIGTERM)
        await until("the launcher's end") { !content.isAlive }
    }

    // MARK: People

    /// Runs a command against its socket.
    func martlet(_ arguments: String..., input: String? = nil, isOnSocket: Bool = true) async throws -> ProgramResult {
        try await run(
            [try TestTools.builtProduct("martlet")] + arguments, in: directory.path,
            environment: ["PATH": "/usr/bin:/bin", "HOME": directory.path]
                .merging(isOnSocket ? ["MARTLET_URL": socket] : [:]) { $1 },
            input: input)
    }

    /// What a command prints; it must succeed.
    func output(_ arguments: String..., sourceLocation: SourceLocation = #_sourceLocation) async throws -> String {
        try await output(arguments, sourceLocation: sourceLocation)
    }

    /// What a command prints; it must succeed.
    func output(_ arguments: [String], sourceLocation: SourceLocation = #_sourceLocation) async throws -> String {
        let result = try await run(
            [try TestTools.builtProduct("martlet")] + arguments, in: directory.path,
            environment: ["PATH": "/usr/bin:/bin", "HOME": directory.path, "MARTLET_URL": socket])
        #expect(result.status == 0, "\(arguments): \(result.stderr)", sourceLocation: sourceLocation)
        return result.stdout
    }

    /// The body of an answer, and its status.
    func get(_ path: String, headers: [String] = []) async throws -> (status: Int, body: String) {
        let fields = headers.flatMap { ["-H", $0] }
        let result = try await run(TestTools.curl + ["-w", "\n%{http_code}", url + path] + fields)
        var lines = result.stdout.split(separator: "\n", omittingEmptySubsequences: false)
        let status = lines.popLast().flatMap { Int($0) } ?? 0
        return (status, lines.joined(separator: "\n"))
    }
}

/// Gives a test a daemon, and ends it afterwards, whatever happened. Its jobs can be watched by files outside their workspace, so
/// they have no fence unless the settings say otherwise.
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
        if let status = await daemon.stop() {
            #expect(status == 0, "the daemon's exit status", sourceLocation: sourceLocation)
        }
        await daemon.endJobs()
        if let failure {
            print(try directory.text("daemon.log"))
            throw failure
        }
    }
}
