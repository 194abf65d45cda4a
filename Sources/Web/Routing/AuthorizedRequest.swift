import Basics
import Forges
import Foundation
import HTTPTypes
import Hummingbird
import Integrations
import Model
import NIOCore

/// A request whose route was found and whose caller is authorized.
struct AuthorizedRequest: Sendable {
    let request: Request
    /// The connection of the request.
    let channel: any Channel
    /// Cancels the computation of the answer when the client leaves.
    let departure: ClientDeparture
    let caller: Caller
    /// The caller's role on what the route is about; `nil` if it has none there, so that it is shown what everybody may see.
    let role: Role?
    /// The bots that the answer may show; `nil`: every bot.
    let bots: BotScope?
    private let parameters: [String: String]
    private let bodyLimit: Int
    /// The address that failed sign-ins are counted for; `nil` for all peers without an address.
    let address: IPAddress?
    /// The client's address, for the log and the audit; `nil` for a peer of the Unix socket.
    let origin: IPAddress?
    /// The address under which the browser sees the service.
    let place: RequestPlace
    /// The client for which limits count this request.
    let asker: Asker
    let limits: WebLimits
    /// The number of bytes that the client has sent of the request's body, or read of its answer.
    let progress = Progress()

    init(
        request: Request, channel: any Channel, departure: ClientDeparture, caller: Caller, role: Role?,
        bots: BotScope?, parameters: [String: String], bodyLimit: Int, client: IPAddress?, address: IPAddress?,
        origin: IPAddress?,
        place: RequestPlace, limits: WebLimits
    ) {
        (self.address, self.origin, self.place) = (address, origin, place)
        self.limits = limits
        self.request = request
        self.channel = channel
        self.departure = departure
        self.caller = caller
        (self.role, self.bots) = (role, bots)
        self.parameters = parameters
        self.bodyLimit = bodyLimit
        asker = Asker(client: client, isKnown: caller.isKnown, isLocal: caller.isLocal)
    }

    /// Whether the caller has no role on what the route is about, so that everybody gets the same answer.
    var isAnonymous: Bool { role == nil }

    /// Returns whether the answer may show a bot.
    func shows(_ bot: Name) -> Bool { bots?.covers(bot) ?? true }

    /// Checks the caller's role on a bot that the path does not name. A route whose reach is `found` calls it before it changes something.
    /// - Parameter bot: The bot; `nil`: the service as a whole.
    /// - Throws: 403.
    func require(_ needed: Role, on bot: Name?) throws(Problem) {
        let role = if let bot { caller.rights.role(on: bot) } else { caller.rights.role }
        if let refusal = Access.role(needed).refusal(of: caller, as: role, anonymousMayRead: false) { throw refusal }
    }

    /// Returns a parameter of the route's path; empty if the path has no parameter of this name.
    func text(_ name: String) -> String { parameters[name] ?? "" }

    /// Returns a parameter that is the name of a bot, configuration or product.
    /// - Throws: 404 if it is not a valid name, since nothing can have that name.
    func name(_ parameter: String) throws(Problem) -> Name {
        guard let name = Name(text(parameter)) else { throw .notFound }
        return name
    }

    /// Returns the first value of a query parameter, percent-decoded with `+` as a space; `nil` if it is absent or empty.
    func query(_ name: String) -> String? {
        Self.query(name, of: request.head.path)
    }

    /// Returns the first value of a query parameter of a path, as `query(_:)` does.
    static func query(_ name: String, of path: String?) -> String? {
        guard let query = path?.split(separator: "?", maxSplits: 1).dropFirst().first else { return nil }
        for pair in query.split(separator: "&") {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts[0] == name[...] else { continue }
            let value = parts.count > 1 ? parts[1].replacing("+", with: "%20") : ""
            let decoded = String(value).removingPercentEncoding ?? ""
            return decoded.isEmpty ? nil : decoded
        }
        return nil
    }

    /// Returns all values of a query parameter that is repeated, percent-decoded, without empty ones.
    func queries(_ name: String) -> [String] {
        guard let query = request.head.path?.split(separator: "?", maxSplits: 1).dropFirst().first else { return [] }
        return query.split(separator: "&").compactMap { pair in
            guard pair.hasPrefix(name + "=") else { return nil }
            let value = pair.dropFirst(name.count + 1).replacing("+", with: "%20").removingPercentEncoding
            return value.flatMap { $0.isEmpty ? nil : $0 }
        }
    }

    /// Returns whether the first value of a query parameter is there, but empty: `?status=&limit=3`.
    func hasEmptyQuery(_ name: String) -> Bool {
        guard let query = request.head.path?.split(separator: "?", maxSplits: 1).dropFirst().first else { return false }
        let pair = query.split(separator: "&").first { $0 == name[...] || $0.hasPrefix(name + "=") }
        return pair.map { $0.count <= name.count + 1 } ?? false
    }

    /// Returns whether a query parameter is present and neither `false` nor `0`, such as `?failing` and `?failing=true`.
    /// - Throws: 400 for another value.
    func flag(_ name: String) throws(Problem) -> Bool {
        guard let query = request.head.path?.split(separator: "?", maxSplits: 1).dropFirst().first else { return false }
        let pair = query.split(separator: "&").first { $0 == name[...] || $0.hasPrefix(name + "=") }
        guard let pair else { return false }
        switch pair.dropFirst(name.count + 1) {
        case "", "true", "1": return true
        case "false", "0": return false
        default: throw Problem(400, "`\(name)` is true or false.")
        }
    }

