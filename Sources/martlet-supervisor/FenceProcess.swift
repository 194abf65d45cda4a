import CLinux
import Glibc

/// A bubblewrap process that has no options yet: it reads them from a socket (`--args`) and does nothing before that ends. A waiting supervisor
/// starts it beforehand, so that the job's first command does not wait for a program's start.
///
/// The options do not go through a pipe: if the user's processes hold all pipe pages of the user (`fs.pipe-user-pages-soft`), a new pipe holds only
/// 8 KiB. The kernel does not count what sockets hold by user.
///
/// At its start it gets nothing of a job: an empty environment, no option, files without content.
final class FenceProcess {
    /// The descriptors of the process, after those of `FencedStep`: what bubblewrap itself reads, and where it tells of its child.
    static let filterDescriptor = FencedStep.programDescriptor + 1
    static let optionsDescriptor = FencedStep.programDescriptor + 2
    static let firstFileDescriptor = FencedStep.programDescriptor + 3
    static let infoDescriptor = firstFileDescriptor + Int32(FenceFiles.countLimit)
    /// How long bubblewrap may take to read its options. It takes less than a millisecond; a machine under heavy load can be slow.
    private static let patienceMilliseconds: Int64 = 10_000

    /// Bubblewrap's; 0 before it is started.
    private(set) var pid: Int32 = 0
    /// What `FenceReport` and the step itself say, to be read.
    let report: Int32
    let output: Int32
    /// Where bubblewrap tells of its child, if its options say so; to be read.
    let info: Int32
    /// What the command waits for within the fence.
    let gate: Gate
    /// Of the control group that it is in.
    private var entrances: [Int32] = []
    private var identity: SpawnRequest.Identity?
    private let options: Int32
    /// The order, and what stands in the fence's files.
    private let texts: [Int32]
    /// What the process gets, in the order of its descriptors from 3 on, and as its standard error.
    private let passed: [Int32]
    private let passedReport: Int32
    private var isTaken = false

    /// `nil` if there is no descriptor left; `errno` says why.
    init?() {
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
        func sockets() -> (read: Int32, write: Int32)? {
            var ends: [Int32] = [-1, -1]
            guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else {
                return nil
            }
            opened += ends
            return (ends[0], ends[1])
        }
        guard let report = pipe(), let output = pipe(), let options = sockets(), let info = pipe(),
            let gate = keep(clinux_gate()), let program = keep(clinux_open("/proc/self/exe", O_RDONLY | O_CLOEXEC, 0)),
            let filter = keep(clinux_memory_file("filter")), Self.writeFilter(to: filter)
        else { return nil }
        var texts: [Int32] = []
        for _ in 0...FenceFiles.countLimit {
            guard let text = keep(clinux_memory_file("fence")) else { return nil }
            texts.append(text)
        }
        (self.report, self.output, self.info, self.options) = (report.read, output.read, info.read, options.write)
        (self.gate, self.texts) = (Gate(descriptor: gate), texts)
        passed = [texts[0], output.write, gate, program, filter, options.read] + texts.dropFirst() + [info.write]
        passedReport = report.write
        isWhole = true
    }

