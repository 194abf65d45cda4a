import Foundation
import Glibc

/// The HTTP server that a sweep's daemon and jobs use. It is a receiver of webhooks, a forge that stores statuses as Gitea does, and a store of
/// flags for jobs. It is in the sweep's own process, which is never killed, so its record is the ledger.
///
/// `/hooks/BOT`, `/api/v1/repos/acme/BOT/…` (Gitea's `repoCreateStatus` and `repoListStatusesByRef`), `/flags/NAME`.
final class Listener: @unchecked Sendable {
    /// A request, and the status of its answer.
    struct Entry: Sendable {
        var method: String
        /// The path without its query.
        var path: String
        /// The headers, with names in lower case.
        var headers: [String: String]
        var body: [UInt8]
        var status = 0

        /// The members of a JSON body.
        var fields: [String: Any] { (try? JSONSerialization.jsonObject(with: Data(body))) as? [String: Any] ?? [:] }
    }

    /// The answer to a bot's requests that change something.
    enum Plan: Equatable, Sendable {
        case answers(Int)
        /// Requests wait for `release`.
        case holds
    }

    let port: Int
    private let socket: Int32
    private let condition = NSCondition()
    private var noted: [Entry] = []
    private var plans: [String: Plan] = [:]
    private var held: [String: Int] = [:]
    private var flags: Set<String> = []
    private static let token = "token of-the-sweep"

    /// - Throws: `ServiceFailure` if there is no free port.
    init() throws {
        socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let number = socket
        let isListening = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                bind(number, generic, length) == 0 && listen(number, 128) == 0
                    && getsockname(number, generic, &length) == 0
            }
        }
        guard isListening else { throw ServiceFailure("no port of the loopback can be listened at") }
        port = Int(UInt16(bigEndian: address.sin_port))
        Thread {
            while true {
                let connection = accept(number, nil, nil)
                guard connection >= 0 else { return }
                Thread {
                    self.serve(connection)
                    close(connection)
                }.start()
            }
        }.start()
    }

    /// Ends the server. Held requests are answered, and no client can connect afterwards.
    func end() {
        condition.withLock {
            plans = [:]
            condition.broadcast()
        }
        shutdown(socket, Int32(SHUT_RDWR))
        close(socket)
    }

    // MARK: What is to happen, and what has

    func set(_ plan: Plan?, for bot: String) { condition.withLock { plans[bot] = plan } }

    /// Answers the held requests of a bot. Later ones are answered as usual.
    func release(_ bot: String, status: Int) {
        condition.withLock {
            plans[bot] = nil
            held[bot] = status
            condition.broadcast()
        }
    }

    func set(flag: String, _ isSet: Bool) {
        condition.withLock { _ = isSet ? flags.insert(flag).inserted : flags.remove(flag) != nil }
    }

    /// Returns a bot's requests that change something, oldest first. A held request has the status 0.
    func entries(of bot: String) -> [Entry] {
        condition.withLock { noted.filter { Self.bot(of: $0.path) == bot && $0.method == "POST" } }
    }

    // MARK: HTTP

    private static func bot(of path: String) -> String? {
        let parts = path.split(separator: "/").map(String.init)
        if parts.count == 2, parts[0] == "hooks" { return parts[1] }
        if parts.count > 4, Array(parts[..<4]) == ["api", "v1", "repos", "acme"] { return parts[4] }
        return nil
    }

    private func serve(_ connection: Int32) {
        guard var entry = Self.read(connection) else { return }
        guard entry.method == "POST" else {
            let (status, body) = condition.withLock { reading(entry) }
            return Self.answer(connection, status, body)
        }
        guard let bot = Self.bot(of: entry.path) else { return Self.answer(connection, 404, "{}") }
        if entry.path.hasPrefix("/api/"), entry.headers["authorization"] != Self.token {
            return Self.answer(connection, 401, #"{"message":"token is required"}"#)
        }
        let (status, count) = condition.withLock { () -> (Int, Int) in
            let place = noted.count
            noted.append(entry)
            let isHeld = plans[bot] == .holds
            while plans[bot] == .holds { condition.wait() }
            var status = entry.path.hasPrefix("/api/") ? 201 : 200
            if isHeld, let released = held[bot] {
                if released >= 300 { status = released }
            } else if case .answers(let planned) = plans[bot] {
                status = planned
            }
            entry.status = status
            noted[place] = entry
            return (status, place + 1)
        }
        Self.answer(connection, status, "{\"id\":\(count)}")
    }

    private func reading(_ entry: Entry) -> (Int, String) {
        let parts = entry.path.split(separator: "/").map(String.init)
        if parts.count == 2, parts[0] == "flags" { return (flags.contains(parts[1]) ? 200 : 404, "{}") }
        guard parts.count == 8, Self.bot(of: entry.path) != nil, parts[5] == "commits", parts[7] == "statuses" else {
            return (404, "{}")
        }
        let statuses = noted.enumerated().filter { $0.element.path.hasSuffix("/statuses/" + parts[6]) }.filter {
            $0.element.status == 201
        }
        let list = statuses.reversed().map { place, entry -> [String: Any] in
            let fields = entry.fields
            return [
                "id": place + 1, "context": fields["context"] ?? "", "status": fields["state"] ?? "",
                "description": fields["description"] ?? "", "target_url": fields["target_url"] ?? "",
            ]
        }
        return (200, String(decoding: (try? JSONSerialization.data(withJSONObject: list)) ?? Data(), as: UTF8.self))
    }

    /// Reads one request. The client waits for the answer before it sends the next one.
    private static func read(_ connection: Int32) -> Entry? {
        var bytes: [UInt8] = []
        func more() -> Bool {
            var part = [UInt8](repeating: 0, count: 64 * 1024)
            let count = recv(connection, &part, part.count, 0)
            guard count > 0 else { return false }
            bytes += part[..<count]
            return true
        }
        var end: Int?
        while end == nil {
            end = bytes.firstRange(of: Array("\r\n\r\n".utf8))?.upperBound
            if end == nil, !more() { return nil }
        }
        let head = String(decoding: bytes[..<(end ?? 0)], as: UTF8.self).split(separator: "\r\n")
        let words = (head.first ?? "").split(separator: " ")
        guard words.count == 3 else { return nil }
        var headers: [String: String] = [:]
        for line in head.dropFirst() {
            let parts = line.split(separator: ":", maxSplits: 1)
            if parts.count == 2 { headers[parts[0].lowercased()] = parts[1].trimmingCharacters(in: .whitespaces) }
        }
        let length = (end ?? 0) + (Int(headers["content-length"] ?? "") ?? 0)
        while bytes.count < length { guard more() else { return nil } }
        return Entry(
            method: String(words[0]), path: String(words[1].prefix { $0 != "?" }), headers: headers,
            body: Array(bytes[(end ?? 0)..<length]))
    }

    private static func answer(_ connection: Int32, _ status: Int, _ body: String) {
        let text =
            "HTTP/1.1 \(status) Answer\r\nContent-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n"
            + "Connection: close\r\n\r\n" + body
        // The client may have been killed.
        _ = Array(text.utf8).withUnsafeBytes { send(connection, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
    }
}
