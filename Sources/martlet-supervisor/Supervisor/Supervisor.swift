import CLinux
import Glibc
import JobProtocol
import Processes

/// Runs one attempt's job, from the lock to the last line of its status. It outlives the launcher and the daemon.
struct Supervisor {
    /// EX_TEMPFAIL of sysexits.h: the attempt was launched before.
    static let exitLaunchedBefore: Int32 = 75
    /// The socket from which the job with its secrets is read, and to which the answer is written.
    static let socketDescriptor: Int32 = 3
    /// How often locking is tried, 10 ms apart. A process that checks whether the supervisor is alive can hold the lock for a moment.
    private static let lockTries = 50

    private let paths: AttemptPaths
    private let request: LaunchRequest
    private let signals: Signals
    /// The descriptor for the answer; `nil`: standard output.
    private let answer: Int32?
    private let readiness: Readiness

    private init(request: LaunchRequest, signals: Signals, answer: Int32?, readiness: Readiness) {
        paths = AttemptPaths(request.attempt)
        self.request = request
        self.signals = signals
        self.answer = answer
        self.readiness = readiness
    }

    /// Runs an attempt without a launcher: on a node of a cluster, and for manual use.
    /// - Parameter secretsFrom: The descriptor of an anonymous file with a `LaunchRequest`; `nil`: the job has no secrets.
    static func run(attempt: String, secretsFrom: Int32?) -> Int32 {
        hide()
        clinux_name_process("martlet-job")
        // Blocks the signals before there is a second thread, which inherits that.
        let signals = Signals()
        // A daemon on another machine cannot see this process. Without a heartbeat it goes by the lock alone.
        let paths = AttemptPaths(attempt)
        _ = clinux_begin_heartbeat(paths.heartbeat, paths.loss, AttemptPaths.heartbeatMilliseconds)
        var request = LaunchRequest(attempt: attempt, secrets: [:])
        if let secretsFrom {
            do throws(JobProtocolError) {
                request = try LaunchRequest(json: secrets(from: secretsFrom))
            } catch {
                // The job then ends with the name of the secret that it was not given.
                Console.own.complain("the secrets cannot be read: \(error)")
            }
        }
        return Supervisor(request: request, signals: signals, answer: nil, readiness: Readiness()).run()
    }