    /// - Parameters:
    ///   - identity: The user to run as; `nil`: this process's.
    ///   - meanwhile: Called while the process is made; not if none can be made.
    /// - Returns: Why it could not be started.
    func start(
        _ bubblewrap: String, identity: SpawnRequest.Identity?, group: ControlGroup?, fileBytes: Int64?,
        meanwhile: () -> Void
    ) -> SystemError? {
        (entrances, self.identity) = (group?.entrances ?? [], identity)
        let root = clinux_open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0)
        defer { Self.close([root]) }
        let started = SpawnRequest(
            arguments: [
                bubblewrap, "--args", "\(Self.optionsDescriptor)", "--",
                "/proc/self/fd/\(FencedStep.programDescriptor)", "--within-fence",
            ], environment: [:], directory: root, output: passedReport, errors: passedReport, kept: passed,
            group: group, identity: identity, dropsCapabilities: true, fileBytes: fileBytes
        ).start(meanwhile: meanwhile)
        // Only the child's, so that the end of its output is seen when its last process is gone.
        Self.close([passedReport] + passed.filter { !texts.contains($0) && $0 != gate.descriptor })
        switch started {
        case .success(let pid): self.pid = pid
        case .failure(let failure): return failure.error
        }
        return nil
    }

    /// Assigns a process that was started beforehand to this job.
    /// - Returns: Whether that is possible; else the process is ended.
    func take(identity: SpawnRequest.Identity?, group: ControlGroup?, fileBytes: Int64) -> Bool {
        guard !isTaken, pid > 0, self.identity == identity, entrances == group?.entrances ?? [],
            clinux_limit_file_bytes(pid, fileBytes) == 0
        else {
            end()
            return false
        }
        isTaken = true
        return true
    }

    /// Sends it the options of the sandbox. Called once.
    /// - Returns: 0, or the error's number: it makes no sandbox then, provided that it is ended before its options end.
    func give(order: [UInt8], files: [[UInt8]], options arguments: [String]) -> Int32 {
        isTaken = true
        for (text, descriptor) in zip([order] + files, texts) {
            let number = Descriptor.writeAll(text, to: descriptor)
            guard number == 0 else { return number }
            lseek(descriptor, 0, SEEK_SET)
        }
        let failure = write(Array((arguments.joined(separator: "\0") + "\0").utf8))
        guard failure == 0 else { return failure }
        Self.close([options])
        return 0
    }

    /// Writes all of bubblewrap's options, which it reads meanwhile. If that fails, the socket stays open until bubblewrap is killed: otherwise it
    /// would make a sandbox from half of them.
    private func write(_ bytes: [UInt8]) -> Int32 {
        let deadline = Time.monotonicMilliseconds() + Self.patienceMilliseconds
        var sent = 0
        while sent < bytes.count {
            let count = bytes[sent...].withUnsafeBytes {
                send(options, $0.baseAddress, $0.count, Int32(MSG_DONTWAIT | MSG_NOSIGNAL))
            }
            if count >= 0 {
                sent += count
            } else if errno == EAGAIN {
                var room = pollfd(fd: options, events: Int16(POLLOUT), revents: 0)
                let left = deadline - Time.monotonicMilliseconds()
                guard left > 0 else { return ETIMEDOUT }
                poll(&room, 1, Int32(clamping: left))
            } else if errno != EINTR {
                return errno
            }
        }
        return 0
    }

    /// Ends a process that got no options, or not all. Does not wait for its end.
    func abandon() {
        // Its options end after it.
        if pid > 0 { kill(pid, SIGKILL) }
        Self.close([options])
        closeOutput()
        release()
    }

    /// Ends a process that was never assigned; further calls do nothing.
    func end() {
        guard !isTaken else { return }
        isTaken = true
        abandon()
    }

    /// Closes what only its start needed; what it says is still read.
    func release() { Self.close(texts + [info, gate.descriptor]) }

    /// Closes what it says.
    func closeOutput() { Self.close([report, output]) }

    private static func close(_ descriptors: [Int32]) {
        let number = errno
        for descriptor in descriptors { Glibc.close(descriptor) }
        errno = number
    }

    private static func writeFilter(to descriptor: Int32) -> Bool {
        var bytes = [UInt8](repeating: 0, count: Int(CLINUX_SECCOMP_LIMIT))
        let size = bytes.withUnsafeMutableBytes { clinux_seccomp_filter($0.baseAddress, $0.count) }
        errno = size <= bytes.count ? Descriptor.writeAll(Array(bytes.prefix(size)), to: descriptor) : E2BIG
        lseek(descriptor, 0, SEEK_SET)
        return errno == 0
    }
}
