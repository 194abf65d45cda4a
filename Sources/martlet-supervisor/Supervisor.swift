import CLinux
import Glibc
import JobProtocol

/// Runs one attempt's job, from the lock to the last line of its status. It outlives the launcher and the daemon.
struct Supervisor {
    /// EX_TEMPFAIL of sysexits.h: the attempt was launched before.
    static let exitLaunchedBefore: Int32 = 75
    /// Where the launcher puts the secrets and where the answer goes.
    static let secretsDescriptor: Int32 = 3
    static let answerDescriptor: Int32 = 4
    /// How often the lock is tried, 10 ms apart: somebody who asks whether we live can hold it for a moment.
    private static let lockTries = 50

    private let paths: AttemptPaths

    init(attempt: String) { paths = AttemptPaths(attempt) }

    func run() -> Int32 {
        // Secrets are in our memory: no core, no reading by others of the same user.
        clinux_hide_memory()
        clinux_adopt_orphans()
        clinux_name_process("martlet-job")
        // First: any descriptor opened before would have one of their numbers.
        let (secrets, answer) = (passed(Self.secretsDescriptor), passed(Self.answerDescriptor))
        let signals = Signals()
        let lock: Int32
        switch takeLock() {
        case .failure(let error):
            let answered: LaunchAnswer =
                error.number == EEXIST || error.number == EWOULDBLOCK
                ? .exists : .failed("lock \(paths.lock): \(error.text)")
            send(answered, to: answer)
            return answered == .exists ? Self.exitLaunchedBefore : EX_CANTCREAT
        case .success(let descriptor): lock = descriptor
        }
        defer { close(lock) }
        let status: StatusFile
        switch StatusFile.create(paths) {
        case .failure(let error):
            let isOld = error.number == EEXIST
            send(isOld ? .exists : .failed("create \(paths.status): \(error.text)"), to: answer)
            return isOld ? Self.exitLaunchedBefore : EX_CANTCREAT
        case .success(let file): status = file
        }
        send(.started(pid: getpid()), to: answer)
        let finished = JobRun(paths: paths, status: status, signals: signals).run(request: readRequest(secrets))
        synchronizeJob()
        status.append(finished)
        return 0
    }

    /// What the job was is on the disk before its last word, which nobody could read without it.
    private func synchronizeJob() {
        let descriptor = clinux_open(paths.job, O_RDONLY | O_CLOEXEC, 0)
        guard descriptor >= 0 else { return }
        fdatasync(descriptor)
        close(descriptor)
    }

    private func takeLock() -> Result<Int32, SystemError> {
        let descriptor = clinux_open(paths.lock, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o644)
        guard descriptor >= 0 else { return .failure(SystemError(number: errno)) }
        for attempt in 1...Self.lockTries {
            if clinux_flock(descriptor, LOCK_EX | LOCK_NB) == 0 { break }
            let number = errno
            // Its owner has begun: no need to wait for what will not change.
            if access(paths.status, F_OK) == 0 || attempt == Self.lockTries {
                close(descriptor)
                return .failure(SystemError(number: access(paths.status, F_OK) == 0 ? EEXIST : number))
            }
            poll(nil, 0, 10)
        }
        ftruncate(descriptor, 0)
        let failure = Descriptor.writeAll(Array(LockContent.ofThisProcess().text.utf8), to: descriptor)
        // Not to the disk: after a loss of power nobody holds it, whatever it says.
        guard failure == 0 else {
            close(descriptor)
            return .failure(SystemError(number: failure))
        }
        return .success(descriptor)
    }

    /// Nothing when started by hand, without a launcher.
    private func passed(_ descriptor: Int32) -> Int32? {
        clinux_fcntl(descriptor, F_SETFD, FD_CLOEXEC) == 0 ? descriptor : nil
    }

    private func send(_ answer: LaunchAnswer, to descriptor: Int32?) {
        guard let descriptor else { return Console.say(String(decoding: answer.json(), as: UTF8.self) + "\n") }
        _ = Descriptor.writeAll(answer.json(), to: descriptor)
        close(descriptor)
    }

    private func readRequest(_ descriptor: Int32?) -> LaunchRequest? {
        guard let descriptor else { return LaunchRequest(attempt: paths.directory, secrets: [:]) }
        defer { close(descriptor) }
        lseek(descriptor, 0, SEEK_SET)
        guard let bytes = SmallFile.read(descriptor, limit: LaunchRequest.sizeLimit) else { return nil }
        do throws(JobProtocolError) {
            return try LaunchRequest(json: bytes)
        } catch {
            return nil
        }
    }
}
