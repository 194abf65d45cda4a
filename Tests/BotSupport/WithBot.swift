import Basics
import Execution
import Glibc
import Integrations
import JobProtocol
import Model
import TestSupport
package import Testing

/// Runs a test with a running service. Afterwards, in any case, it stops the service, awaits all its work, and reports what is left: work that
/// never ended, processes, requests that the test did not read, and unexpected lines of the log.
package func withBot(
    _ plan: BotPlan = BotPlan(), isStarted: Bool = true, sourceLocation: SourceLocation = #_sourceLocation,
    _ body: (Bot) async throws -> Void
) async throws {
    try await withTemporaryDirectory(sourceLocation: sourceLocation) { directory in
        let transport = FakeTransport(sourceLocation: sourceLocation)
        let log = RecordingLogger(sourceLocation: sourceLocation)
        let bot = try await Bot(
            name: Name(nearest: "kit"), plan: plan, directory: directory, transport: transport, log: log,
            sourceLocation: sourceLocation)
        var failure: (any Error)?
        do {
            if isStarted { try await bot.start() }
            try await body(bot)
            if bot.isRunning { try await bot.idle() }
        } catch {
            failure = error
        }
        do {
            try await bot.stop()
        } catch {
            Testing.Issue.record(error, "the service did not stop in order", sourceLocation: sourceLocation)
        }
        await bot.endProcesses()
        transport.finish()
        if let failure { throw failure }
    }
}

/// `withBot` for the usual case: scripted jobs of these configurations.
package func withBot(
    configurations: [String], file: String = "", sourceLocation: SourceLocation = #_sourceLocation,
    _ body: (Bot) async throws -> Void
) async throws {
    try await withBot(
        BotPlan(configurations: configurations, file: file), sourceLocation: sourceLocation, body)
}

extension Bot {
    /// The process of the launcher; `nil` if it does not run.
    package var launcher: Int32? {
        // Without a lock file no job was started.
        guard let bytes = try? WholeFile.read(state.launcherSocket + ".lock", limit: 256),
            let content = LockContent(String(decoding: bytes, as: UTF8.self)), content.isAlive
        else { return nil }
        return content.pid
    }

    /// The processes below the launcher: supervisors and their children.
    package var jobProcesses: [Int32] {
        guard let launcher else { return [] }
        return ProcessTable.jobs(of: launcher)
    }

    /// Reports and ends the test's jobs that still run, and ends the launcher.
    func endProcesses() async {
        guard let launcher else { return }
        await until("the end of the jobs' processes") { jobProcesses.isEmpty }
        for process in jobProcesses { kill(process, SIGKILL) }
        kill(launcher, SIGTERM)
        await until("the end of the launcher") { self.launcher == nil }
    }
}

extension ProcessTable {
    /// Returns the processes below a launcher, except three kinds: supervisors that wait for a job, what each of them has prepared, and the
    /// launcher's copy that is about to become a supervisor.
    package static func jobs(of launcher: Int32) -> [Int32] {
        descendants(of: launcher).filter { entry in
            entry.isAlive && !["--wait", "--listen"].contains { says($0, entry.pid) } && !says("--wait", entry.parent)
        }.map(\.pid)
    }

    private static func says(_ word: String, _ pid: Int32) -> Bool {
        let line = SmallFile.read("/proc/\(pid)/cmdline", limit: 8192) ?? []
        return String(decoding: line, as: UTF8.self).contains(word)
    }
}
