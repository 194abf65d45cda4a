import CLinux
import Glibc
import JobProtocol
import Processes

/// Starts steps within bubblewrap. Everything of a sandbox that does not differ between a job's steps is found out once.
///
/// What each part is for, what it does not hold, and which of bubblewrap's options were left out: decision 0007.
struct Sandbox {
    /// Why a job cannot be sandboxed. Always our fault or the machine's, never the job's.
    struct Failure: Error {
        let reason: String
        /// Whether a later attempt would fail as well, as in `SandboxFinding`.
        var isLasting = false
    }

    /// The user number inside the sandbox. Outside, it is the supervisor's user, or the owner of the workspace if the supervisor is root.
    static let user = 1000
    /// The host name inside the sandbox.
    static let hostName = "martlet"

    private let bubblewrap: String
    private let job: JobDescription
    private let sandbox: JobDescription.Sandbox
    private let options: [String]
    private let identity: SpawnRequest.Identity?
    private let workspace: stat

    /// - Parameters:
    ///   - workspace: Open; what is mounted is checked to be this very directory.
    ///   - attempt: The job directory, which must not be seen from within.
    init(
        job: JobDescription, sandbox: JobDescription.Sandbox, workspace: Tree, attempt: String
    ) throws(Failure) {
        guard let bubblewrap = Bubblewrap.path() else {
            throw Failure(reason: SandboxFinding.bubblewrapMissing, isLasting: true)
        }
        self.bubblewrap = bubblewrap
        self.job = job
        self.sandbox = sandbox
        var status = stat()
        guard fstat(workspace.descriptor, &status) == 0 else {
            throw Failure(reason: "the workspace cannot be looked at: \(SystemError(number: errno).text)")
        }
        self.workspace = status
        // A root's workspace is entered as root without any capability: nobody else can write there.
        identity = getuid() == 0 && status.st_uid != 0 ? .init(user: status.st_uid, group: status.st_gid) : nil
        options = try SandboxRoot(
            sandbox: sandbox, job: job, attempt: attempt, isRoot: getuid() == 0 && status.st_uid == 0
        ).options(git: Self.hasGit(workspace))
    }

    /// - Parameter meanwhile: Called while the sandbox is made; not when that is known to fail.
    /// - Returns: Bubblewrap's process.
    func start(
        _ step: JobDescription.Step, environment: [String: String], group: ControlGroup?,
        meanwhile: (SandboxProcess) -> Void
    ) -> Result<SandboxProcess, SystemError> {
        let files = SandboxFiles(network: network(of: step), home: sandbox.home, isImage: sandbox.root != nil)
        let order = self.order(step, environment: environment, isGrouped: group != nil)
        guard let process = SandboxProcess(order: order.json(), files: files.texts, options: options(of: step, files))
        else { return .failure(SystemError(number: errno)) }
        let failure = process.start(
            bubblewrap, identity: identity, group: group, fileBytes: job.limits.workspaceBytes
        ) { meanwhile(process) }
        if let failure { return .failure(failure) }
        return .success(process)
    }

    private func order(
        _ step: JobDescription.Step, environment: [String: String], isGrouped: Bool
    ) -> SandboxOrder {
        var environment = environment
        if environment["HOME"] == nil { environment["HOME"] = sandbox.home }
        var order = SandboxOrder(
            arguments: step.arguments, environment: environment, workspace: job.mountedAt,
            directory: step.workingDirectory, device: UInt64(workspace.st_dev), inode: UInt64(workspace.st_ino),
            // Two more than the job's own: the sandbox's first process, and one by which an excess is detected.
            processes: isGrouped ? nil : job.limits.processes + 2, sized: ["/tmp", "/dev/shm"] + homeInMemory)
        order.tellsReady = network(of: step) == .own
        return order
    }

    /// The home, if it is in memory, and so limited by its own size.
    private var homeInMemory: [String] { sandbox.homeDirectory == nil ? [sandbox.home] : [] }

    private func options(of step: JobDescription.Step, _ files: SandboxFiles) -> [String] {
        let network = self.network(of: step)
        return options + (network == .shared ? [] : ["--unshare-net"]) + files.options + ["--remount-ro", "/"]
            + (network == .own ? ["--info-fd", "\(SandboxProcess.infoDescriptor)"] : [])
    }

    /// What a step has of the network.
    func network(of step: JobDescription.Step) -> SandboxFiles.Network {
        step.network == .none ? .none : sandbox.sharesNetwork ? .shared : .own
    }

    /// Whether the checkout left a `.git`: a directory of its own, not a link that a job without a sandbox could have put.
    private static func hasGit(_ workspace: Tree) -> Bool {
        guard case .success(let descriptor) = workspace.open(Array(".git".utf8), clinux_o_path | O_DIRECTORY) else {
            return false
        }
        Glibc.close(descriptor)
        return true
    }
}

/// Finds bubblewrap, the program that creates sandboxes.
enum Bubblewrap {
    /// Returns bubblewrap's path; `nil` if it is not installed. PATH is not used: the supervisor's environment is empty, and an environment must not
    /// decide which program sandboxes a job.
    static func path() -> String? {
        ["/usr/bin/bwrap", "/usr/local/bin/bwrap", "/bin/bwrap"].first { access($0, X_OK) == 0 }
    }
}
