import Logging
import Model
import Synchronization

/// Logs refused tokens and signatures. Anybody can send many, so each kind has at most one line in ten seconds, which counts the others.
final class RefusalLog: Sendable {
    enum Kind: String, Sendable, Hashable, CaseIterable {
        case token = "a token was refused"
        case signature = "a delivery was refused for its signature"
    }

    /// The time from one line to the next of its kind.
    static let interval: Duration = .seconds(10)

    private let logger: Logger
    private let clock: @Sendable () -> Timestamp
    private let lines = Mutex<[Kind: (last: Timestamp, unlogged: Int)]>([:])

    init(logger: Logger, clock: @escaping @Sendable () -> Timestamp) {
        self.logger = logger
        self.clock = clock
    }

    /// Counts a refusal, and logs it unless its kind has just had a line.
    /// - Parameters:
    ///   - path: The path of the request, for one line of the log.
    ///   - origin: The client's address; `nil` for a peer of the Unix socket.
    func note(_ kind: Kind, path: String, from origin: IPAddress?) {
        let now = clock()
        let others: Int? = lines.withLock { lines in
            if let line = lines[kind], now - line.last < Self.interval, now >= line.last {
                lines[kind] = (line.last, line.unlogged + 1)
                return nil
            }
            defer { lines[kind] = (now, 0) }
            return lines[kind]?.unlogged ?? 0
        }
        guard let others else { return }
        var metadata: Logger.Metadata = ["path": "\(path)"]
        if let origin { metadata["from"] = "\(origin)" }
        if others > 0 { metadata["others since the last line"] = "\(others)" }
        logger.notice("\(kind.rawValue)", metadata: metadata)
    }
}
