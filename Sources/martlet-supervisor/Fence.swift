import CLinux
import Glibc
import JobProtocol

/// Starts steps within bubblewrap. Everything of a fence that does not differ between a job's steps is found out once.
///
/// What each part is for, what it does not hold, and which of bubblewrap's options were left out: decision 0007.
struct Fence {
    /// Why a job cannot be fenced. Always our fault or the machine's, never the job's.
    struct Failure: Error {
        let reason: String
    }

    /// Who a job is within. Without, it is the user of the supervisor, or the owner of the workspace where that is root.
    static let user = 1000

    private let bubblewrap: String
    private let job: JobDescription
    private let fence: JobDescription.Fence
    private let options: [String]
    private let identity: SpawnRequest.Identity?
    private let workspace: stat
    private let program: Int32
    private let filter: Int32

    /// - Parameters:
    ///   - workspace: Open; what is mounted is checked to be this very directory.
    ///   - attempt: The job directory, which must not be seen from within.
    init(job: JobDescription, fence: JobDescription.Fence, workspace: Tree, attempt: String) throws(Failure) {
        guard let bubblewrap = Bubblewrap.path() else { throw Failure(reason: Bubblewrap.missing) }
        self.bubblewrap = bubblewrap
        self.job = job
        self.fence = fence
        var status = stat()
        guard fstat(workspace.descriptor, &status) == 0 else {
            throw Failure(reason: "the workspace cannot be looked at: \(SystemError(number: errno).text)")
        }
        self.workspace = status
        // A root's workspace is entered as root without any capability: nobody else can write there.
        identity = getuid() == 0 && status.st_uid != 0 ? .init(user: status.st_uid, group: status.st_gid) : nil
        options = try FenceRoot(
            fence: fence, job: job, attempt: attempt, isRoot: getuid() == 0 && status.st_uid == 0
        ).options(git: Self.hasGit(workspace))
        program = clinux_open("/proc/self/exe", O_RDONLY | O_CLOEXEC, 0)
        filter = clinux_memory_file("filter")
        guard program >= 0, filter >= 0 else {
            throw Failure(reason: "the fence's program cannot be opened: \(SystemError(number: errno).text)")
        }
        var bytes = [UInt8](repeating: 0, count: Int(CLINUX_SECCOMP_LIMIT))
        let size = bytes.withUnsafeMutableBytes { clinux_seccomp_filter($0.baseAddress, $0.count) }
        guard size <= bytes.count, Descriptor.writeAll(Array(bytes.prefix(size)), to: filter) == 0 else {
            throw Failure(reason: "the fence's filter has no room")
        }
    }

    func close() {
        Glibc.close(program)
        Glibc.close(filter)
    }

    /// - Parameters:
    ///   - output: The end of a pipe that what the step prints is written to.
    ///   - report: That of the pipe for `FenceReport`.
    ///   - gate: What the command waits for within the fence.
    ///   - meanwhile: Called while the fence is made.
    /// - Returns: Bubblewrap's process, and where it tells of its child where the step has a network of its own.
    func start(
        _ step: JobDescription.Step, environment: [String: String], output: Int32, report: Int32, gate: Gate,
        group: ControlGroup?, meanwhile: () -> Void
    ) -> Result<(pid: Int32, info: Int32?), SystemError> {
        var environment = environment
        if environment["HOME"] == nil { environment["HOME"] = fence.home }
        let network = network(of: step)
        var order = FenceOrder(
            arguments: step.arguments, environment: environment, workspace: job.mountedAt,
            directory: step.workingDirectory, device: UInt64(workspace.st_dev), inode: UInt64(workspace.st_ino),
            // More than the job's own: the fence's first process, and the one that is too many and so is seen.
            processes: group != nil ? nil : job.limits.processes + 2, sized: ["/tmp", "/dev/shm", fence.home])
        order.tellsReady = network == .own
        let files = FenceFiles(network: network, home: fence.home, isImage: fence.root != nil)
        var arguments = options + (network == .shared ? [] : ["--unshare-net"]) + files.options
        arguments += ["--remount-ro", "/"]
        var info: [Int32] = [-1, -1]
        if network == .own {
            guard clinux_pipe(&info) == 0 else { return .failure(SystemError(number: errno)) }
            arguments += ["--info-fd", "\(Self.firstFileDescriptor + Int32(files.texts.count))"]
        }
        var isStarted = false
        defer {
            if info[1] >= 0 { Glibc.close(info[1]) }
            if !isStarted, info[0] >= 0 { Glibc.close(info[0]) }
        }
        let texts = [order.json(), Array((arguments.joined(separator: "\0") + "\0").utf8)] + files.texts
        var anonymous: [Int32] = []
        defer { for descriptor in anonymous { Glibc.close(descriptor) } }
        for text in texts {
            let descriptor = clinux_memory_file("fence")
            guard descriptor >= 0 else { return .failure(SystemError(number: errno)) }
            anonymous.append(descriptor)
            let number = Descriptor.writeAll(text, to: descriptor)
            guard number == 0 else { return .failure(SystemError(number: number)) }
            lseek(descriptor, 0, SEEK_SET)
        }
        lseek(filter, 0, SEEK_SET)
        let root = clinux_open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0)
        defer { Glibc.close(root) }
        let started = SpawnRequest(
            arguments: [
                bubblewrap, "--args", "\(Self.optionsDescriptor)", "--",
                "/proc/self/fd/\(FencedStep.programDescriptor)",
                "--within-fence",
            ], environment: [:], directory: root, output: report, errors: report,
            kept: [anonymous[0], output, gate.descriptor, program, filter] + anonymous.dropFirst()
                + (network == .own ? [info[1]] : []),
            group: group, identity: identity, dropsCapabilities: true, fileBytes: job.limits.workspaceBytes
        ).start(meanwhile: meanwhile)
        if case .success = started { isStarted = true }
        return started.map { ($0, info[0] >= 0 ? info[0] : nil) }.mapError(\.error)
    }

    /// What a step has of the network.
    func network(of step: JobDescription.Step) -> FenceFiles.Network {
        step.network == .none ? .none : fence.sharesNetwork ? .shared : .own
    }

    /// The descriptors that bubblewrap itself reads, in the order of `start`.
    static let filterDescriptor = FencedStep.programDescriptor + 1
    static let optionsDescriptor = FencedStep.programDescriptor + 2
    static let firstFileDescriptor = FencedStep.programDescriptor + 3

    /// Whether the checkout left a `.git`: a directory of its own, not a link that a job without a fence could have put.
    private static func hasGit(_ workspace: Tree) -> Bool {
        guard case .success(let descriptor) = workspace.open(Array(".git".utf8), clinux_o_path | O_DIRECTORY) else {
            return false
        }
        Glibc.close(descriptor)
        return true
    }
}
