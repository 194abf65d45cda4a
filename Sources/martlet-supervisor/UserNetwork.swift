import CLinux
import Glibc
import JobProtocol

/// The network of a fenced step that has one: its own namespace, in which slirp4netns, a process outside of the fence, answers for all
/// addresses and opens the step's connections as the supervisor's user. The host's loopback is not among what it connects to by addresses
/// of its own, and packets that say it, or what a cloud tells its machine, are not sent (`clinux_forbid_destinations`).
struct UserNetwork {
    /// Why a step has no network. Always our fault or the machine's, never the job's.
    struct Failure: Error {
        let reason: String
        /// As of `FenceFinding`.
        var isLasting = false
    }

    /// Where slirp4netns answers questions for names, whichever server the host asks (slirp4netns(1)). Only port 53 is there.
    static let nameServer = "10.0.2.3"
    /// How long it may take. It takes some 10 ms.
    private static let patienceMilliseconds: Int64 = 10_000
    /// Asks the kernel who owns a namespace (ioctl_ns(2), NS_GET_USERNS; Linux 4.9).
    private static let getOwner: UInt = 0xB701
    /// How many descriptors slirp4netns may have, of which each connection of the step's needs one. It is of none of the job's groups,
    /// and a connection whose reader is slow takes up to a quarter of a MiB of it: 250 MiB at most (measured with 900).
    static let openFiles = 1024
    /// Of what bubblewrap tells of its child, and of what is kept of what slirp4netns says.
    private static let wordsLimit = 4096

    let process: Int32
    /// As long as this is open it runs. No other process has it, so it ends with us, however that happens.
    private let life: Int32
    /// What it prints. Nobody has to read it.
    private let words: Int32

    /// Not by PATH, as of `Bubblewrap`.
    static func path() -> String? {
        ["/usr/bin/slirp4netns", "/usr/local/bin/slirp4netns", "/bin/slirp4netns"].first { access($0, X_OK) == 0 }
    }

    /// Waits until a fence is made, and gives its network the outside. Not before: both bubblewrap and slirp4netns set the fence's own
    /// loopback up, and where slirp4netns is first, bubblewrap fails.
    /// - Parameters:
    ///   - info: Where bubblewrap tells of its child (`--info-fd`).
    ///   - report: Where the fence's first process, or bubblewrap, speaks.
    /// - Returns: No network where there is no fence; and what else was said, which nobody can read again.
    static func start(info: Int32, report: Int32) -> (network: Result<UserNetwork?, Failure>, said: [UInt8]) {
        let deadline = Time.monotonicMilliseconds() + patienceMilliseconds
        var said: [UInt8] = []
        while !said.starts(with: FenceReport.ready), said.count < wordsLimit, isReadable(report, until: deadline),
            case .success(let part?) = Descriptor.readOnce(report, limit: wordsLimit)
        { said += part }
        guard said.starts(with: FenceReport.ready) else {
            // Who is slow may come yet, and its command would be turned away at the gate as if it had failed by itself.
            let isLate = Time.monotonicMilliseconds() >= deadline
            return (isLate ? .failure(Failure(reason: "the fence was not made within 10 s")) : .success(nil), said)
        }
        return (start(info: info, until: deadline), Array(said.dropFirst(FenceReport.ready.count)))
    }

    private static func start(info: Int32, until deadline: Int64) -> Result<UserNetwork?, Failure> {
        guard let program = path() else {
            return .failure(Failure(reason: FenceFinding.userNetworkMissing, isLasting: true))
        }
        guard let child = child(info, until: deadline) else {
            return .failure(Failure(reason: "bubblewrap did not say which process the fence's first is"))
        }
        let network = clinux_open("/proc/\(child)/ns/net", O_RDONLY | O_CLOEXEC, 0)
        guard network >= 0 else { return failure("open the fence's network") }
        defer { close(network) }
        // The fence's processes are in a namespace beneath its owner's, with no right to the network.
        let owner = clinux_ioctl(network, getOwner, 0)
        guard owner >= 0 else { return failure("find the owner of the fence's network") }
        defer { close(owner) }
        return start(program, network: network, owner: owner, until: deadline).map(Optional.some)
    }

    /// The process that bubblewrap says is its child.
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
        // What it prints into a full pipe is lost, rather than that it waits.
        _ = clinux_fcntl(words[1], F_SETFL, O_NONBLOCK)
        let started = SpawnRequest(
            arguments: [program] + options, environment: [:], directory: root, output: words[1], errors: words[1],
            kept: [ready[1], life[0], owner, network], openFiles: openFiles
        ).start()
        // So that its end is seen.
        close(ready[1])
        guard case .success(let process) = started else {
            close(life[1])
            close(words[0])
            return .failure(Failure(reason: "\(program) cannot be started"))
        }
        let made = UserNetwork(process: process, life: life[1], words: words[0])
        if isReadable(ready[0], until: deadline), case .success(.some) = Descriptor.readOnce(ready[0], limit: 1) {
            // What it says of its beginning is not why it ends.
            _ = made.lastWords
            // The step's command waits for its network, so nothing was sent yet.
            let number = clinux_forbid_destinations(owner, network)
            guard number != 0 else { return .success(made) }
            made.end()
            return .failure(
                Failure(
                    reason: FenceFinding.destinationsReason(number: number),
                    isLasting: FenceFinding.isDestinationsLasting(number: number)))
        }
        let complaint = made.lastWords ?? "it said nothing within 10 s"
        made.end()
        return .failure(
            Failure(
                reason: FenceFinding.networkReason(complaint: complaint),
                isLasting: FenceFinding.isNetworkLasting(complaint: complaint)))
    }

    /// Its descriptors are those of `kept`. Root shows it but a few of the host's files; who is not root has no right to. The largest
    /// packets cost the fewest system calls.
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

    /// What it printed, on one line; nothing when it printed nothing.
    var lastWords: String? {
        _ = clinux_fcntl(words, F_SETFL, O_NONBLOCK)
        guard case .success(let bytes?) = Descriptor.readOnce(words, limit: Self.wordsLimit) else { return nil }
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n").filter { !$0.hasPrefix("WARNING") }
        return lines.joined(separator: "; ")
    }

    /// Has it end by itself, at once.
    func end() {
        close(life)
        close(words)
    }
}
