import Basics
import JobProtocol

/// Watches the heartbeats of attempts on other machines. It compares what is in the files by this machine's monotonic clock, so a wrong clock on a
/// node has no effect.
actor Heartbeats {
    private let patience: Duration
    private var seen: [String: (beat: [UInt8]?, since: ContinuousClock.Instant)] = [:]

    /// - Parameter patience: How long a heartbeat may stay the same before its process counts as gone.
    init(patience: Duration) { self.patience = patience }

    /// Whether an attempt's heartbeat has changed recently. Also true until it has been watched for long enough.
    func isFresh(_ attempt: AttemptDirectory) async -> Bool {
        let file = attempt.paths.heartbeat
        let beat = await SerialQueue(label: "heartbeat").run { try? WholeFile.read(file, limit: 64) }
        let now = ContinuousClock.now
        guard let known = seen[attempt.path], known.beat == beat else {
            seen[attempt.path] = (beat, now)
            return true
        }
        return now - known.since < patience
    }

    /// Forgets an attempt that has ended.
    func forget(_ attempt: AttemptDirectory) { seen[attempt.path] = nil }
}
