import CLinux
import Glibc
import JobProtocol
import Processes

/// The network of a sandboxed step: a network namespace of its own. slirp4netns, a process outside the sandbox, represents all addresses in it, and
/// opens the step's connections as the supervisor's user. It does not connect to the host's loopback by special addresses. Packets to loopback
/// addresses, or to a cloud's metadata service, are dropped (`clinux_forbid_destinations`).
struct UserNetwork {
    /// The reason why a step has no network. It is always a fault of the supervisor or the machine, never of the job.
    struct Failure: Error {
        let reason: String
        /// Whether a later attempt would fail as well, as in `SandboxFinding`.
        var isLasting = false
    }

    /// The address at which slirp4netns answers name queries with the host's name servers (slirp4netns(1)). Only port 53 is available there.
    static let nameServer = "10.0.2.3"
    /// How long starting the network may take, in milliseconds. Usually it takes about 10 ms.
    private static let patienceMilliseconds: Int64 = 10_000
    /// The request that returns the owner of a namespace (ioctl_ns(2), NS_GET_USERNS; Linux 4.9).
    private static let getOwner: UInt = 0xB701
    /// The most descriptors of slirp4netns, which needs one for each connection of the step. It is in none of the job's control groups. A connection
    /// with a slow reader takes up to a quarter of a MiB, so all take at most 250 MiB (measured with 900).
    static let openFiles = 1024
    /// The most bytes that are kept of bubblewrap's information about its child, and of slirp4netns's messages.
    private static let wordsLimit = 4096

    let process: Int32
    /// slirp4netns runs as long as this is open. No other process has it, so it ends with the supervisor in any case.
    private let life: Int32
    /// The pipe with its output, which need not be read.
    private let words: Int32

    /// Returns the path of slirp4netns; `nil` if it is not installed. PATH is not used, as in `Bubblewrap`.
    static func path() -> String? {
        ["/usr/bin/slirp4netns", "/usr/local/bin/slirp4netns", "/bin/slirp4netns"].first { access($0, X_OK) == 0 }
    }

    /// Waits until a sandbox is created, and connects its network. Earlier would be wrong: both bubblewrap and slirp4netns enable the sandbox's own
    /// loopback, and if slirp4netns is first, bubblewrap fails.
    /// - Parameters:
    ///   - info: The pipe in which bubblewrap describes its child (`--info-fd`).
    ///   - report: The pipe in which the sandbox's first process, or bubblewrap, reports.
    /// - Returns: The network; `nil` if there is no sandbox. And the other bytes that were read from `report`, which cannot be read again.
    static func start(info: Int32, report: Int32) -> (network: Result<UserNetwork?, Failure>, said: [UInt8]) {
        let deadline = Time.monotonicMilliseconds() + patienceMilliseconds
        var said: [UInt8] = []
        while !said.starts(with: SandboxReport.ready), said.count < wordsLimit, isReadable(report, until: deadline),
            case .success(let part?) = Descriptor.readOnce(report, limit: wordsLimit)
        { said += part }
        guard said.starts(with: SandboxReport.ready) else {
            // A slow sandbox may still become ready. Without this failure its command would be refused at the gate as if it had failed by itself.
            let isLate = Time.monotonicMilliseconds() >= deadline
            return (isLate ? .failure(Failure(reason: "the sandbox was not made within 10 s")) : .success(nil), said)
        }
        return (start(info: info, until: deadline), Array(said.dropFirst(SandboxReport.ready.count)))
    }

    private static func start(info: Int32, until deadline: Int64) -> Result<UserNetwork?, Failure> {
        guard let program = path() else {
            return .failure(Failure(reason: SandboxFinding.userNetworkMissing, isLasting: true))
        }
        guard let child = child(info, until: deadline) else {
            return .failure(Failure(reason: "bubblewrap did not say which process the sandbox's first is"))
        }
        let network = clinux_open("/proc/\(child)/ns/net", O_RDONLY | O_CLOEXEC, 0)
        guard network >= 0 else { return failure("open the sandbox's network") }
        defer { close(network) }
        // The sandbox's processes are in a user namespace below that of the owner, without privileges over the network.
        let owner = clinux_ioctl(network, getOwner, 0)
        guard owner >= 0 else { return failure("find the owner of the sandbox's network") }
        defer { close(owner) }
        return start(program, network: network, owner: owner, until: deadline).map(Optional.some)
    }

