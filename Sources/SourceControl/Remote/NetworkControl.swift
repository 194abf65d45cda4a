// The compiler attributes the declarations of <sys/socket.h> to the first of these modules that it reads.
import CLibCurl
import CLibGit2
import Glibc
import Synchronization

/// The state of one running network operation: its sockets and processes, and whether it is to stop.
///
/// It is shared by the watch and the queue's thread, on which libgit2 and libcurl work. A stop shuts the sockets down. This ends every read, write
/// and poll on them, including those inside libssh2, so that the queue is free at once.
final class NetworkControl: Sendable {
    enum Stop: Sendable, Equatable {
        case canceled
        /// The server sent no data for this time.
        case silent(Duration)
        /// The operation as a whole took more than this time.
        case late(Duration)
        case tooManyBytes(Int64)
        /// The list of refs has too many bytes or lines.
        case longList
    }

    private struct State {
        var began: ContinuousClock.Instant?
        var sockets: Set<Int32> = []
        var processes: Set<pid_t> = []
        var heard: ContinuousClock.Instant?
        /// The processor time that processes had used when they had been silent for a while; `nil` if not measured.
        var effort: UInt64?
        var stop: Stop?
        var isPackComing = false
        /// The number of bytes since the last request that are not part of a pack, and of their lines.
        var said = 0
        var lines = 0
        var isListWhole = false
        /// Whether the silence of sockets counts only while a caller waits for them, and since when one waits.
        var isPulled = false
        var waiting: ContinuousClock.Instant?
        var credentialTries = 0
        var failure: SourceControlError.Code?
        var retryAfter: Duration?
        /// The end of the part that has stricter limits than the whole operation; `nil` without one.
        var deadline: (end: ContinuousClock.Instant, limit: Duration)?
        var bytes: Int64?
    }

    let limits: NetworkLimits
    private let state = Mutex(State())

    init(limits: NetworkLimits) { self.limits = limits }

    /// When the queue started the operation; `nil` while it is still queued.
    var began: ContinuousClock.Instant? { state.withLock { $0.began } }
    var stopped: Stop? { state.withLock { $0.stop } }
    /// The failure that a callback found and that libgit2 reports with another message or not at all.
    var failure: SourceControlError.Code? { state.withLock { $0.failure } }

    /// The pause that the server asked for; `nil` if it asked for none.
    var retryAfter: Duration? { state.withLock { $0.retryAfter } }

    /// The most bytes that may be received now.
    var bytes: Int64 { state.withLock { $0.bytes } ?? limits.bytes }

    /// Sets stricter limits for the rest of the operation.
    func restrict(to time: Duration, bytes: Int64) {
        state.withLock { ($0.deadline, $0.bytes) = ((.now + time, time), bytes) }
    }

    /// The time limit of `restrict` if it is exceeded; `nil` otherwise.
    var overdue: Duration? { state.withLock { $0.deadline.flatMap { ContinuousClock.now > $0.end ? $0.limit : nil } } }

    func begin() { state.withLock { $0.began = .now } }
    func record(_ failure: SourceControlError.Code, retryAfter: Duration? = nil) {
        state.withLock { ($0.failure, $0.retryAfter) = (failure, retryAfter) }
    }
    /// Starts another conversation of the operation, and resets the state of the previous one.
    func beginConversation() {
        state.withLock {
            ($0.failure, $0.isPackComing, $0.said, $0.credentialTries) = (nil, false, 0, 0)
            ($0.lines, $0.isListWhole) = (0, false)
        }
    }

    /// Counts a request for credentials. - Returns: Its number, from 1.
    func countCredentialTry() -> Int {
        state.withLock {
            $0.credentialTries += 1
            return $0.credentialTries
        }
    }

    /// Adds a socket to the watch. - Returns: False if the operation is to stop.
    /// - Parameter isPulled: Whether its silence only counts within `waiting`.
    func add(_ socket: Int32, isPulled: Bool = false) -> Bool {
        state.withLock {
            $0.sockets.insert(socket)
            $0.isPulled = isPulled
            return $0.stop == nil
        }
    }

    /// Runs code that waits for the server. While libgit2 processes a pack and no one reads from the socket, the server does not count as silent.
    func waiting<Value, Failure: Error>(_ body: () throws(Failure) -> Value) throws(Failure) -> Value {
        state.withLock { $0.waiting = .now }
        defer { state.withLock { $0.waiting = nil } }
        return try body()
    }

    /// Closes a socket. It uses the same lock as `stop`, which therefore never shuts down another file with the same number.
    func close(_ socket: Int32) {
        state.withLock {
            $0.sockets.remove(socket)
            Glibc.close(socket)
        }
    }

