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
        /// What it prints, to be read.
        let output: Int32
        /// Through which the fence's first process tells how the step ended; nothing without a fence.
        var report: Int32?
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

    /// - Parameter begins: Called once while the command's process is made, which waits for it: whether the command may begin. Not called
    ///   where it fails before.
    func start(
        _ step: JobDescription.Step, environment: [String: String], begins: () -> Bool
    ) -> Result<Started, Failure> {
        guard let fence else { return startBare(step, environment: environment, begins: begins) }
        var isRefused = false
        let connects = fence.network(of: step) == .own
        let started = fence.start(step, environment: environment, group: group) { process in
            isRefused = !begins()
            if isRefused || !connects { process.gate.open(!isRefused) }
        }
        let process: FenceProcess
        switch started {
        case .failure(let error): return .failure(.fault("the fence could not be made: \(error.text)"))
        case .success(let made): process = made
        }
        defer { process.release() }
        let result =
            isRefused ? .failure(.refused) : connects ? connect(process) : .success(Started(process))
        // What was to hold the command ends by itself, or is ended by the caller.
        if case .failure = result { process.closeOutput() }
        return result
    }

    /// The command waited for its network. Without one there is no fence either, and nobody waits.
    private func connect(_ process: FenceProcess) -> Result<Started, Failure> {
        let (network, said) = UserNetwork.start(info: process.info, report: process.report)
        let made = try? network.get()
        process.gate.open(made != nil)
        return network.map { Started(process, network: $0, said: said) }.mapError {
            .fault("the step's network could not be made: \($0.reason)")
        }
    }

    private func startBare(
        _ step: JobDescription.Step, environment: [String: String], begins: () -> Bool
    ) -> Result<Started, Failure> {
        let place = step.workingDirectory == "." ? [] : Array(step.workingDirectory.utf8)
        let directory: Int32
        switch workspace.open(place, O_RDONLY | O_DIRECTORY) {
        case .failure(let error): return .failure(.noDirectory(error))
        case .success(let descriptor): directory = descriptor
        }
        defer { close(directory) }
        var pipe: [Int32] = [-1, -1]
        guard clinux_pipe(&pipe) == 0 else { return .failure(.fault("no pipe: \(SystemError(number: errno).text)")) }
        defer { close(pipe[1]) }
        guard let gate = Gate() else {
            let error = SystemError(number: errno)
            close(pipe[0])
            return .failure(.fault("no gate: \(error.text)"))
        }
        defer { gate.close() }
        var isRefused = false
        let started = SpawnRequest(
            arguments: step.arguments, environment: environment, directory: directory, output: pipe[1], errors: pipe[1],
            group: group, fileBytes: limits.workspaceBytes, processes: processCeiling, gate: gate.descriptor
        ).start {
            isRefused = !begins()
            gate.open(!isRefused)
        }
        switch started {
        case .success(let pid) where !isRefused:
            Self.yieldMemory("\(pid)")
            return .success(Started(pid: pid, output: pipe[0]))
        case .success, .failure:
            close(pipe[0])
            guard case .failure(let failure) = started, !isRefused else { return .failure(.refused) }
            return .failure(
                failure.isCommand
                    ? .noCommand(failure.error) : .fault("\(step.name) could not be started: \(failure.error.text)"))
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

extension StepStart.Started {
    fileprivate init(_ process: FenceProcess, network: UserNetwork? = nil, said: [UInt8] = []) {
        self.init(pid: process.pid, output: process.output, report: process.report, network: network, said: said)
    }
}