    /// Returns the process that bubblewrap names as its child; `nil` if it names none in time.
    private static func child(_ info: Int32, until deadline: Int64) -> Int32? {
        var said: [UInt8] = []
        while said.count < wordsLimit {
            if let pid = (try? JSON(said, limit: wordsLimit))?["child-pid"]?.integer { return Int32(exactly: pid) }
            guard isReadable(info, until: deadline),
                case .success(let part?) = Descriptor.readOnce(info, limit: wordsLimit)
            else { return nil }
            said += part
        }
        return nil
    }

    private static func start(
        _ program: String, network: Int32, owner: Int32, until deadline: Int64
    ) -> Result<UserNetwork, Failure> {
        var (ready, life, words): ([Int32], [Int32], [Int32]) = ([-1, -1], [-1, -1], [-1, -1])
        let root = clinux_open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0)
        defer { for descriptor in [root, ready[0], life[0], words[1]] where descriptor >= 0 { close(descriptor) } }
        guard root >= 0, clinux_pipe(&ready) == 0, clinux_pipe(&life) == 0, clinux_pipe(&words) == 0 else {
            defer { for descriptor in [ready[1], life[1], words[0]] where descriptor >= 0 { close(descriptor) } }
            return failure("make its pipes")
        }
        // If the pipe is full, its output is lost instead of blocking it.
        _ = clinux_fcntl(words[1], F_SETFL, O_NONBLOCK)
        let started = SpawnRequest(
            arguments: [program] + options, environment: [:], directory: root, output: words[1], errors: words[1],
            kept: [ready[1], life[0], owner, network], openFiles: openFiles
        ).start()
        // Closed so that the end of slirp4netns is noticed.
        close(ready[1])
        guard case .success(let process) = started else {
            close(life[1])
            close(words[0])
            return .failure(Failure(reason: "\(program) cannot be started"))
        }
        let made = UserNetwork(process: process, life: life[1], words: words[0])
        if isReadable(ready[0], until: deadline), case .success(.some) = Descriptor.readOnce(ready[0], limit: 1) {
            // Its messages from the start are not the reason for its end.
            _ = made.lastWords
            // The step's command waits for its network, so no packet was sent yet.
            let number = clinux_forbid_destinations(owner, network)
            guard number != 0 else { return .success(made) }
            made.end()
            return .failure(
                Failure(
                    reason: SandboxFinding.destinationsReason(number: number),
                    isLasting: SandboxFinding.isDestinationsLasting(number: number)))
        }
        let complaint = made.lastWords ?? "it said nothing within 10 s"
        made.end()
        return .failure(
            Failure(
                reason: SandboxFinding.networkReason(complaint: complaint),
                isLasting: SandboxFinding.isNetworkLasting(complaint: complaint)))
    }

    /// The options of slirp4netns; the descriptors are those of `kept`. Its own sandbox, which hides most of the host's files, needs root. The
    /// largest packets cost the fewest system calls.
    private static var options: [String] {
        ["--configure", "--mtu=65520", "--disable-host-loopback", "--enable-ipv6", "--enable-seccomp"]
            + (geteuid() == 0 ? ["--enable-sandbox"] : [])
            + [
                "--ready-fd=3", "--exit-fd=4", "--netns-type=path", "--userns-path=/proc/self/fd/5", "/proc/self/fd/6",
                "tap0",
            ]
    }

    private static func isReadable(_ descriptor: Int32, until deadline: Int64) -> Bool {
        while true {
            var source = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            let count = poll(&source, 1, Int32(clamping: max(0, deadline - Time.monotonicMilliseconds())))
            if count < 0, errno == EINTR { continue }
            return count > 0
        }
    }

    private static func failure<T>(_ operation: String) -> Result<T, Failure> {
        .failure(Failure(reason: "cannot \(operation): \(SystemError(number: errno).text)"))
    }

    /// What it printed, in one line; `nil` if it printed nothing.
    var lastWords: String? {
        _ = clinux_fcntl(words, F_SETFL, O_NONBLOCK)
        guard case .success(let bytes?) = Descriptor.readOnce(words, limit: Self.wordsLimit) else { return nil }
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n").filter { !$0.hasPrefix("WARNING") }
        return lines.joined(separator: "; ")
    }

    /// Makes it end immediately.
    func end() {
        close(life)
        close(words)
    }
}
