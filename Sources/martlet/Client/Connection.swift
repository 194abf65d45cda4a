import ArgumentParser
import Basics
import Foundation
import Glibc
import Settings
import Transfer

/// The daemon's address and the token: options of every command that connects to it.
struct ServerOptions: ParsableArguments {
    @Option(help: "The daemon's URL, or the path of its unix socket (MARTLET_URL).")
    var server: String?

    @Option(help: "An access token (MARTLET_TOKEN). Not needed on the unix socket.")
    var token: String?

    /// Connects to the daemon that the options or the environment name, or else to the first existing socket.
    /// - Throws: `Failure` if no daemon can be found.
    func connect() throws -> Connection {
        let environment = ProcessInfo.processInfo.environment
        for sentence in NearMiss.variables(environment.keys) {
            FileHandle.standardError.write(Data("martlet: \(Output.visible(sentence))\n".utf8))
        }
        let token = token ?? environment["MARTLET_TOKEN"]
        if let server = server ?? environment["MARTLET_URL"], !server.isEmpty {
            return server.hasPrefix("/")
                ? try Connection(socket: server, token: token) : try Connection(url: server, token: token)
        }
        let candidates = Self.usualSockets(environment)
        guard let socket = Self.firstThere(of: candidates) else {
            throw Failure(
                .unavailable,
                "no daemon found: there is no socket at \(candidates.joined(separator: " or ")); start one with "
                    + "`martlet serve`, or say where it is with --server URL")
        }
        return try Connection(socket: socket, token: token)
    }

    /// The socket of the installed systemd unit.
    static let installedSocket = "/run/martlet/martlet.socket"

    /// Returns the first of these sockets that exists; `nil` if none does.
    static func firstThere(of sockets: [String]) -> String? { sockets.first { access($0, F_OK) == 0 } }

    /// Returns the default sockets: that of the installed service, then that of the user's own daemon.
    static func usualSockets(_ environment: [String: String]) -> [String] {
        var sockets = [installedSocket]
        if let state = environment["XDG_STATE_HOME"], state.hasPrefix("/") {
            sockets.append("\(state)/martlet/martlet.socket")
        } else if let home = environment["HOME"] {
            sockets.append("\(home)/.local/state/martlet/martlet.socket")
        }
        return sockets
    }
}

/// A connection to the daemon's HTTP interface.
struct Connection: Sendable {
    private let transport: CurlTransport
    private let base: String
    private let socket: String?
    private let token: String?
    /// The time by which all requests must be answered; `nil`: each request has an hour.
    var deadline: ContinuousClock.Instant?

    /// Creates a connection to a URL.
    /// - Throws: `Failure` for a URL with a user or a password, because URLs are printed and stored with remembered keys.
    init(url: String, token: String?) throws {
        guard !Self.authority(of: url).contains("@") else {
            throw Failure(
                .usage,
                "the daemon's address holds a user or a password, which it would be shown with; leave them out, and say --token "
                    + "TOKEN, or MARTLET_TOKEN in the environment")
        }
        transport = try CurlTransport()
        base = Self.normalized(url)
        socket = nil
        self.token = token
    }

    init(socket: String, token: String?) throws {
        transport = try CurlTransport()
        base = "http://martlet"
        self.socket = socket
        self.token = token
    }

    /// The daemon's address for messages.
    var place: String { socket ?? base }

    /// Whether it connects to a socket on this machine.
    var isLocal: Bool { socket != nil }

    /// Returns the normal form of a URL: scheme and host in lower case, no default port, no slash at the end.
    static func normalized(_ url: String) -> String {
        var url = url[...]
        while url.hasSuffix("/") { url.removeLast() }
        guard let separator = url.firstRange(of: "://") else { return String(url) }
        let scheme = url[..<separator.lowerBound].lowercased()
        let rest = url[separator.upperBound...]
        let slash = rest.firstIndex(of: "/") ?? rest.endIndex
        var authority = rest[..<slash].lowercased()
        for (name, port) in [("https", ":443"), ("http", ":80")] where scheme == name && authority.hasSuffix(port) {
            authority.removeLast(port.count)
        }
        return "\(scheme)://\(authority)\(rest[slash...])"
    }

    /// Returns the part between the scheme and the path.
    private static func authority(of url: String) -> Substring {
        let rest = url.firstRange(of: "://").map { url[$0.upperBound...] } ?? url[...]
        return rest.prefix { !"/?#".contains($0) }
    }

    func get(_ path: String, headers: TransferHeaders = [:]) async throws -> [UInt8] {
        try await send(.get, path, headers: headers).body
    }

    func get<Value: Decodable>(_ path: String, as type: Value.Type) async throws -> Value {
        try Self.decode(try await get(path), as: type)
    }

    func post<Value: Decodable>(
        _ path: String, _ body: some Encodable = NoBody(), as type: Value.Type
    ) async throws -> Value {
        try Self.decode(try await post(path, body), as: type)
    }

    @discardableResult
    func post(_ path: String, _ body: some Encodable = NoBody()) async throws -> [UInt8] {
        let json = try JSONEncoder().encode(body)
        return try await send(
            .post, path, headers: ["Content-Type": "application/json"], body: .bytes(Array(json))
        ).body
    }

    func delete(_ path: String) async throws { _ = try await send(.delete, path) }

    /// Reads a range of a log that may still grow.
    /// - Returns: `nil` if there are no bytes at that offset yet.
    func range(_ path: String, from offset: Int64, to last: Int64) async throws -> [UInt8]? {
        let response = try await perform(.get, path, headers: ["Range": "bytes=\(offset)-\(last)"])
        if response.status == 416 { return nil }
        try check(response, path)
        // A server that ignores the range also sends the bytes before the offset.
        return response.status == 206 ? response.body : Array(response.body.dropFirst(Int(offset)))
    }

