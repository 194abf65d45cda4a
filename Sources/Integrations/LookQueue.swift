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

    /// By server, in the order in which they came; the empty name is this machine.
    private var waiting: [String: [String]] = [:]
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
            return known == request.sequence || underWay[server]?.contains(request.repository) != true
        }
        if waiting[server, default: []].isEmpty { order.append(server) }
        waiting[server, default: []].append(request.repository)
        return true
    }

    /// The next look that may begin; `end` is to be called for it.
    mutating func next() -> LookRequest? {
        guard let place = order.firstIndex(where: mayBegin) else { return nil }
        let server = order.remove(at: place)
        guard var repositories = waiting[server], !repositories.isEmpty else { return nil }
        let repository = repositories.removeFirst()
        waiting[server] = repositories.isEmpty ? nil : repositories
        if !repositories.isEmpty { order.append(server) }
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
