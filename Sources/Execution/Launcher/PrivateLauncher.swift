import Basics
import CLinux
import Glibc
import Synchronization

/// A launcher that lives as long as this process, for jobs that no later process continues.
///
/// It waits for the end of its standard input, which this process holds open. When this process ends in any way, the launcher kills the processes
/// that it started, and ends. If the launcher itself is killed, its supervisors are told to end, and kill their processes. It has its own session, so
/// that Ctrl-C in the terminal reaches only this process.
package final class PrivateLauncher: Sendable {
    /// Starts jobs through this launcher, and never through another one.
    package let executor: LocalExecutor

    private struct State {
        /// The end of the launcher's standard input. Closing it ends the launcher.
        var input: Int32
        var pid: pid_t
    }
    private let state: Mutex<State?>
    private let queue = SerialQueue(label: "private-launcher")

    /// The size limit in bytes of the launcher's output at its start, which is one line.
    private static let answerLimit = 4096

    /// Starts the launcher, and returns when it listens.
    /// - Parameters:
    ///   - socket: The absolute path at which it is to listen. No other launcher may use it.
    ///   - supervisor: The path of `martlet-supervisor`.
    /// - Throws: `.noLauncher`.
    package init(socket: String, supervisor: String) async throws(ExecutionError) {
        let queue = queue
        let started = try await queue.run { () throws(ExecutionError) in
            try Self.start(supervisor, ["--listen", socket, "--attached"])
        }
        state = Mutex(started)
        executor = LocalExecutor(socket: socket, supervisor: supervisor, startsLauncher: false)
    }

    /// Ends the launcher and kills the processes that it started. Returns when all have ended, or after half a minute if a process cannot be killed.
    /// Has no effect when called again.
    package func end() async { await queue.run { self.endBlocking() } }

    /// Does the same as `end`, but blocks. For a caller that is about to exit.
    package func endBlocking() {
        let ended = state.withLock { state in
            defer { state = nil }
            return state
        }
        guard let ended else { return }
        close(ended.input)
        var status: Int32 = 0
        while waitpid(ended.pid, &status, 0) < 0, errno == EINTR {}
    }

    private static func start(_ program: String, _ arguments: [String]) throws(ExecutionError) -> State {
        let operation = "start \(program) \(arguments.joined(separator: " "))"
        func failure(_ number: Int32) -> ExecutionError {
            ExecutionError(.noLauncher, operation, String(cString: strerror(number)))
        }
        // Socket pairs, because their ends are close-on-exec from the start.
        var input: [Int32] = [-1, -1]
        var output: [Int32] = [-1, -1]
        guard makePair(&input) == 0 else { throw failure(errno) }
        guard makePair(&output) == 0 else {
            let number = errno
            for descriptor in input { close(descriptor) }
            throw failure(number)
        }
        defer {
            close(input[0])
            close(output[0])
        }
        var pid: pid_t = 0
        var strings: [UnsafeMutablePointer<CChar>?] = ([program] + arguments).map { strdup($0) }
        defer { for string in strings { free(string) } }
        strings.append(nil)
        let number = clinux_spawn_attached(&pid, program, strings, input[0], output[1])
        close(output[1])
        guard number == 0 else {
            close(input[1])
            throw failure(number)
        }
        let answer = line(from: output[0])
        guard answer == "listening" else {
            close(input[1])
            var status: Int32 = 0
            while waitpid(pid, &status, 0) < 0, errno == EINTR {}
            throw ExecutionError(
                .noLauncher, operation,
                answer.isEmpty ? "it ended before it listened" : answer)
        }
        return State(input: input[1], pid: pid)
    }

    private static func makePair(_ ends: inout [Int32]) -> Int32 {
        socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends)
    }

    private static func line(from descriptor: Int32) -> String {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: answerLimit)
        while bytes.count < answerLimit, bytes.last != UInt8(ascii: "\n") {
            let count = read(descriptor, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { break }
            bytes += buffer.prefix(count)
        }
        return String(decoding: bytes, as: UTF8.self).split(separator: "\n").first.map(String.init) ?? ""
    }
}
