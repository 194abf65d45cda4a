import Basics
import CLinux
import Execution
import Glibc
import JobProtocol
import TestSupport
import Testing

/// A real executor with a launcher. All their processes are gone when the test ends.
struct Launched: Sendable {
    let directory: TemporaryDirectory
    let executor: LocalExecutor
    let socket: String
    let workspace: String
    let user: JobUser
    /// The path of the supervisor's program, which the launcher's user can read.
    let supervisor: String

    func attempt(_ name: String = "attempt") -> AttemptDirectory { AttemptDirectory(path: directory.path(name)) }

    /// Returns a job of shell commands in the workspace.
    func job(
        _ scripts: String..., timeout: Int64 = TestLimits.never(milliseconds: 30_000), grace: Int64 = 200,
        limits: JobDescription.Limits? = nil,
        report: [String] = [], collect: [JobDescription.Collect] = [], secrets: [String] = [], isRequired: Bool = true
    ) -> JobDescription {
        JobDescription(
            steps: scripts.map { script in
                .init(
                    step: "testing", name: "script", arguments: ["sh", "-c", script], timeoutMilliseconds: timeout,
                    report: report, isRequired: isRequired, secrets: secrets)
            }, environment: ["MARTLET_TEST_CANARY": directory.path], workspace: workspace, secrets: secrets,
            limits: limits ?? .init(graceMilliseconds: grace), collect: collect)
    }

    /// Returns a time limit below a minute in the supervisor's words.
    static func words(_ milliseconds: Int64) -> String {
        milliseconds % 1000 == 0 ? "\(milliseconds / 1000) s" : "\(milliseconds) ms"
    }

    /// Runs a job until its end.
    func run(
        _ job: JobDescription, secrets: [String: String] = [:], name: String = "attempt"
    ) async throws -> Ended {
        let attempt = try prepare(job, name: name)
        try await executor.start(attempt, secrets: secrets)
        return try await end(of: attempt)
    }

    /// Makes an attempt's directory, which belongs to the launcher's user.
    func prepare(_ job: JobDescription, name: String = "attempt") throws -> AttemptDirectory {
        let attempt = attempt(name)
        try attempt.prepare(job)
        if user == .ordinary {
            for path in [attempt.path, attempt.paths.job] { JobUser.give(path) }
        }
        return attempt
    }

    /// - Throws: `ProgramFailure` if the attempt has not ended after a while.
    func end(of attempt: AttemptDirectory) async throws -> Ended {
        let told = Locked<Result<[StatusEvent], any Error>?>(nil)
        let following = Task {
            do {
                var events: [StatusEvent] = []
                for try await event in AttemptFollower(executor: executor).events(of: attempt) { events.append(event) }
                told.withLock { $0 = .success(events) }
            } catch {
                told.withLock { $0 = .failure(error) }
            }
        }
        await until("the end of \(attempt.path)", limit: TestLimits.wait * 12) { told.value != nil }
        following.cancel()
        guard let events = try told.value?.get() else {
            throw ProgramFailure(description: "\(attempt.path) has not ended: \(try attempt.status())")
        }
        return Ended(
            events: events, log: String(decoding: try attempt.readLog(from: 0, count: 1 << 20), as: UTF8.self),
            attempt: attempt)
    }

    /// Waits until the workspace has a file. If the job ends without it, that is an issue.
    func waitFor(
        _ name: String, in attempt: AttemptDirectory? = nil, sourceLocation: SourceLocation = #_sourceLocation
    ) async {
        let attempt = attempt ?? self.attempt()
        func isThere() -> Bool { access(workspace + "/" + name, F_OK) == 0 }
        await until("\(name) in the workspace", sourceLocation: sourceLocation) {
            // The file does not exist yet.
            let events = (try? attempt.status()) ?? []
            guard case .finished? = events.last, !isThere() else { return isThere() }
            Issue.record("the job ended without \(name): \(events)", sourceLocation: sourceLocation)
            return true
        }
    }