    /// Ends the operation. The first reason counts.
    func stop(_ reason: Stop) {
        state.withLock {
            if $0.stop == nil { $0.stop = reason }
            for socket in $0.sockets { shutdown(socket, Int32(SHUT_RDWR)) }
            // This kills the session that the process leads. git's helper for fetching is a child of it.
            for process in $0.processes { kill(-process, SIGKILL) }
        }
    }

    /// Returns how long all sockets and processes have been silent; `nil` if there are none.
    ///
    /// git is silent while it checks whether all received objects are connected, which takes minutes for millions of objects. So a silent process
    /// that uses processor time does not count as silent.
    func silence(of measure: (Int32) -> Int?) -> Duration? {
        state.withLock {
            let process = $0.processes.isEmpty ? nil : $0.heard.map { ContinuousClock.now - $0 }
            var sockets = $0.sockets.compactMap(measure).map { Duration.milliseconds($0) }
            if $0.isPulled {
                let waited = $0.waiting.map { ContinuousClock.now - $0 }
                sockets = sockets.compactMap { silent in waited.map { min($0, silent) } }
            }
            return (sockets + [process].compactMap(\.self)).min()
        }
    }

    /// The processes that have been silent for a while, so that their processor time is to be measured; `nil` if there are none.
    var silentProcesses: Set<pid_t>? {
        state.withLock {
            guard let heard = $0.heard, ContinuousClock.now - heard > limits.silence / 2 else { return nil }
            return $0.processes.isEmpty ? nil : $0.processes
        }
    }

    /// Records the processor time of the silent processes.
    /// - Parameter effort: The time of `silentProcesses`. An increase counts as a sign of life. The first value does not: if the machine delayed the
    ///   watch until the silence was too long, it must measure again after the usual time.
    func record(effort: UInt64) {
        state.withLock {
            if let before = $0.effort {
                if effort > before { $0.heard = .now }
            } else {
                $0.heard = $0.heard.map { max($0, .now - limits.silence / 2) }
            }
            $0.effort = effort
        }
    }

    // MARK: What is no pack

    /// Counts bytes of the list of refs, and then of the server's other messages. libgit2 keeps them in memory, in several times their size. A pack
    /// has its own limit.
    func received(_ bytes: UnsafeRawBufferPointer) {
        let reason: Stop? = state.withLock {
            guard !$0.isPackComing else { return nil }
            $0.said += bytes.count
            // Within ssh the bytes are encrypted: of 64 MiB about 260,000 look like line ends, which is below the limit.
            if !$0.isListWhole { $0.lines += bytes.count { $0 == UInt8(ascii: "\n") } }
            guard $0.said > limits.listBytes || $0.lines > limits.listLines else { return nil }
            return $0.isListWhole ? .tooManyBytes(limits.listBytes) : .longList
        }
        if let reason { stop(reason) }
    }

    /// Ends the list of refs. The following messages are about the pack.
    func endList() { state.withLock { ($0.said, $0.isListWhole) = (0, true) } }

    /// Starts the pack, whose bytes are not counted here.
    func beginPack() { state.withLock { $0.isPackComing = true } }

    // MARK: Processes

    /// Adds a process to the watch, which must be the leader of its own session. - Returns: False if the operation is to stop.
    /// - Parameter isQuiet: Whether its silence is ignored.
    func add(process: pid_t, isQuiet: Bool = false) -> Bool {
        state.withLock {
            $0.processes.insert(process)
            $0.heard = isQuiet ? nil : .now
            $0.effort = nil
            return $0.stop == nil
        }
    }

    func remove(process: pid_t) { _ = state.withLock { $0.processes.remove(process) } }

    /// Records that a process has written output.
    func heard() {
        state.withLock {
            $0.heard = .now
            $0.effort = nil
        }
    }

    // MARK: The operation of a thread

    /// The key for the operation of a thread. libgit2 opens sockets without naming the operation, but on the operation's thread.
    private static let key: pthread_key_t = {
        var key = pthread_key_t()
        pthread_key_create(&key, nil)
        return key
    }()

    /// The operation that runs on this thread; `nil` if there is none.
    static var current: NetworkControl? {
        pthread_getspecific(key).map { Unmanaged<NetworkControl>.fromOpaque($0).takeUnretainedValue() }
    }

    /// Runs `body` as this operation. Sockets that are opened on this thread meanwhile belong to it.
    func run<Value>(_ body: () throws(SourceControlError) -> Value) throws(SourceControlError) -> Value {
        begin()
        pthread_setspecific(Self.key, Unmanaged.passUnretained(self).toOpaque())
        defer { pthread_setspecific(Self.key, nil) }
        return try body()
    }
}
