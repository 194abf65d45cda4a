import CLinux
import Glibc
import JobProtocol

/// One connection to the launcher: one request, one supervisor, one answer.
struct LaunchClient {
    /// How long a supervisor may take to its lock. It takes about 2 ms; a machine under heavy load can be slow.
    private static let patienceMilliseconds: Int64 = 10_000

    let descriptor: Int32

    func answer(started: (Int32) -> Void) {
        let peer = clinux_peer_user(descriptor)
        guard peer == Int32(bitPattern: geteuid()) || peer == 0 else { return }
        let answer: LaunchAnswer
        do throws(JobProtocolError) {
            let bytes = try UnixSocket.receive(from: descriptor, limit: LaunchRequest.sizeLimit)
            answer = launch(try LaunchRequest(json: bytes), bytes, started)
        } catch {
            answer = .failed("\(error)")
        }
        do throws(JobProtocolError) {
            try UnixSocket.send(answer.json(), to: descriptor)
        } catch {
            // Who asked has gone. The supervisor runs; asking again is answered with `exists`.
            return
        }
    }

    private func launch(_ request: LaunchRequest, _ bytes: [UInt8], _ started: (Int32) -> Void) -> LaunchAnswer {
        var answers: [Int32] = [-1, -1]
        let secrets = clinux_memory_file("secrets")
        guard secrets >= 0, clinux_pipe(&answers) == 0 else {
            return .failed("start a supervisor: \(SystemError(number: errno).text)")
        }
        defer {
            close(secrets)
            close(answers[0])
        }
        guard Descriptor.writeAll(bytes, to: secrets) == 0 else {
            close(answers[1])
            return .failed("start a supervisor: no memory for its secrets")
        }
        let child = clinux_fork()
        if child == 0 {
            setsid()
            CommandVector.become(
                "/proc/self/exe", ["martlet-supervisor", "--attempt", request.attempt],
                keeping: [secrets, answers[1]])
            _exit(71)
        }
        close(answers[1])
        guard child > 0 else { return .failed("start a supervisor: \(SystemError(number: errno).text)") }
        started(child)
        return read(answers[0])
    }

    private func read(_ answers: Int32) -> LaunchAnswer {
        let deadline = Time.monotonicMilliseconds() + Self.patienceMilliseconds
        var bytes: [UInt8] = []
        while true {
            var source = pollfd(fd: answers, events: Int16(POLLIN), revents: 0)
            let left = deadline - Time.monotonicMilliseconds()
            guard left > 0 else { return .failed("the supervisor did not take its lock within 10 s") }
            poll(&source, 1, Int32(clamping: left))
            switch Descriptor.readOnce(answers, limit: 4096) {
            case .success(let part?): bytes += part
            case .failure(let error) where error.number == EAGAIN || error.number == EINTR: continue
            case .success(nil), .failure: break
            }
            guard source.revents & Int16(POLLHUP) != 0 else { continue }
            do throws(JobProtocolError) {
                return try LaunchAnswer(json: bytes)
            } catch {
                return .failed("the supervisor ended before it held the lock")
            }
        }
    }
}
