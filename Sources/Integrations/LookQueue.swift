import Storage

/// The looks that wait, and how many may be under way: so that a thousand repositories are neither asked at once nor one after the
/// other, and a server that is slow or silent keeps nobody waiting but its own.
struct LookQueue {
    /// Looks at paths of this machine: they keep a processor busy.
    static let maximumLocal = 4
    /// Looks at servers: they wait.
    static let maximumRemote = 64
    /// Of one server, whose other repositories are as slow as the one that is asked.
    static let maximumOfServer = 4

    /// Of one server: those for which an event waits, then the others, each in the order in which they came.
    private struct Line {
        var withEvent: [String] = []
        var others: [String] = []
        var isEmpty: Bool { withEvent.isEmpty && others.isEmpty }

        mutating func removeFirst() -> String { withEvent.isEmpty ? others.removeFirst() : withEvent.removeFirst() }

        mutating func put(_ request: LookRequest) {
            if !request.hasEvent { return others.append(request.repository) }
            withEvent.append(request.repository)
        }

        /// Lets one that waits already go before those that time alone asks for.
        mutating func bringForward(_ repository: String) {
            guard let place = others.firstIndex(of: repository) else { return }
            withEvent.append(others.remove(at: place))
        }
    }

    /// By server; the empty name is this machine.
    private var waiting: [String: Line] = [:]
    /// The servers with something that waits, the one first that was served longest ago.
    private var order: [String] = []
    private var underWay: [String: Set<String>] = [:]
    private var remoteCount = 0
    /// Of each that waits or is looked at: its newest request.
    private var sequences: [String: Int64] = [:]

    /// - Returns: False where the repository is being looked at for an earlier request: this one has to wait for its end.
    mutating func add(_ request: LookRequest) -> Bool {
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

    /// The next look that may begin; `end` is to be called for it.
    mutating func next() -> LookRequest? {
        guard let place = order.firstIndex(where: mayBegin) else { return nil }
        let server = order.remove(at: place)
        guard var line = waiting[server], !line.isEmpty else { return nil }
        let repository = line.removeFirst()
        waiting[server] = line.isEmpty ? nil : line
        if !line.isEmpty { order.append(server) }
        underWay[server, default: []].insert(repository)
        if !server.isEmpty { remoteCount += 1 }
        return LookRequest(repository: repository, sequence: sequences[repository] ?? 0)
    }

    mutating func end(_ request: LookRequest) {
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

    /// The host and port that a URL names, without the user; as ssh writes it, `git@host:path`, too.
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