    /// Returns `?attempt=`, which counts from 1; `nil` if it is absent.
    /// - Throws: 400 for an invalid number.
    func attempt() throws(Problem) -> Int? {
        guard let text = query("attempt") else { return nil }
        guard let number = Self.clamped(text), number > 0 else {
            throw Problem(400, "`attempt` is a number from 1 on.")
        }
        return Int(clamping: number)
    }

    /// Returns `?limit=`, 1 to 200, and `?before=`, which is the `next` of an earlier answer.
    /// - Parameter usual: The limit if the request states none.
    /// - Throws: 400 if either is not a number.
    func page(limit usual: Int = 50) throws(Problem) -> (limit: Int, before: Int64?) {
        let limit = try limit(usual)
        var before: Int64?
        if let text = query("before") {
            guard let number = Self.clamped(text), number >= 0 else {
                throw Problem(400, "`before` is the `next` of an earlier answer.")
            }
            before = number
        }
        return (limit, before)
    }

    /// Returns `?limit=`; a number above 200 becomes 200.
    /// - Parameter usual: The limit if the request states none.
    /// - Throws: 400 if it is not a number from 1 on.
    func limit(_ usual: Int = 50) throws(Problem) -> Int {
        guard let text = query("limit") else { return usual }
        guard let number = Self.clamped(text), number >= 1 else {
            throw Problem(400, "`limit` is a number from 1 to 200.")
        }
        return Int(min(number, 200))
    }

    /// Reads the body into memory, within the route's limit.
    /// - Throws: 413 above the limit, before anything is read if Content-Length says so.
    func body() async throws -> [UInt8] {
        var bytes: [UInt8] = []
        try statedLength()
        for try await buffer in request.body {
            guard bytes.count + buffer.readableBytes <= bodyLimit else { throw tooLarge }
            bytes += buffer.readableBytesView
        }
        return bytes
    }

    /// Reads the body of a webhook, which anybody may send. A large body is written to disk, so an incomplete or unverified body does not occupy
    /// memory.
    /// - Throws: 413 as in `body()`; 503 if too many large bodies are in progress, or the disk is full.
    func webhookBody() async throws -> WebhookBody {
        try statedLength()
        let spool = Spool(.body, limits.bodies, inMemory: WebLimits.bodyBytesInMemory, by: limits.bodyFiles, for: self)
        var count = 0
        do {
            for try await buffer in request.body {
                count += buffer.readableBytes
                guard count <= bodyLimit else { throw tooLarge }
                progress.add(buffer.readableBytes)
                try await spool.append(buffer)
            }
            let contents = try await spool.finish()
            guard let file = contents.file else { return WebhookBody(Array(contents.memory.readableBytesView)) }
            limits.bodyTrouble.end()
            return WebhookBody(count: count) { offset, count in
                defer { withExtendedLifetime(contents.holder) {} }
                return try file.read(at: Int64(offset), count: count)
            }
        } catch let error as OpenFile.ReadError {
            // Anybody may have sent it, so the answer has no details of the machine's error. The operator finds them in the log.
            limits.bodyTrouble.log(error)
            throw Problem(503, "The body could not be stored; send it again in a while.")
        }
    }

    /// Returns the value of Content-Length; `nil` if the header is absent.
    /// - Throws: 413 if it is over the route's limit.
    @discardableResult
    func statedLength() throws(Problem) -> Int? {
        guard let text = request.headers[.contentLength] else { return nil }
        guard let length = Int(text), length <= bodyLimit else { throw tooLarge }
        return length
    }

    private var tooLarge: Problem {
        Problem(413, "The body is larger than \(ByteCount(Int64(bodyLimit))), the limit here.")
    }

    /// Decodes a JSON body; an empty body is read as `{}`.
    /// - Throws: 415 for another content type, so that an HTML form of another site cannot send a body; 400 for a body that does not decode or has
    ///   unknown keys.
    func json<Value: Decodable>(_ type: Value.Type) async throws -> Value {
        let bytes = try await body()
        if !bytes.isEmpty, request.headers[.contentType]?.lowercased().hasPrefix("application/json") != true {
            throw Problem(415, "The body has to be JSON: send `Content-Type: application/json`.")
        }
        do {
            let data = bytes.isEmpty ? Data("{}".utf8) : Data(bytes)
            let value = try JSONDecoder().decode(type, from: data)
            let keys = try JSONDecoder().decode([String: AnyValue].self, from: data).keys
            try Self.checkKeys(keys, of: type)
            return value
        } catch let error as DecodingError {
            throw Problem(400, "The body does not fit: \(error.sentence).")
        }
    }

    /// Rejects unknown keys, so that a misspelled key is not ignored.
    private static func checkKeys<Value: Decodable>(_ keys: some Sequence<String>, of type: Value.Type) throws {
        let known = try Components.members(of: type).map(\.name)
        guard let other = keys.sorted().first(where: { !known.contains($0) }) else { return }
        let list = known.map { "`\($0)`" }.joined(separator: ", ")
        throw Problem(400, "The body has no key `\(other.prefix(64))` here; it takes \(list).")
    }

    /// A value that is ignored.
    private struct AnyValue: Decodable {
        init(from decoder: any Decoder) {}
    }
}
