import CLinux
import Glibc
import JobProtocol
import Processes

/// One connection to the launcher: one request, one supervisor or one look at the sandbox, one answer.
struct LaunchClient {
    /// How long a sandbox may take to be tried. It takes about 15 ms; a machine under heavy load can be slow.
    private static let patienceMilliseconds: Int64 = 10_000

    let descriptor: Int32
    let pool: SupervisorPool

    func answer() {
        let peer = clinux_peer_user(descriptor)
        guard peer == Int32(bitPattern: geteuid()) || peer == 0 else { return }
        let answer: [UInt8]
        do throws(JobProtocolError) {
            let bytes = try UnixSocket.receive(from: descriptor, limit: LaunchRequest.sizeLimit)
            if bytes == SandboxFinding.request {
                answer = probeSandbox()
            } else {
                // What is malformed is refused here.
                _ = try LaunchRequest(json: bytes)
                answer = pool.launch(bytes).json()
            }
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

    /// In a process of its own, in which nothing of the launcher is left behind.
    private func probeSandbox() -> [UInt8] {
        var ends: [Int32] = [-1, -1]
        guard clinux_pipe(&ends) == 0 else {
            return LaunchAnswer.failed("try a sandbox: \(SystemError(number: errno).text)").json()
        }
        defer { close(ends[0]) }
        let child = clinux_fork()
        if child == 0 {
            dup2(ends[1], 1)
            CommandVector.become("/proc/self/exe", ["martlet-supervisor", "--probe-fence"], keeping: [])
            _exit(71)
        }
        close(ends[1])
        guard child > 0 else { return LaunchAnswer.failed("try a sandbox: \(SystemError(number: errno).text)").json() }
        guard let line = Self.read(ends[0], within: Self.patienceMilliseconds) else {
            kill(child, SIGKILL)
            return LaunchAnswer.failed("trying a sandbox took more than 10 s").json()
        }
        return line
    }

    /// Reads until the other end is closed; `nil` if that takes longer than `milliseconds`.
    static func read(_ descriptor: Int32, within milliseconds: Int64) -> [UInt8]? {
        let deadline = Time.monotonicMilliseconds() + milliseconds
        var bytes: [UInt8] = []
        while true {
            var source = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            let left = deadline - Time.monotonicMilliseconds()
            guard left > 0 else { return nil }
            // Nothing to read when the time is over: a read would wait for ever.
            guard poll(&source, 1, Int32(clamping: left)) > 0 else { continue }
            switch Descriptor.readOnce(descriptor, limit: SandboxFinding.sizeLimit) {
            case .success(let part?): bytes += part
            case .success(nil): return bytes
            case .failure(let error) where error.number == EAGAIN || error.number == EINTR: continue
            case .failure: return bytes
            }
        }
    }
}
