import JobProtocol

/// Whether anybody still has use for a detached launcher: a job runs, or a process lives that asked it for something, as its daemon did.
struct LauncherUse {
    /// In milliseconds.
    let limit: Int64
    /// When each of them began, by its number: another process can have the number later.
    private var clients: [Int32: UInt64] = [:]
    private var unusedSince: Int64?

    init(limit: Int64) { self.limit = limit }

    /// - Parameter client: A process that asks; one of another process namespace has no number here.
    mutating func note(client: Int32) {
        guard client > 0, clients[client] == nil, let entry = ProcessTable.entry(of: client) else { return }
        clients[client] = entry.startTime
    }

    /// - Parameter isReachable: Whether its socket is where a client looks for it.
    /// - Returns: Whether it has been of no use for `limit`; at once where nobody can reach it.
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
