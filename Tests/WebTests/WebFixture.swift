import Basics
import Integrations
import Logging
import Model
import ServiceLifecycle
import Settings
import SignIn
import Storage
import TestSupport
import Testing

@testable import Web

/// A service with a real store and a real server on a loopback port and a Unix socket.
struct WebFixture: Sendable {
    let store: Store
    let operations: Operations
    let directory: TemporaryDirectory
    /// The state directory, with `integrations/` and `files/`.
    let state: String
    let port: Int
    let socket: String
    let table: RouteTable
    /// The objects that the server's handlers share.
    let site: Site
    let limits: WebLimits
    /// The answers that can be ended.
    let answers: LiveAnswers
    let log: RecordingLogger
    /// One token of each role.
    let tokens: [Role: BearerToken]

    /// 2026-03-01T12:00:00Z, the time for all code.
    static let now = Timestamp(secondsSinceEpoch: 1_772_366_400)

    /// Sends one request over TCP, and compares the answer with its schema.
    func send(
        _ method: String = "GET", _ target: String, as role: Role? = nil, headers: [(String, String)] = [],
        body: [UInt8] = []
    ) async throws -> RawAnswer {
        var headers = headers
        if let token = role.flatMap({ tokens[$0] }) { headers.append(("Authorization", "Bearer \(token.secret)")) }
        let answer = try await RawAnswer.send(method, target, headers: headers, body: body, port: port)
        try Contract.check(answer, to: method, target, table)
        return answer
    }

    /// Sends a request and expects this status.
    func expect(
        _ status: Int, _ method: String, _ target: String, as role: Role? = nil, headers: [(String, String)] = [],
        body: [UInt8] = [], sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let answer = try await send(method, target, as: role, headers: headers, body: body)
        #expect(answer.status == status, "\(method) \(target): \(answer.text)", sourceLocation: sourceLocation)
    }

    /// The whole log.
    var logText: String { log.lines.map(\.description).joined(separator: "\n") }

    func json(_ target: String, as role: Role? = nil) async throws -> String {
        let answer = try await send("GET", target, as: role)
        #expect(answer.status == 200, "\(target): \(answer.text)")
        return answer.text
    }
}

/// Starts the service, runs `body` and stops the service. All its work has ended when this returns.
/// - Parameters:
///   - fileCache: The cache of small files.
///   - connections: The limit of concurrent connections on one address. If a number is given, the clock by which slow clients are recognized stands
///     still.
///   - afterwards: Gets the store after the service has stopped.
func withWeb(
    anonymousMayRead: Bool = true, url: String = "http://ci.example", hosts: [String] = ["a"],
    bots: [String: String] = [:], isSandboxed: Bool = false, looksAtLogs: Duration = .seconds(1),
    makesTokens: Bool = true,
    fileCache: FileCache = FileCache(), connections: Int? = nil, proxies: [String] = [],
    signIn: SignInSettings = SignInSettings(), openID: OpenIDProvider? = nil,
    probe: @escaping ServiceHealth.Probe = { [] },
    sourceLocation: SourceLocation = #_sourceLocation,
    afterwards: (Store) async throws -> Void = { _ in }, _ body: @Sendable (WebFixture) async throws -> Void
) async throws {
    try await withTemporaryDirectory(sourceLocation: sourceLocation) { directory in
        let state = try directory.makeDirectory("state")
        for name in ["integrations", "files", "staging", "repositories", "workspaces"] {
            try directory.makeDirectory("state/\(name)")
        }
        for (name, text) in bots { try directory.write("bots/\(name).yml", text) }
        try directory.makeDirectory("bots")
        let log = RecordingLogger(sourceLocation: sourceLocation)
        let store = try Store.open(path: state + "/martlet.sqlite")
        var tokens: [Role: BearerToken] = [:]
        for role in Role.allCases where makesTokens {
            let token = BearerToken.random()
            tokens[role] = token
            try await store.createToken(name: role.rawValue, role: role, hash: token.hash, at: WebFixture.now)
        }
        let operations = try await makeOperations(
            store: store, directory: directory, state: state, log: log, readsBots: !bots.isEmpty,
            isSandboxed: isSandboxed, probe: probe)
        let (addresses, continuation) = AsyncStream.makeStream(of: [String].self)
        let start = ContinuousClock.now
        let server = WebServer(
            configuration: .init(
                listen: [.init(host: "127.0.0.1", port: 0)], socket: directory.path("martlet.socket"), state: state,
                url: url, hosts: hosts, anonymousMayRead: anonymousMayRead, version: "1.2.3", looksAtLogs: looksAtLogs,
                proxies: proxies, signIn: signIn),
            store: store, operations: operations, clock: { WebFixture.now }, logger: log.logger, fileCache: fileCache,
            connections: connections ?? WebServer.connections(), now: { connections == nil ? .now : start },
            openID: openID, onListening: { continuation.yield($0) })
        try await withThrowingTaskGroup(of: Void.self) { group in
            let services = ServiceGroup(configuration: .init(services: [server], logger: log.logger))
            group.addTask {
                defer { continuation.finish() }
                try await services.run()
            }
            var iterator = addresses.makeAsyncIterator()
            let bound = try #require(await iterator.next(), sourceLocation: sourceLocation)
            let port = try #require(bound[0].split(separator: ":").last.flatMap { Int($0) })
            let fixture = WebFixture(
                store: store, operations: operations, directory: directory, state: state, port: port, socket: bound[1],
                table: server.table, site: server.site, limits: server.limits, answers: server.answers,
                log: log, tokens: tokens)
            let result: Result<Void, any Error>
            do { result = .success(try await body(fixture)) } catch { result = .failure(error) }
            await services.triggerGracefulShutdown()
            try await group.waitForAll()
            try result.get()
        }
        try await afterwards(store)
        try store.close()
    }
}

extension String {
    /// Returns the parts before, between and after the occurrences of a separator.
    func pieces(_ separator: String) -> [Substring] {
        var (pieces, rest): ([Substring], Substring) = ([], self[...])
        while let range = rest.firstRange(of: separator) {
            pieces.append(rest[..<range.lowerBound])
            rest = rest[range.upperBound...]
        }
        return pieces + [rest]
    }
}
