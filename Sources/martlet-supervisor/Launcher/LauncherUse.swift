import JobProtocol

/// Determines whether a detached launcher is still used: a job runs, or a client process such as the daemon is alive.
struct LauncherUse {
    /// The idle limit in milliseconds.
    let limit: Int64
    /// The start time of each client, by process number: another process can get the number later.
    private var clients: [Int32: UInt64] = [:]
    private var unusedSince: Int64?

    init(limit: Int64) { self.limit = limit }

    /// Records a client.
    /// - Parameter client: The process that sent a request; 0 for a process in another namespace, which is ignored.
    mutating func record(client: Int32) {
        guard client > 0, clients[client] == nil, let entry = ProcessTable.entry(of: client) else { return }
        clients[client] = entry.startTime
    }

    /// Determines whether the launcher can end.
    /// - Parameters:
    ///   - now: The monotonic time in milliseconds.
    ///   - isReachable: Whether its socket is still at its path.
    /// - Returns: Whether it has been unused for `limit`; immediately true if it has no job and cannot be reached.
    mutating func isOver(now: Int64, hasJobs: Bool, isReachable: Bool) -> Bool {
        clients = clients.filter { client in
            ProcessTable.entry(of: client.key).map { $0.isAlive && $0.startTime == client.value } ?? false
        }
        guard !hasJobs else {
            unusedSince = nil
            return false
        }
        guard isReachable else { return true }
        guard clients.isEmpty else {
            unusedSince = nil
            return false
        }
        let since = unusedSince ?? now
        unusedSince = since
        return now - since >= limit
    }
}
