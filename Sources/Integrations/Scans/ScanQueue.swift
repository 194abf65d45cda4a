import Storage

/// A queue of waiting scans, which limits how many run at a time. A thousand repositories are neither scanned all at once nor one after the other. A
/// slow or silent server delays only its own repositories.
struct ScanQueue {
    /// The most scans at a time of paths on this machine. They keep a processor busy.
    static let maximumLocal = 4
    /// The most scans at a time of servers. They mostly wait.
    static let maximumRemote = 64
    /// The most scans at a time of one server. Its other repositories are as slow as the one that is being scanned.
    static let maximumOfServer = 4

    /// The waiting repositories of one server: first those with an event, then the others, each in the order in which they came.
    private struct Line {
        var withEvent: [String] = []
        var others: [String] = []
        var isEmpty: Bool { withEvent.isEmpty && others.isEmpty }

        mutating func removeFirst() -> String { withEvent.isEmpty ? others.removeFirst() : withEvent.removeFirst() }

        mutating func put(_ request: ScanRequest) {
            if !request.hasEvent { return others.append(request.repository) }
            withEvent.append(request.repository)
        }

        /// Moves a waiting repository ahead of those without an event.
        mutating func bringForward(_ repository: String) {
            guard let place = others.firstIndex(of: repository) else { return }
            withEvent.append(others.remove(at: place))
        }
    }

    /// The waiting repositories by server. The empty name is this machine.
    private var waiting: [String: Line] = [:]
    /// The servers with waiting repositories. The first is the one that was served longest ago.
    private var order: [String] = []
    private var underWay: [String: Set<String>] = [:]
    private var remoteCount = 0
    /// The newest request of each repository that waits or is being scanned.
    private var sequences: [String: Int64] = [:]

    /// Adds a request.
    /// - Returns: False if the repository is being scanned for an earlier request. The caller then has to add the request again when that scan ends.
    mutating func add(_ request: ScanRequest) -> Bool {
        let known = sequences.updateValue(request.sequence, forKey: request.repository)
        let server = Self.server(of: request.repository)
        guard known == nil else {
            if underWay[server]?.contains(request.repository) == true { return known == request.sequence }
            if request.hasEvent { waiting[server]?.bringForward(request.repository) }
            return true
        }
        if waiting[server] == nil { order.append(server) }
        waiting[server, default: Line()].put(request)
        return true
    }

    /// Returns the next scan that may start; `nil` if there is none. The caller must call `end` for it.
    mutating func next() -> ScanRequest? {
        guard let place = order.firstIndex(where: mayBegin) else { return nil }
        let server = order.remove(at: place)
        guard var line = waiting[server], !line.isEmpty else { return nil }
        let repository = line.removeFirst()
        waiting[server] = line.isEmpty ? nil : line
        if !line.isEmpty { order.append(server) }
        underWay[server, default: []].insert(repository)
        if !server.isEmpty { remoteCount += 1 }
        return ScanRequest(repository: repository, sequence: sequences[repository] ?? 0)
    }

    mutating func end(_ request: ScanRequest) {
        let server = Self.server(of: request.repository)
        sequences[request.repository] = nil
        guard underWay[server]?.remove(request.repository) != nil else { return }
        if underWay[server]?.isEmpty == true { underWay[server] = nil }
        if !server.isEmpty { remoteCount -= 1 }
    }

    private func mayBegin(_ server: String) -> Bool {
        let count = underWay[server]?.count ?? 0
        return server.isEmpty
            ? count < Self.maximumLocal : count < Self.maximumOfServer && remoteCount < Self.maximumRemote
    }

    /// Returns the host and port of a URL, without the user. Accepts the form of ssh, `git@host:path`, too. Empty for a path on this machine.
    static func server(of repository: String) -> String {
        if repository.hasPrefix("/") || repository.hasPrefix("file:") { return "" }
        var rest = repository[...]
        if let scheme = rest.firstRange(of: "://") {
            rest = rest[scheme.upperBound...].prefix { $0 != "/" }
        } else {
            rest = rest.prefix { $0 != ":" && $0 != "/" }
        }
        if let at = rest.lastIndex(of: "@") { rest = rest[rest.index(after: at)...] }
        return rest.lowercased()
    }
}
