import CLinux
import Glibc
import JobProtocol
import Processes

/// Starts a job's steps, with or without a sandbox.
struct StepStart {
    let limits: JobDescription.Limits
    let workspace: Tree
    let sandbox: Sandbox?
    let group: ControlGroup?

    /// A step that was started.
    struct Started {
        /// The main process; in a sandbox it is bubblewrap.
        let pid: Int32
        /// The pipe with its output.
        let output: Int32
        /// The pipe through which the sandbox's first process reports the end of the step; `nil` without a sandbox.
        var report: Int32?
        /// The network of a sandboxed step that has one of its own.
        var network: UserNetwork?
        /// The bytes that were already read from `report`.
        var said: [UInt8] = []

        /// The process groups that hold the sandbox. Ending these would end the step without its grace period.
        var sandboxGroups: Set<Int32> { report == nil ? [] : Set([pid, network?.process].compactMap(\.self)) }
    }

    enum Failure: Error {
        case noDirectory(SystemError)
        case noCommand(SystemError)
        /// A step before the command failed: the fault of the supervisor or the machine.
        case fault(String)
        /// The command was not allowed to begin.
        case refused
    }

    /// Starts a step.
    /// - Parameter begins: Called once while the command's process is created and waits. It returns whether the command may begin. It is not called
    ///   if the start fails earlier.
    func start(
        _ step: JobDescription.Step, environment: [String: String], begins: () -> Bool
    ) -> Result<Started, Failure> {
        guard let sandbox else { return startBare(step, environment: environment, begins: begins) }
        var isRefused = false
        let connects = sandbox.network(of: step) == .own
        let started = sandbox.start(step, environment: environment, group: group) { process in
            isRefused = !begins()
            if isRefused || !connects { process.gate.open(!isRefused) }
        }
        let process: SandboxProcess
        switch started {
        case .failure(let error): return .failure(.fault("the sandbox could not be made: \(error.text)"))
        case .success(let made): process = made
        }
        defer { process.release() }
        let result =
            isRefused ? .failure(.refused) : connects ? connect(process) : .success(Started(process))
        // The processes that were to run the command end by themselves, or the caller ends them.
        if case .failure = result { process.closeOutput() }
        return result
    }

    /// Connects the network for which the command waits. If there is no network because the sandbox failed, no command is waiting.
    private func connect(_ process: SandboxProcess) -> Result<Started, Failure> {
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

    /// The kernel's limit of processes if no control group limits them (RLIMIT_NPROC: counts all processes and threads of the user, does not apply to
    /// root). The supervisor counts them only four times a second, and a fork bomb creates thousands meanwhile. The limit is far above everything
    /// that runs on the machine, so a step within its own limit never reaches it, even beside other processes of its user.
    private var processCeiling: Int? {
        guard group == nil else { return nil }
        // "0.00 0.01 0.05 2/345 6789" means 345 threads (proc_loadavg(5)).
        let load = String(decoding: SmallFile.read("/proc/loadavg", limit: 128) ?? [], as: UTF8.self)
        let running = load.split(separator: "/").last?.split(separator: " ").first.flatMap { Int($0) }
        return running.map { $0 + 4 * limits.processes }
    }

    /// Makes the kernel end a process, and what it starts later, first when the machine has no memory left (proc_pid_oom_score_adj(5); 1000 is the
    /// maximum). Raising the value needs no privilege, but the files of a process that is not dumpable belong to root in /proc. The supervisor's own
    /// processes therefore set it before they become undumpable; for another process it is set after its exec.
    static func yieldMemory(_ process: String) {
        _ = ControlGroupPlace.write("1000", to: "/proc/\(process)/oom_score_adj")
    }

    /// Kills all processes at once if the kernel supports it, for those that survived the first SIGKILL.
    func killAll() { group?.killAll() }
}

extension StepStart.Started {
    fileprivate init(_ process: SandboxProcess, network: UserNetwork? = nil, said: [UInt8] = []) {
        self.init(pid: process.pid, output: process.output, report: process.report, network: network, said: said)
    }
}

/// Holds a step's command back until the beginning of the step is on disk. Its process and its sandbox are created meanwhile.
///
/// A process that waits at the gate ends when the supervisor is killed, like everything that the supervisor starts.
struct Gate {
    let descriptor: Int32

    init(descriptor: Int32) { self.descriptor = descriptor }

    /// Creates a gate. Returns `nil` if no descriptor is left; `errno` has the reason.
    init?() {
        descriptor = clinux_gate()
        guard descriptor >= 0 else { return nil }
    }

    /// Lets the waiting process become its command, or makes it exit. The process may arrive later.
    func open(_ passes: Bool) { clinux_gate_open(descriptor, passes ? 1 : 0) }

    func close() { Glibc.close(descriptor) }
}
