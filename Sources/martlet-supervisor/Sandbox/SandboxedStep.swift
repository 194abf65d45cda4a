import CLinux
import Glibc
import JobProtocol
import Processes

/// The first process of a sandbox's process namespace: it starts the step's command, waits for all that comes from it and
/// tells the supervisor how the command truly ended, which bubblewrap's exit status cannot (137 is also an exit status).
/// When it ends, the kernel ends whatever is left.
///
/// It shares the job's user, so it is not dumpable: no process of the job looks into it or opens its descriptors. As the
/// first process it gets no signal from within.
struct SandboxedStep {
    /// Its descriptors, as the supervisor passes them through bubblewrap. Its complaints go to standard error.
    static let orderDescriptor: Int32 = 3
    static let outputDescriptor: Int32 = 4
    /// The step's `Gate`, at which the command's process waits.
    static let gateDescriptor: Int32 = 5
    /// This program itself, which is executed by descriptor: it lies in no directory of the sandbox.
    static let programDescriptor: Int32 = 6

    func run() -> Int32 {
        StepStart.yieldMemory("self")
        clinux_hide_memory()
        clinux_name_process("martlet-fence")
        clinux_close_range(UInt32(Self.programDescriptor), .max, 0)
        for descriptor in [2, Self.orderDescriptor, Self.outputDescriptor, Self.gateDescriptor] {
            guard clinux_fcntl(descriptor, F_SETFD, FD_CLOEXEC) == 0 else { return EX_USAGE }
        }
        lseek(Self.orderDescriptor, 0, SEEK_SET)
        guard let bytes = SmallFile.read(Self.orderDescriptor, limit: .max), let order = SandboxOrder(json: bytes)
        else {
            return tell(.broken("the order cannot be read"))
        }
        close(Self.orderDescriptor)
        if order.tellsReady { _ = Descriptor.writeAll(SandboxReport.ready, to: 2) }
        switch workspace(of: order) {
        case .failure(let report): return tell(report)
        case .success(let workspace): return run(order, in: workspace)
        }
    }

    private func workspace(of order: SandboxOrder) -> Result<Tree, SandboxReport> {
        guard case .success(let tree) = Tree.open(order.workspace) else {
            return .failure(.broken("\(order.workspace) cannot be opened: \(SystemError(number: errno).text)"))
        }
        var status = stat()
        guard fstat(tree.descriptor, &status) == 0, UInt64(status.st_dev) == order.device,
            UInt64(status.st_ino) == order.inode
        else { return .failure(.broken("\(order.workspace) is not the workspace")) }
        return .success(tree)
    }

    private func run(_ order: SandboxOrder, in workspace: Tree) -> Int32 {
        let place = order.directory == "." ? [] : Array(order.directory.utf8)
        let directory: Int32
        switch workspace.open(place, O_RDONLY | O_DIRECTORY) {
        case .failure(let error): return tell(.noDirectory(number: error.number))
        case .success(let descriptor): directory = descriptor
        }
        let request = SpawnRequest(
            arguments: order.arguments, environment: order.environment, directory: directory,
            output: Self.outputDescriptor, errors: Self.outputDescriptor, processes: order.processes,
            pendingSignals: UserShare.pendingSignals, messageBytes: UserShare.messageBytes, gate: Self.gateDescriptor)
        let started = request.start()
        close(Self.gateDescriptor)
        close(directory)
        // The supervisor sees the end of the output when the last process of the job closes it.
        close(Self.outputDescriptor)
        switch started {
        case .failure(let failure):
            return tell(
                failure.isCommand
                    ? .noCommand(number: failure.error.number)
                    : .broken("the command could not be started: \(failure.error.text)"))
        case .success(let pid): return wait(for: pid, sized: order.sized)
        }
    }

    private func wait(for main: Int32, sized: [String]) -> Int32 {
        while true {
            var status: Int32 = 0
            var usage = clinux_usage()
            let pid = clinux_wait(-1, &status, &usage)
            if pid < 0, errno == EINTR { continue }
            guard pid > 0 else { return 0 }
            guard pid == main else { continue }
            let isSignal = clinux_wait_was_signaled(status) != 0
            let exit = isSignal ? nil : clinux_wait_exit_status(status)
            _ = tell(
                .ended(
                    exit: exit, signal: isSignal ? clinux_wait_signal(status) : nil, usage: StatusEvent.Usage(usage),
                    full: exit == 0 ? nil : sized.lazy.compactMap(SizedPlace.fullWords).first))
        }
    }

    private func tell(_ report: SandboxReport) -> Int32 {
        _ = Descriptor.writeAll(report.line(), to: 2)
        return 0
    }
}

extension StatusEvent.Usage {
    init(_ usage: clinux_usage) {
        self.init(
            userMilliseconds: usage.user_milliseconds, systemMilliseconds: usage.system_milliseconds,
            maximumResidentBytes: usage.maximum_resident_bytes)
    }
}

/// A file system in memory whose size is a limit of the step: `/tmp` and the home directory.
enum SizedPlace {
    /// A file system counts as full if less than a thousandth of it is free, because programs that write in blocks leave a rest.
    private static let rest: UInt64 = 1000

    /// Returns the limit that a full file system has reached, in words; `nil` if it has room, or cannot be examined.
    static func fullWords(of path: String) -> String? {
        var status = statvfs()
        guard statvfs(path, &status) == 0 else { return nil }
        let (blocks, files) = (UInt64(status.f_blocks), UInt64(status.f_files))
        if blocks > 0, UInt64(status.f_bavail) < max(1, blocks / rest) {
            let bytes = blocks.multipliedReportingOverflow(by: UInt64(status.f_frsize)).partialValue
            return "\(path) over \(Words.size(Int64(clamping: bytes)))"
        }
        // A file system that reports no number of files does not limit them.
        if files > 0, UInt64(status.f_ffree) < max(1, files / rest) { return "\(path) over \(files) files" }
        return nil
    }
}