    /// Reads an anonymous file from its beginning, and closes it, so that nothing of it is left but in this process.
    private static func secrets(from descriptor: Int32) -> [UInt8] {
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: LaunchRequest.sizeLimit + 1)
        var count = 0
        while count < bytes.count {
            let read = bytes.withUnsafeMutableBytes { buffer in
                pread(descriptor, buffer.baseAddress?.advanced(by: count), buffer.count - count, off_t(count))
            }
            if read < 0 && errno == EINTR { continue }
            guard read > 0 else { break }
            count += read
        }
        return Array(bytes.prefix(count))
    }

    /// As the launcher starts it: its job comes through a socket, maybe much later, and the answer goes back there. It ends when the
    /// launcher closes the other end, or by a signal, as long as it has none.
    static func wait() -> Int32 {
        hide()
        clinux_name_process("martlet-ready")
        clinux_set_title("martlet-supervisor --wait")
        guard clinux_fcntl(socketDescriptor, F_SETFD, FD_CLOEXEC) == 0 else { return EX_USAGE }
        // All that does not depend on the job is determined and prepared before it arrives.
        let (signals, readiness) = (Signals(), Readiness())
        defer { readiness.end() }
        var sources = [
            pollfd(fd: socketDescriptor, events: Int16(POLLIN), revents: 0),
            pollfd(fd: signals.descriptor, events: Int16(POLLIN), revents: 0),
        ]
        // One that is there already needs nothing beforehand.
        if poll(&sources, 2, 0) == 0 { readiness.prepare() }
        while poll(&sources, 2, -1) < 0, errno == EINTR {}
        guard sources[0].revents != 0 else { return 0 }
        do throws(JobProtocolError) {
            let bytes = try UnixSocket.receive(from: socketDescriptor, limit: LaunchRequest.sizeLimit)
            let request = try LaunchRequest(json: bytes)
            clinux_name_process("martlet-job")
            clinux_set_title("martlet-supervisor --attempt \(request.attempt)")
            return Supervisor(request: request, signals: signals, answer: socketDescriptor, readiness: readiness).run()
        } catch {
            // In most cases the launcher has ended.
            return 0
        }
    }

    /// Protects the secrets in memory: no core dumps, and no reading by other processes of the same user.
    private static func hide() {
        clinux_hide_memory()
        clinux_adopt_orphans()
    }

    private func run() -> Int32 {
        let lock: Int32
        switch acquireLock() {
        case .failure(let error):
            let answered: LaunchAnswer =
                error.number == EEXIST || error.number == EWOULDBLOCK
                ? .exists : .failed("lock \(paths.lock): \(error.text)")
            send(answered)
            return answered == .exists ? Self.exitLaunchedBefore : EX_CANTCREAT
        case .success(let descriptor): lock = descriptor
        }
        defer { close(lock) }
        clinux_failpoint("job.locked", "before")
        let status: StatusFile
        switch StatusFile.create(paths) {
        case .failure(let error):
            let isOld = error.number == EEXIST
            send(isOld ? .exists : .failed("create \(paths.status): \(error.text)"))
            return isOld ? Self.exitLaunchedBefore : EX_CANTCREAT
        case .success(let file): status = file
        }
        clinux_failpoint("job.locked", "after")
        let job = readJob()
        // The client is answered once the first step's process is being created, because a process that wakes up competes for the processors.
        var isReported = false
        let tell = {
            if !isReported { send(.started(pid: getpid())) }
            isReported = true
        }
        let finished = JobRun(
            paths: paths, status: status, signals: signals, readiness: readiness, beginning: tell
        ).run(job, secrets: request.secrets)
        tell()
        synchronizeJob()
        let wasStopped = signals.isTerminationRequested
        status.finish(finished) { [signals] in
            signals.read()
            return !wasStopped && signals.isTerminationRequested
        }
        return 0
    }

    private func readJob() -> Result<JobDescription, JobProtocolError> {
        guard let bytes = SmallFile.read(paths.job, limit: JobDescription.sizeLimit + 1) else {
            return .failure(
                JobProtocolError(.system, "read \(paths.job)", String(cString: strerror(errno)), errno: errno))
        }
        return Result { () throws(JobProtocolError) in try JobDescription(json: bytes) }
    }

    /// Writes the job's description to disk before the last event, which cannot be interpreted without it.
    private func synchronizeJob() {
        let descriptor = clinux_open(paths.job, O_RDONLY | O_CLOEXEC, 0)
        guard descriptor >= 0 else { return }
        fdatasync(descriptor)
        close(descriptor)
    }

    private func acquireLock() -> Result<Int32, SystemError> {
        let descriptor = clinux_open(paths.lock, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o644)
        guard descriptor >= 0 else { return .failure(SystemError(number: errno)) }
        for attempt in 1...Self.lockTries {
            if clinux_flock(descriptor, LOCK_EX | LOCK_NB) == 0 { break }
            let number = errno
            // The owner of the lock has begun the attempt, so waiting is useless.
            if access(paths.status, F_OK) == 0 || attempt == Self.lockTries {
                close(descriptor)
                return .failure(SystemError(number: access(paths.status, F_OK) == 0 ? EEXIST : number))
            }
            poll(nil, 0, 10)
        }
        ftruncate(descriptor, 0)
        let failure = Descriptor.writeAll(Array(LockContent.ofThisProcess().text.utf8), to: descriptor)
        // Not synchronized: after a power failure no process holds the lock, whatever the file says.
        guard failure == 0 else {
            close(descriptor)
            return .failure(SystemError(number: failure))
        }
        return .success(descriptor)
    }

    private func send(_ said: LaunchAnswer) {
        guard let answer else { return Console.own.say(String(decoding: said.json(), as: UTF8.self) + "\n") }
        _ = Descriptor.writeAll(said.json(), to: answer)
        close(answer)
    }
}
