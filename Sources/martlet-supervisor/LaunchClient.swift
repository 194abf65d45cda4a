import CLinux
import Glibc
import JobProtocol

/// One connection to the launcher: one request, one supervisor or one look at the fence, one answer.
struct LaunchClient {
    /// How long a supervisor may take to its lock, or a fence to be tried. They take about 2 and 15 ms; a machine under
    /// heavy load can be slow.
    private static let patienceMilliseconds: Int64 = 10_000

    let descriptor: Int32
    /// Supervisors end in order when the launcher does, also when it is killed.
    let isAttached: Bool

    func answer(started: (Int32) -> Void) {
        let peer = clinux_peer_user(descriptor)
        guard peer == Int32(bitPattern: geteuid()) || peer == 0 else { return }
        let answer: [UInt8]
        do throws(JobProtocolError) {
            let bytes = try UnixSocket.receive(from: descriptor, limit: LaunchRequest.sizeLimit)
            answer =
                bytes == FenceFinding.request
                ? probeFence() : launch(try LaunchRequest(json: bytes), bytes, started).json()
        } catch {
            answer = LaunchAnswer.failed("\(error)").json()
        }
        do throws(JobProtocolError) {
            try UnixSocket.send(answer, to: descriptor)
        } catch {
            // Who asked has gone. The supervisor runs; asking again is answered with `exists`.
            return
        }
    }

    private func launch(_ request: LaunchRequest, _ bytes: [UInt8], _ started: (Int32) -> Void) -> LaunchAnswer {
        var answers: [Int32] = [-1, -1]
        let secrets = clinux_memory_file("secrets")
        guard secrets >= 0, clinux_pipe(&answers) == 0 else {
            let error = SystemError(number: errno)
            if secrets >= 0 { close(secrets) }
            return .failed("start a supervisor: \(error.text)")
        }
        defer {
            close(secrets)
            close(answers[0])
        }
        guard Descriptor.writeAll(bytes, to: secrets) == 0 else {
            close(answers[1])
            return .failed("start a supervisor: no memory for its secrets")
        }
        let launcher = getpid()
        let child = clinux_fork()
        if child == 0 {
            setsid()
            if isAttached, clinux_end_with_parent(SIGTERM) != 0 || getppid() != launcher { _exit(71) }
            CommandVector.become(
                "/proc/self/exe", ["martlet-supervisor", "--attempt", request.attempt],
                keeping: [secrets, answers[1]])
            _exit(71)
        }
        close(answers[1])
        guard child > 0 else { return .failed("start a supervisor: \(SystemError(number: errno).text)") }
        started(child)
        guard let answer = read(answers[0]) else { return .failed("the supervisor did not take its lock within 10 s") }
        do throws(JobProtocolError) {
            return try LaunchAnswer(json: answer)
        } catch {
            return .failed("the supervisor ended before it held the lock")
        }
    }

    /// In a process of its own, in which nothing of the launcher is left behind.
    private func probeFence() -> [UInt8] {
        var ends: [Int32] = [-1, -1]
        guard clinux_pipe(&ends) == 0 else {
            return LaunchAnswer.failed("try a fence: \(SystemError(number: errno).text)").json()
        }
        defer { close(ends[0]) }
        let child = clinux_fork()
        if child == 0 {
            dup2(ends[1], 1)
            CommandVector.become("/proc/self/exe", ["martlet-supervisor", "--probe-fence"], keeping: [])
            _exit(71)
        }
        close(ends[1])
        guard child > 0 else { return LaunchAnswer.failed("try a fence: \(SystemError(number: errno).text)").json() }
        guard let line = read(ends[0]) else {
            kill(child, SIGKILL)
            return LaunchAnswer.failed("trying a fence took more than 10 s").json()
        }
        return line
    }

    /// All until the other end is closed; nothing when that takes too long.
    private func read(_ descriptor: Int32) -> [UInt8]? {
        let deadline = Time.monotonicMilliseconds() + Self.patienceMilliseconds
        var bytes: [UInt8] = []
        while true {
            var source = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            let left = deadline - Time.monotonicMilliseconds()
            guard left > 0 else { return nil }
            poll(&source, 1, Int32(clamping: left))
            switch Descriptor.readOnce(descriptor, limit: FenceFinding.sizeLimit) {
            case .success(let part?): bytes += part
            case .success(nil): return bytes
            case .failure(let error) where error.number == EAGAIN || error.number == EINTR: continue
            case .failure: return bytes
            }
        }
    }
}
