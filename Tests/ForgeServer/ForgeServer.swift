import Foundation
import Glibc
import Synchronization
import TestSupport
import Transfer

/// A server that reads requests as bytes, with one thread per connection, and closes each connection after one answer.
final class ForgeServer: Sendable {
    private struct Plan: Sendable {
        var isLosing = false
        var isSilent = false
    }

    private let forge: FakeForge
    /// The delay of each answer, in seconds.
    private let delay: Double
    private let plan = Mutex(Plan())
    /// Signaled when the silence ends.
    private let speaking = NSCondition()

    init(forge: FakeForge, delay: Double) {
        self.forge = forge
        self.delay = delay
    }

    func serve(_ connection: Int32) {
        defer { close(connection) }
        guard let request = ForgeRequest(reading: connection) else { return }
        if request.path.hasPrefix("/control/") {
            let parts = request.path.split(separator: "/").dropFirst().map(String.init)
            return reply(connection, control(parts))
        }
        if plan.withLock({ $0.isSilent }) {
            speaking.lock()
            while plan.withLock({ $0.isSilent }) { speaking.wait() }
            speaking.unlock()
            return
        }
        if delay > 0 {
            // Waits for the delay of a slow forge, or until the client disconnects.
            var client = pollfd(fd: connection, events: 0x2000, revents: 0)  // POLLRDHUP (poll(2))
            poll(&client, 1, Int32(delay * 1000))
        }
        let authorization = request.headers["Authorization"]
        let answer = forge.answer(
            request.method, forge.api.dropLast("/api".count) + request.path, headers: request.headers,
            authorization: authorization, body: request.body)
        let isLost = plan.withLock { plan in
            defer { plan.isLosing = false }
            return plan.isLosing
        }
        if !isLost { reply(connection, answer) }
    }

    private func control(_ parts: [String]) -> TransferResponse {
        switch parts.first {
        case "commit": forge.add(commit: parts.last ?? "")
        case "lose": plan.withLock { $0.isLosing = true }
        case "silence": plan.withLock { $0.isSilent = true }
        case "speak":
            speaking.lock()
            plan.withLock { $0.isSilent = false }
            speaking.broadcast()
            speaking.unlock()
        case "answer":
            let seconds = parts.count > 2 ? parts[2] : "0"
            forge.answerNext(Int(parts[1]) ?? 500, headers: seconds == "0" ? [:] : ["Retry-After": seconds])
        default:
            let list = forge.history.map {
                [
                    "commit": $0.commit, "context": $0.context, "state": $0.state, "description": $0.text,
                    "url": $0.url,
                ]
            }
            let bytes = (try? JSONEncoder().encode(list)) ?? Data()
            return TransferResponse(status: 200, body: Array(bytes))
        }
        return TransferResponse(status: 204)
    }

    private func reply(_ connection: Int32, _ answer: TransferResponse) {
        var head = "HTTP/1.1 \(answer.status) Answer\r\nContent-Length: \(answer.body.count)\r\nConnection: close\r\n"
        for field in answer.headers.fields { head += "\(field.name): \(field.value)\r\n" }
        var rest = (Array((head + "\r\n").utf8) + answer.body)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { write(connection, $0.baseAddress, $0.count) }
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
    }
}
