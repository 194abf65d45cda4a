import CLinux
import Glibc
import Processes

/// Bubblewrap's process for one step, and the descriptors that the supervisor shares with it.
///
/// Memory files hold what it reads: its options (`--args`), the order, and the content of the sandbox's files. They are complete before it starts.
/// Options on its command line could be read by every user of the machine.
///
/// The options do not go through a pipe: if the user's processes hold all pipe pages of the user (`fs.pipe-user-pages-soft`), a new pipe holds only
/// 8 KiB.
final class SandboxProcess {
    /// The descriptors of the process, after those of `SandboxedStep`: what bubblewrap itself reads, and where it tells of its child.
    static let filterDescriptor = SandboxedStep.programDescriptor + 1
    static let optionsDescriptor = SandboxedStep.programDescriptor + 2
    static let infoDescriptor = SandboxedStep.programDescriptor + 3
    static let firstFileDescriptor = SandboxedStep.programDescriptor + 4

    /// Bubblewrap's; 0 before it is started.
    private(set) var pid: Int32 = 0
    /// What `SandboxReport` and the step itself say, to be read.
    let report: Int32
    let output: Int32
    /// Where bubblewrap tells of its child, if its options say so; to be read.
    let info: Int32
    /// What the command waits for within the sandbox.
    let gate: Gate
    /// What the process gets, in the order of its descriptors from 3 on, and as its standard error.
    private let passed: [Int32]
    private let passedReport: Int32

    /// Writes all that the process will read.
    /// - Parameters:
    ///   - order: A `SandboxOrder`, for `SandboxedStep`.
    ///   - files: The contents of the sandbox's files, for the descriptors from `firstFileDescriptor` on.
    ///   - options: Bubblewrap's.
    /// - Returns: `nil` if a descriptor cannot be made or a file cannot be written; `errno` says why.
    init?(order: [UInt8], files: [[UInt8]], options: [String]) {
        var opened: [Int32] = []
        var isWhole = false
        defer { if !isWhole { Self.close(opened) } }
        func keep(_ descriptor: Int32) -> Int32? {
            if descriptor >= 0 { opened.append(descriptor) }
            return descriptor >= 0 ? descriptor : nil
        }
        func pipe() -> (read: Int32, write: Int32)? {
            var ends: [Int32] = [-1, -1]
            guard clinux_pipe(&ends) == 0 else { return nil }
            opened += ends
            return (ends[0], ends[1])
        }
        func file(_ bytes: [UInt8]) -> Int32? {
            guard let descriptor = keep(clinux_memory_file("fence")) else { return nil }
            let number = Descriptor.writeAll(bytes, to: descriptor)
            guard number == 0 else {
                errno = number
                return nil
            }
            lseek(descriptor, 0, SEEK_SET)
            return descriptor
        }
        let arguments = Array((options.joined(separator: "\0") + "\0").utf8)
        guard let report = pipe(), let output = pipe(), let info = pipe(), let gate = keep(clinux_gate()),
            let program = keep(clinux_open("/proc/self/exe", O_RDONLY | O_CLOEXEC, 0)), let rules = Self.filter(),
            let filter = file(rules), let order = file(order), let options = file(arguments)
        else { return nil }
        var texts: [Int32] = []
        for bytes in files {
            guard let text = file(bytes) else { return nil }
            texts.append(text)
        }
        (self.report, self.output, self.info, self.gate) =
            (report.read, output.read, info.read, Gate(descriptor: gate))
        passed = [order, output.write, gate, program, filter, options, info.write] + texts
        passedReport = report.write
        isWhole = true
    }

    /// - Parameters:
    ///   - identity: The user to run as; `nil`: this process's.
    ///   - meanwhile: Called while the process is made; not if none can be made.
    /// - Returns: Why it could not be started. Then all of its descriptors are closed.
    func start(
        _ bubblewrap: String, identity: SpawnRequest.Identity?, group: ControlGroup?, fileBytes: Int64,
        meanwhile: () -> Void
    ) -> SystemError? {
        let root = clinux_open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0)
        defer { Self.close([root]) }
        let started = SpawnRequest(
            arguments: [
                bubblewrap, "--args", "\(Self.optionsDescriptor)", "--",
                "/proc/self/fd/\(SandboxedStep.programDescriptor)", "--within-fence",
            ], environment: [:], directory: root, output: passedReport, errors: passedReport, kept: passed,
            group: group, identity: identity, dropsCapabilities: true, fileBytes: fileBytes
        ).start(meanwhile: meanwhile)
        // Only the child's, so that the end of its output is seen when its last process is gone.
        Self.close([passedReport] + passed.filter { $0 != gate.descriptor })
        switch started {
        case .success(let pid):
            self.pid = pid
            return nil
        case .failure(let failure):
            closeOutput()
            release()
            return failure.error
        }
    }

    /// Closes what only its start needed; what it says is still read.
    func release() { Self.close([info, gate.descriptor]) }

    /// Closes what it says.
    func closeOutput() { Self.close([report, output]) }

    private static func close(_ descriptors: [Int32]) {
        let number = errno
        for descriptor in descriptors { Glibc.close(descriptor) }
        errno = number
    }

    /// The system call filter, as bubblewrap reads it (`--seccomp`).
    private static func filter() -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: Int(CLINUX_SECCOMP_LIMIT))
        let size = bytes.withUnsafeMutableBytes { clinux_seccomp_filter($0.baseAddress, $0.count) }
        guard size <= bytes.count else {
            errno = E2BIG
            return nil
        }
        return Array(bytes.prefix(size))
    }
}
