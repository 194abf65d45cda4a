import JobProtocol

/// Whether a detached launcher is still used: a job runs, or a process that has sent it a request is alive, as its daemon is.
struct LauncherUse {
    /// The idle limit in milliseconds.
    let limit: Int64
    /// The start time of each client, by process number: another process can get the number later.
    private var clients: [Int32: UInt64] = [:]
    private var unusedSince: Int64?

    init(limit: Int64) { self.limit = limit }

    /// - Parameter client: The process of a request; a process in another namespace has no number here.
    mutating func note(client: Int32) {
        guard client > 0, clients[client] == nil, let entry = ProcessTable.entry(of: client) else { return }
        clients[client] = entry.startTime
    }

    /// - Parameter isReachable: Whether its socket is where clients look for it.
    /// - Returns: Whether it has been unused for `limit`; at once if nobody can reach it.
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
