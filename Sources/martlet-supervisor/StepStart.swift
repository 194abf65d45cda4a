import CLinux
import Glibc
import JobProtocol

/// How a job's steps are started: within its fence, or as they are.
struct StepStart {
    let limits: JobDescription.Limits
    let workspace: Tree
    let fence: Fence?
    let group: ControlGroup?

    /// A step that was started.
    struct Started {
        /// Its main process; with a fence, bubblewrap.
        let pid: Int32
        /// Through which the fence's first process tells how the step ended; nothing without a fence.
        let report: Int32?
        /// Of a fenced step that has one of its own.
        var network: UserNetwork?
        /// What came through `report` already.
        var said: [UInt8] = []

        /// The process groups of what holds the fence: to ask those to end would end the step without its grace.
        var fenceGroups: Set<Int32> { report == nil ? [] : Set([pid, network?.process].compactMap(\.self)) }
    }

    enum Failure: Error {
        case noDirectory(SystemError)
        case noCommand(SystemError)
        /// What goes before the command failed: ours or the machine's fault.
        case fault(String)
        /// The command was not let begin.
        case refused
    }

    /// - Parameters:
    ///   - output: The end of a pipe that what the step prints is written to.
    ///   - begins: Called once while the command's process is made, which waits for it: whether the command may begin. Not called where
    ///     it fails before.
    func start(
        _ step: JobDescription.Step, environment: [String: String], output: Int32, begins: () -> Bool
    ) -> Result<Started, Failure> {
        guard let gate = Gate() else { return .failure(.fault("no gate: \(SystemError(number: errno).text)")) }
        defer { gate.close() }
        var isRefused = false
        let connects = fence?.network(of: step) == .own
        let started = start(step, environment: environment, output: output, gate: gate) {
            isRefused = !begins()
            if isRefused || !connects { gate.open(!isRefused) }
        }
        let network = try? started.get().network
        if isRefused {
            // Its process, or what becomes its fence, ends by itself.
            network?.end()
            return .failure(.refused)
        }
        // The command waited for its network. Without one there is no fence either, and nobody waits.
        if connects { gate.open(network != nil) }
        return started
    }

    private func start(
        _ step: JobDescription.Step, environment: [String: String], output: Int32, gate: Gate, meanwhile: () -> Void
    ) -> Result<Started, Failure> {
        guard let fence else {
            return startBare(step, environment: environment, output: output, gate: gate, meanwhile: meanwhile)
        }
        var report: [Int32] = [-1, -1]
        guard clinux_pipe(&report) == 0 else { return .failure(.fault("no pipe: \(SystemError(number: errno).text)")) }
        defer { close(report[1]) }
        let started = fence.start(
            step, environment: environment, output: output, report: report[1], gate: gate, group: group,
            meanwhile: meanwhile)
        switch started {
        case .success(let begun):
            var made = Started(pid: begun.pid, report: report[0])
            guard let info = begun.info else { return .success(made) }
            defer { close(info) }
            let (network, said) = UserNetwork.start(info: info, report: report[0])
            switch network {
            case .success(let network):
                (made.network, made.said) = (network, said)
                return .success(made)
            case .failure(let failure):
                close(report[0])
                return .failure(.fault("the step's network could not be made: \(failure.reason)"))
            }
        case .failure(let error):
            close(report[0])
            return .failure(.fault("the fence could not be made: \(error.text)"))
        }
    }

    private func startBare(
        _ step: JobDescription.Step, environment: [String: String], output: Int32, gate: Gate, meanwhile: () -> Void
    ) -> Result<Started, Failure> {
        let place = step.workingDirectory == "." ? [] : Array(step.workingDirectory.utf8)
        let directory: Int32
        switch workspace.open(place, O_RDONLY | O_DIRECTORY) {
        case .failure(let error): return .failure(.noDirectory(error))
        case .success(let descriptor): directory = descriptor
        }
        defer { close(directory) }
        return SpawnRequest(
            arguments: step.arguments, environment: environment, directory: directory, output: output, errors: output,
            group: group, fileBytes: limits.workspaceBytes, processes: processCeiling, gate: gate.descriptor
        ).start(meanwhile: meanwhile).map { pid in
            Self.yieldMemory("\(pid)")
            return Started(pid: pid, report: nil)
        }.mapError { failure in
            failure.isCommand
                ? .noCommand(failure.error) : .fault("\(step.name) could not be started: \(failure.error.text)")
        }
    }

    /// Where no control group holds a step's processes, they are counted four times a second, between which a fork bomb makes thousands. The
    /// kernel stops it here (RLIMIT_NPROC: of its user, threads counted; nobody stops root): far enough above all that runs on the
    /// machine that a step within its limit never notices, not even beside others of its user.
    private var processCeiling: Int? {
        guard group == nil else { return nil }
        // "0.00 0.01 0.05 2/345 6789": 345 threads there are (proc_loadavg(5)).
        let load = String(decoding: SmallFile.read("/proc/loadavg", limit: 128) ?? [], as: UTF8.self)
        let running = load.split(separator: "/").last?.split(separator: " ").first.flatMap { Int($0) }
        return running.map { $0 + 4 * limits.processes }
    }

    /// When the machine has no memory left, the kernel ends this process, and what it starts from now on, before others
    /// (proc_pid_oom_score_adj(5); 1000 is the most). Raising it needs no right, but /proc shows what is not dumpable as
    /// root's: a process of ours says it before it hides, of another it is said after its exec.
    static func yieldMemory(_ process: String) {
        _ = ControlGroupPlace.write("1000", to: "/proc/\(process)/oom_score_adj")
    }

    /// For what did not end at the first SIGKILL: where the kernel can end all at once, it does.
    func killAll() { group?.killAll() }
}
