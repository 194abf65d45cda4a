import CLinux
import Glibc
import JobProtocol
import Processes

/// Makes a sandbox around nothing and says whether that works here.
struct SandboxProbe {
    /// How long it may take. A sandbox takes milliseconds.
    private static let patienceMilliseconds: Int64 = 10_000

    func run() -> Int32 {
        let finding = finding()
        Console.own.say(String(decoding: finding.json(), as: UTF8.self) + "\n")
        return finding.works ? 0 : 1
    }

    private func finding() -> SandboxFinding {
        var networkTrouble: UserNetwork.Failure?
        let trouble: Trouble?
        do throws(Sandbox.Failure) {
            trouble =
                try hidesProcesses
                ? Trouble(reason: SandboxFinding.hiddenProcesses, isLasting: true) : whyNot(&networkTrouble)
        } catch {
            trouble = Trouble(reason: error.reason, isLasting: error.isLasting)
        }
        return SandboxFinding(
            works: trouble == nil, reason: trouble?.reason, limits: ControlGroupPlace.find()?.means ?? .rlimit,
            networkReason: trouble == nil ? networkTrouble?.reason : nil,
            isLasting: trouble?.isLasting ?? networkTrouble?.isLasting ?? false)
    }

    /// Why there was no sandbox.
    private struct Trouble {
        var reason: String
        /// As of `SandboxFinding`.
        var isLasting = false
    }

    /// Whether /proc hides from a supervisor the first process of a sandbox of its own, which like itself is not dumpable.
    private var hidesProcesses: Bool {
        clinux_hide_memory()
        let child = clinux_fork()
        if child == 0 {
            while true { pause() }
        }
        guard child > 0 else { return false }
        defer {
            kill(child, SIGKILL)
            waitpid(child, nil, 0)
        }
        return ProcessTable.entry(of: child) == nil
    }

    /// The step only has to start: that there is no such command in an empty workspace is told from within the sandbox.
    /// - Parameter networkTrouble: Why the sandbox has no network.
    private func whyNot(_ networkTrouble: inout UserNetwork.Failure?) throws(Sandbox.Failure) -> Trouble? {
        // Its own, so that nothing of the machine has to be writable: a directory that is only looked at.
        let directory = "/usr"
        guard case .success(let workspace) = Tree.open(directory) else {
            throw Sandbox.Failure(reason: "\(directory) cannot be opened: \(SystemError(number: errno).text)")
        }
        let step = JobDescription.Step(
            step: "probing", name: "probe", arguments: ["/dev/null"], timeoutMilliseconds: 0, network: .full)
        let description = JobDescription.Sandbox(temporaryBytes: 1 << 20, homeBytes: 1 << 20, sharesNetwork: false)
        let job = JobDescription(
            steps: [step], workspace: directory, mountedAt: "/martlet/probe", isolation: .sandbox, sandbox: description)
        let sandbox = try Sandbox(job: job, sandbox: description, workspace: workspace, attempt: "/nonexistent")
        guard case .success(let process) = sandbox.start(step, environment: [:], group: nil, meanwhile: { _ in }) else {
            return Trouble(reason: "bubblewrap cannot be started")
        }
        let (network, words) = UserNetwork.start(info: process.info, report: process.report)
        switch network {
        case .success(let network): network?.end()
        case .failure(let failure): networkTrouble = failure
        }
        // Not before: with its command the sandbox ends, and its network with it.
        process.gate.open(true)
        let said = read(process.report, after: words)
        kill(process.pid, SIGKILL)
        // Of slirp4netns too.
        _ = Descendants.killAll()
        switch SandboxReport(said) {
        case .noCommand, .ended: return nil
        case .noDirectory(let number):
            return Trouble(reason: "the sandbox has no workspace: \(SystemError(number: number).text)")
        case .broken(let reason): return Trouble(reason: reason)
        case nil:
            let text = String(decoding: said, as: UTF8.self)
            let complaint = text.isEmpty ? "it said nothing within 10 s" : text
            return Trouble(
                reason: Sandbox.reason(complaint: complaint),
                isLasting: SandboxFinding.isLasting(complaint: complaint, setting: Sandbox.setting))
        }
    }

    private func read(_ descriptor: Int32, after words: [UInt8]) -> [UInt8] {
        var bytes = words
        let deadline = Time.monotonicMilliseconds() + Self.patienceMilliseconds
        while bytes.count < 64 * 1024, SandboxReport(bytes) == nil {
            var source = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            guard poll(&source, 1, Int32(clamping: max(0, deadline - Time.monotonicMilliseconds()))) > 0,
                case .success(let part?) = Descriptor.readOnce(descriptor, limit: 4096)
            else { break }
            bytes += part
        }
        return bytes
    }
}

extension Sandbox {
    /// What bubblewrap's complaint comes from, and what to do.
    static func reason(complaint: String) -> String {
        SandboxFinding.reason(complaint: complaint.split(separator: "\n").joined(separator: "; "), setting: setting)
    }

    /// A setting of the kernel's, by its path beneath /proc/sys.
    static func setting(_ name: String) -> String? {
        SmallFile.read("/proc/sys/" + name, limit: 64).map { String(decoding: $0.filter { $0 > 0x20 }, as: UTF8.self) }
    }
}
