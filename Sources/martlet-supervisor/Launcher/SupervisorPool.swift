import CLinux
import Glibc
import JobProtocol
import Processes

/// The launcher's supervisors: those that run jobs, and a few that are started already and wait for one, so that a job does not wait for a
/// program's start. A waiting supervisor has no job, holds its memory and its preparations (`Readiness`), and ends when the launcher does.
final class SupervisorPool {
    /// How many wait: a job's start takes one, and the next are started while that job runs.
    static let waitingCount = 2
    /// How long after a job's start others are started: that one's first command comes first.
    private static let refillMilliseconds: Int32 = 10
    /// The same pause if a waiting supervisor has ended, or none could be started: the machine has no room for it now.
    private static let longMilliseconds: Int32 = 1000
    /// How long a supervisor may take until its first step's process is being made, where it has to be started first. It takes some
    /// milliseconds; a machine under heavy load can be slow.
    private static let patienceMilliseconds: Int64 = 10_000
    /// Room for `--attempt` and its path in what `ps` shows, where the kernel shows at most a page.
    private static let titleRoom = 4000

    /// The niceness of supervisors, and so of jobs (nice(2)): they yield a little to the daemon and to users, and have four ninths of a processor
    /// that one other process wants too (decision 0056).
    private static let niceness: Int32 = 1
    /// The weight that the kernel gives a process of that niceness, against 1,024 of a usual one (`sched_prio_to_weight` of kernel/sched/core.c).
    static let weight: Int64 = 820

    private struct Waiting {
        let pid: Int32
        let socket: Int32
    }

    /// Supervisors end in order when the launcher does, also when it is killed; none waits.
    private let isAttached: Bool
    private var waiting: [Waiting] = []
    /// All that were started and have not ended.
    private(set) var processes: Set<Int32> = []

    /// Whether one of them runs a job.
    var hasJobs: Bool { processes.count > waiting.count }

    init(isAttached: Bool) { self.isAttached = isAttached }

    private var pause = refillMilliseconds

    /// After how many milliseconds without events `refill` is to be called; -1: never.
    var refillTimeout: Int32 { isAttached || waiting.count >= Self.waitingCount ? -1 : pause }

    /// Starts one more to wait.
    func refill() {
        pause = Self.longMilliseconds
        guard case .success(let started) = start() else { return }
        pause = Self.refillMilliseconds
        waiting.append(started)
    }

    /// Called when these processes have exited.
    func remove(_ dead: [Int32]) {
        processes.subtract(dead)
        for one in waiting where dead.contains(one.pid) {
            close(one.socket)
            pause = Self.longMilliseconds
        }
        waiting.removeAll { dead.contains($0.pid) }
    }

    /// Gives a supervisor its job.
    /// - Parameter request: A `LaunchRequest` as it came.
    func launch(_ request: [UInt8]) -> LaunchAnswer {
        while !waiting.isEmpty {
            // A supervisor that was killed while it waited does not answer, and one that is too slow is killed; then the next is asked.
            if let answer = ask(waiting.removeFirst(), request) { return answer }
        }
        switch start() {
        case .failure(let error): return .failed("start a supervisor: \(error.text)")
        case .success(let started):
            return ask(started, request)
                ?? .failed("the supervisor ended, or did not begin its job within 10 s and was killed")
        }
    }

    /// - Returns: `nil` if there was no readable answer; the supervisor then never runs a job.
    private func ask(_ supervisor: Waiting, _ request: [UInt8]) -> LaunchAnswer? {
        defer { close(supervisor.socket) }
        do throws(JobProtocolError) {
            try UnixSocket.send(request, to: supervisor.socket)
            if let answer = LaunchClient.read(supervisor.socket, within: Self.patienceMilliseconds) {
                return try LaunchAnswer(json: answer)
            }
        } catch {
            // As below: whatever it is about to do, nobody would know of it.
        }
        // It is our child and was not collected, so the number is its own.
        kill(supervisor.pid, SIGKILL)
        return nil
    }

    private func start() -> Result<Waiting, SystemError> {
        var ends: [Int32] = [-1, -1]
        guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else {
            return .failure(SystemError(number: errno))
        }
        let launcher = getpid()
        let child = clinux_fork()
        if child == 0 {
            setsid()
            // The daemon's threads have shorter slices, which jobs do not inherit if the daemon started the launcher.
            clinux_answer_as_usual()
            if !isAttached, nice(Self.niceness) < 0 { errno = 0 }
            if isAttached, clinux_end_with_parent(SIGTERM) != 0 || getppid() != launcher { _exit(71) }
            CommandVector.become(
                "/proc/self/exe",
                ["martlet-supervisor", "--wait", String(repeating: " ", count: Self.titleRoom)],
                keeping: [ends[1]])
            _exit(71)
        }
        let number = errno
        close(ends[1])
        guard child > 0 else {
            close(ends[0])
            return .failure(SystemError(number: number))
        }
        processes.insert(child)
        return .success(Waiting(pid: child, socket: ends[0]))
    }
}
