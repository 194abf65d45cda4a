// The compiler gives the declarations of <sys/socket.h> to whichever of these modules it meets first.
import CLibCurl
import CLibGit2
import Glibc
import Synchronization

/// One network operation while it runs: its sockets and processes, and whether it was told to stop.
///
/// Shared by the lane's thread, on which libgit2 and libcurl work, and the watch. A stop shuts the sockets down, which ends every
/// read, write and poll on them, also those inside libssh2; the lane gets free at once.
final class NetworkControl: Sendable {
    enum Stop: Sendable, Equatable {
        case canceled
        /// The server sent nothing for that long.
        case silent(Duration)
        /// The operation as a whole took so long.
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
        /// What processes had worked when they had been silent for a while.
        var effort: UInt64?
        var stop: Stop?
        var isPackComing = false
        /// Bytes that are not part of a pack, since the last request, and their lines.
        var said = 0
        var lines = 0
        var isListWhole = false
        /// Whether sockets are read only while somebody waits for them, and since when somebody does.
        var isPulled = false
        var waiting: ContinuousClock.Instant?
        var credentialTries = 0
        var failure: SourceControlError.Code?
        var retryAfter: Duration?
        /// Of the part that is limited more than the rest of the operation.
        var deadline: (end: ContinuousClock.Instant, limit: Duration)?
        var bytes: Int64?
    }

    let limits: NetworkLimits
    private let state = Mutex(State())

    init(limits: NetworkLimits) { self.limits = limits }

    /// When the lane started the operation; `nil` while it still waits for its turn.
    var began: ContinuousClock.Instant? { state.withLock { $0.began } }
    var stopped: Stop? { state.withLock { $0.stop } }
    /// What a callback of ours found, which libgit2 reports in other words or not at all.
    var failure: SourceControlError.Code? { state.withLock { $0.failure } }

    /// The pause that the server asked for, if any.
    var retryAfter: Duration? { state.withLock { $0.retryAfter } }

    /// The bytes that may be received now.
    var bytes: Int64 { state.withLock { $0.bytes } ?? limits.bytes }

    /// Limits what follows of the operation more than the whole.
    func restrict(to time: Duration, bytes: Int64) {
        state.withLock { ($0.deadline, $0.bytes) = ((.now + time, time), bytes) }
    }

    /// The limit of `restrict` that is over; `nil` as long as there is time.
    var overdue: Duration? { state.withLock { $0.deadline.flatMap { ContinuousClock.now > $0.end ? $0.limit : nil } } }

    func begin() { state.withLock { $0.began = .now } }
    func note(_ failure: SourceControlError.Code, retryAfter: Duration? = nil) {
        state.withLock { ($0.failure, $0.retryAfter) = (failure, retryAfter) }
    }
    /// Starts another conversation of the operation: nothing has been found, asked or received in it yet.
    func beginConversation() {
        state.withLock {
            ($0.failure, $0.isPackComing, $0.said, $0.credentialTries) = (nil, false, 0, 0)
            ($0.lines, $0.isListWhole) = (0, false)
        }
    }

    /// Counts a question for credentials. - Returns: Which it is, from 1.
    func countCredentialTry() -> Int {
        state.withLock {
            $0.credentialTries += 1
            return $0.credentialTries
        }
    }

    /// Puts a socket under the watch. - Returns: False when the operation is to stop.
    /// - Parameter isPulled: Whether its silence means something only within `waiting`.
    func add(_ socket: Int32, isPulled: Bool = false) -> Bool {
        state.withLock {
            $0.sockets.insert(socket)
            $0.isPulled = isPulled
            return $0.stop == nil
        }
    }

    /// Runs what waits for the server. A server that nobody listens to, while libgit2 puts a pack together, is not silent.
    func waiting<Value, Failure: Error>(_ body: () throws(Failure) -> Value) throws(Failure) -> Value {
        state.withLock { $0.waiting = .now }
        defer { state.withLock { $0.waiting = nil } }
        return try body()
    }

    /// Closes a socket; under the same lock as `stop`, which so never hits a number that means another file by now.
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
            // Its session, whose leader it is: what fetches for git is a child of it.
            for process in $0.processes { kill(-process, SIGKILL) }
        }
    }

    /// How long all sockets and processes have been silent; `nil` if there are none.
    ///
    /// git is silent while it checks whether all received objects are connected, which takes minutes for millions of objects. A silent process that
    /// works therefore counts as heard.
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

    /// Processes that have been silent for a while: whether they work is to be measured.
    var silentProcesses: Set<pid_t>? {
        state.withLock {
            guard let heard = $0.heard, ContinuousClock.now - heard > limits.silence / 2 else { return nil }
            return $0.processes.isEmpty ? nil : $0.processes
        }
    }

    /// - Parameter effort: The work of `silentProcesses`. An increase counts as heard. The first value proves nothing: if the machine delayed the
    ///   watch until the silence was too long, it must measure again after the usual time.
    func note(effort: UInt64) {
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

    /// Counts bytes of the list of refs, and then of the server's other messages. libgit2 keeps them in memory, several times their size. A pack
    /// has a limit of its own.
    func received(_ bytes: UnsafeRawBufferPointer) {
        let reason: Stop? = state.withLock {
            guard !$0.isPackComing else { return nil }
            $0.said += bytes.count
            // Within ssh the bytes are encrypted: of 64 MiB some 260,000 look like line ends, which is below the limit.
            if !$0.isListWhole { $0.lines += bytes.count { $0 == UInt8(ascii: "\n") } }
            guard $0.said > limits.listBytes || $0.lines > limits.listLines else { return nil }
            return $0.isListWhole ? .tooManyBytes(limits.listBytes) : .longList
        }
        if let reason { stop(reason) }
    }

    /// The list is whole; what comes now is about the pack.
    func endList() { state.withLock { ($0.said, $0.isListWhole) = (0, true) } }

    /// What comes now is the pack.
    func beginPack() { state.withLock { $0.isPackComing = true } }

    // MARK: Processes

    /// Watches a process, the leader of its own session. - Returns: False if the operation is to stop.
    /// - Parameter isQuiet: Whether its silence is to be ignored.
    func add(process: pid_t, isQuiet: Bool = false) -> Bool {
        state.withLock {
            $0.processes.insert(process)
            $0.heard = isQuiet ? nil : .now
            $0.effort = nil
            return $0.stop == nil
        }
    }

    func remove(process: pid_t) { _ = state.withLock { $0.processes.remove(process) } }

    /// Something came from a process.
    func heard() {
        state.withLock {
            $0.heard = .now
            $0.effort = nil
        }
    }

    // MARK: The operation of a thread

    /// libgit2 opens sockets without naming the operation, but on the operation's thread.
    private static let key: pthread_key_t = {
        var key = pthread_key_t()
        pthread_key_create(&key, nil)
        return key
    }()

    /// The operation that runs on this thread.
    static var current: NetworkControl? {
        pthread_getspecific(key).map { Unmanaged<NetworkControl>.fromOpaque($0).takeUnretainedValue() }
    }

    /// Runs `body` as this operation: sockets opened on this thread meanwhile belong to it.
    func run<Value>(_ body: () throws(SourceControlError) -> Value) throws(SourceControlError) -> Value {
        begin()
        pthread_setspecific(Self.key, Unmanaged.passUnretained(self).toOpaque())
        defer { pthread_setspecific(Self.key, nil) }
        return try body()
    }
}