    /// Returns the supervisors that run a job.
    fileprivate var supervisors: [LockContent] {
        // A missing file has none.
        locks.filter(\.isAlive)
    }

    /// Returns the control groups of the jobs. Jobs that have ended must have none.
    var groups: [String] {
        locks.flatMap { ControlGroups.left(by: $0) }
    }

    /// Returns the holders of the attempts' locks, also earlier ones.
    private var locks: [LockContent] {
        let names = (try? Directory(opening: directory.path).entries().map(\.name)) ?? []
        return names.compactMap { lockOwner(directory.path($0 + "/lock")) }
    }

    func lockOwner(_ path: String) -> LockContent? {
        LockContent(String(decoding: SmallFile.read(path, limit: 4096) ?? [], as: UTF8.self))
    }

    func kill(_ owner: LockContent?, _ signal: Int32) {
        guard let owner, owner.isAlive else { return }
        Glibc.kill(owner.pid, signal)
    }
}

/// The end of a job, with the files that it left.
struct Ended: Sendable {
    let events: [StatusEvent]
    var log: String
    let attempt: AttemptDirectory

    /// Returns a step's end: `exit 3`, `signal 9`, followed by ` LIMIT`.
    func step(_ index: Int) -> String? {
        for case .ended(index, _, let exit, let signal, let limit, _) in events {
            return (exit.map { "exit \($0)" } ?? "signal \(signal ?? 0)") + (limit.map { " \($0)" } ?? "")
        }
        return nil
    }

    var result: StatusEvent.Outcome? {
        if case .finished(_, let result, _, _, _)? = events.last { result } else { nil }
    }
    var reason: String? { if case .finished(_, _, let reason, _, _)? = events.last { reason } else { nil } }
    var limit: String? { if case .finished(_, _, _, let limit, _)? = events.last { limit } else { nil } }
}

/// - Parameter isOnDisk: Whether its files must be on a disk, where the kernel can free cached contents.
func withLaunched<Value>(
    as user: JobUser = .own, isOnDisk: Bool = false, _ body: (Launched) async throws -> Value
) async throws -> Value {
    try await JobUser.withOwn {
        guard isOnDisk else {
            return try await withTemporaryDirectory { try await withLaunched(in: $0, as: user, body) }
        }
        return try await withTemporaryDirectory(in: "/var/tmp") { try await withLaunched(in: $0, as: user, body) }
    }
}

private func withLaunched<Value>(
    in directory: TemporaryDirectory, as user: JobUser, _ body: (Launched) async throws -> Value
) async throws -> Value {
    let workspace = try directory.makeDirectory("workspace")
    let socket = directory.path("launcher.sock")
    let supervisor = try await user.prepare(directory, workspace: workspace, socket: socket)
    let launched = Launched(
        directory: directory, executor: LocalExecutor(socket: socket, supervisor: supervisor), socket: socket,
        workspace: workspace, user: user, supervisor: supervisor)
    let result: Result<Value, any Error>
    do { result = .success(try await body(launched)) } catch { result = .failure(error) }
    let launcher = launched.lockOwner(socket + ".lock")
    // These are from a test that failed. The launcher ends what they leave.
    for supervisor in launched.supervisors { launched.kill(supervisor, SIGKILL) }
    await until("the supervisors are gone") { launched.supervisors.isEmpty }
    launched.kill(launcher, SIGTERM)
    await until("the launcher is gone") { !(launcher?.isAlive ?? false) }
    // After the kill they exit a moment later.
    await until("the processes of jobs are gone") {
        directory.processes(of: "MARTLET_TEST_CANARY=\(directory.path)").isEmpty
    }
    return try result.get()
}

extension TemporaryDirectory {
    /// Returns running processes with a text in their environment.
    func processes(of text: String) -> [Int32] {
        ProcessTable.all().filter(\.isAlive).map(\.pid).filter { pid in
            let environment = SmallFile.read("/proc/\(pid)/environ", limit: 1 << 20) ?? []
            return String(decoding: environment, as: UTF8.self).contains(text)
        }
    }
}