    /// Streams an answer that does not end by itself.
    /// - Returns: `nil` for 404.
    func stream(_ path: String) async throws -> AsyncThrowingStream<[UInt8], any Error>? {
        var request = request(.get, path)
        request.limits.total = nil
        let answer: TransferStream
        do throws(TransferError) {
            answer = try await transport.stream(request)
        } catch {
            throw explained(error)
        }
        if answer.status == 404 { return nil }
        try check(TransferResponse(status: answer.status, headers: answer.headers), path)
        return answer.body
    }

    /// Downloads to a new file. If the download fails, the file does not exist.
    /// - Parameter limit: The largest size in bytes. A longer answer is aborted.
    func download(_ path: String, to file: String, limit: Int64) async throws {
        var request = request(.get, path)
        request.destination = .file(path: file)
        request.limits.response = limit
        let response: TransferResponse
        do throws(TransferError) {
            response = try await followed(request)
        } catch  where error.code == .tooLarge {
            throw Failure(
                .no, "\(place) sends more than the \(limit) bytes that \(path) has or may have; nothing of it is kept")
        } catch {
            throw explained(error)
        }
        try check(response, path)
    }

    private func send(
        _ method: TransferRequest.Method, _ path: String, headers: TransferHeaders = [:],
        body: TransferRequest.Body = .none
    ) async throws -> TransferResponse {
        let response = try await perform(method, path, headers: headers, body: body)
        try check(response, path)
        return response
    }

    private func request(
        _ method: TransferRequest.Method, _ path: String, headers: TransferHeaders = [:],
        body: TransferRequest.Body = .none
    ) -> TransferRequest {
        var headers = headers
        // On the socket no token identifies the user.
        if socket != nil { headers["Martlet-Person"] = Self.person }
        var request = TransferRequest(
            method, base + path, headers: headers, body: body, credentials: token.map { .bearer(token: $0) })
        request.unixSocket = socket
        request.isPlainHTTPAllowed = true
        if let deadline { request.limits.total = max(.zero, ContinuousClock.now.duration(to: deadline)) }
        return request
    }

    /// The user's name; `nil` if a header cannot contain it.
    private static let person: String? = {
        let name = NSUserName()
        return !name.isEmpty && name.utf8.allSatisfy { (0x21...0x7E).contains($0) } ? name : nil
    }()

    private func perform(
        _ method: TransferRequest.Method, _ path: String, headers: TransferHeaders = [:],
        body: TransferRequest.Body = .none
    ) async throws -> TransferResponse {
        do throws(TransferError) {
            return try await followed(request(method, path, headers: headers, body: body))
        } catch {
            throw explained(error)
        }
    }

    /// Performs a request and follows one redirect within the same server: `/files/PRODUCT/latest/…` redirects to the exact version.
    private func followed(_ request: TransferRequest) async throws(TransferError) -> TransferResponse {
        let response = try await transport.perform(request)
        guard [302, 303, 307].contains(response.status), let location = response.headers["Location"],
            location.hasPrefix("/") || location.hasPrefix(base + "/")
        else { return response }
        var next = request
        next.url = location.hasPrefix("/") ? origin + location : location
        return try await transport.perform(next)
    }

    /// The scheme and the authority of `base`, which may have a path.
    private var origin: String {
        guard let scheme = base.firstRange(of: "://") else { return base }
        return String(base[..<scheme.upperBound] + base[scheme.upperBound...].prefix { $0 != "/" })
    }

    /// How long before the deadline a timeout may occur that is still due to the deadline. libcurl gets whole milliseconds. The time difference that
    /// it compares with them can be 1 ms too large (`Curl_timediff`, lib/timeval.c), and it uses a slightly different clock.
    private static let slack = Duration.milliseconds(100)

    private func explained(_ error: TransferError) -> Failure {
        switch error.code {
        case .unreachable: Failure(.unavailable, "no daemon answers at \(place): \(error.message)")
        // The daemon has ended, or is ending.
        case .interrupted: Failure(.unavailable, error.description)
        case .timedOut where deadline.map { ContinuousClock.now.duration(to: $0) <= Self.slack } ?? false:
            Failure(
                .unavailable,
                "\(error.description); the time for all of it is over: say --time-limit SECONDS to give it more")
        case .timedOut: Failure(.unavailable, error.description)
        default: Failure(.software, error.description)
        }
    }

    /// A problem as a proxy in between may write it: every member is optional (RFC 9457, section 3.1).
    private struct Problem: Decodable {
        var title: String?
        var detail: String?
    }

    private func check(_ response: TransferResponse, _ path: String) throws {
        guard !response.isSuccess else { return }
        let problem = try? JSONDecoder().decode(Problem.self, from: Data(response.body))
        let sentence = problem?.detail ?? problem?.title ?? "the daemon answered \(response.status) to \(path)"
        switch response.status {
        case 401, 403: throw Failure(.denied, sentence)
        case 404, 410: throw Failure(.notFound, sentence)
        case 400..<500: throw Failure(.no, sentence)
        default: throw Failure(.software, sentence)
        }
    }

    static func decode<Value: Decodable>(_ bytes: [UInt8], as type: Value.Type) throws -> Value {
        do {
            return try JSONDecoder().decode(type, from: Data(bytes))
        } catch {
            let why = (error as? DecodingError)?.sentence ?? "it is not JSON"
            throw Failure(
                .software, "the daemon's answer cannot be read: \(why); use a martlet of the daemon's version")
        }
    }
}

/// The body `{}` of a request without wishes.
struct NoBody: Encodable {}
