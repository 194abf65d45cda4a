import API
import Basics
import Foundation
import Glibc
import Transfer

/// A connection to the daemon's HTTP interface.
struct Connection: Sendable {
    private let transport: CurlTransport
    private let base: String
    private let socket: String?
    private let token: String?
    /// The time by which all requests must be answered; `nil`: each request has an hour.
    var deadline: ContinuousClock.Instant?
    /// What the user can do if this server refuses the request, because a token was not sent to it; `nil` if none was kept back.
    var withheldToken: String?

    /// Creates a connection to a URL.
    /// - Throws: `Failure` for a URL with a user or a password, because URLs are printed and stored with remembered keys.
    init(url: String, token: String?) throws {
        guard !Self.authority(of: url).contains("@") else {
            throw Failure(
                .usage,
                "the daemon's address has a user or a password in it, which messages would show; leave them out, and write --token "
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

    /// Returns the service's address for browsers: the address that is connected to, or what the daemon behind a socket says.
    /// - Returns: `nil` if that daemon does not say it.
    func publicURL() async throws -> String? {
        if socket == nil { return base }
        let url = try await get("/health", as: API.Health.self).url
        return url.hasPrefix("http://") || url.hasPrefix("https://") ? Self.normalized(url) : nil
    }

    /// Returns the address of an integration's page.
    /// - Returns: `nil` if the daemon does not say its own address, or does not answer.
    func page(of integration: API.Integration) async -> String? {
        guard let url = try? await publicURL() else { return nil }
        return PageAddress.page(of: integration.bot, integration.number, at: url)
    }

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
                .no,
                "the download of \(path) from \(place) was stopped: it is longer than the \(limit) bytes that it may have; nothing of it is kept"
            )
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
        case .unreachable:
            Failure(
                .unavailable,
                "no daemon answers at \(place): \(error.message); start it with `martlet serve`, or name another with --server URL"
            )
        // The daemon has ended, or is ending.
        case .interrupted: Failure(.unavailable, error.description)
        case .timedOut where deadline.map { ContinuousClock.now.duration(to: $0) <= Self.slack } ?? false:
            Failure(
                .unavailable,
                "\(error.description); the time for the whole download is over; write --time-limit SECONDS to give it more"
            )
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
        let sentence =
            problem?.detail ?? problem?.title
            ?? "the daemon at \(place) answered \(response.status) to \(path) without a reason; its log has more"
        switch response.status {
        case 401, 403: throw Failure(.denied, sentence + (withheldToken.map { "; \($0)" } ?? ""))
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
