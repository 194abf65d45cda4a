import Foundation
import ServiceSupport

/// Reads a log whose lines are times, on a thread of its own, until the service reports its end.
final class LogFollower: @unchecked Sendable {
    private let done = DispatchSemaphore(value: 0)
    private var delays: [Double] = []
    private var failure: (any Error)?

    /// - Parameter isStream: Whether it uses server-sent events, instead of requests for the bytes after the last one.
    init(socket: String, path: String, isStream: Bool) {
        let thread = Thread { [self] in
            do {
                try isStream ? follow(socket, path) : ask(socket, path)
            } catch {
                failure = error
            }
            done.signal()
        }
        thread.start()
    }

    /// Waits for the log's end.
    /// - Returns: The delay of each line after the first ones, in milliseconds.
    func end() throws -> [Double] {
        done.wait()
        if let failure { throw failure }
        // Lines that were printed before it began are left out.
        let followed = Array(delays.drop { $0 > 1000 })
        guard followed.count > 50 else { throw ServiceFailure("only \(followed.count) lines of the log came") }
        return followed
    }

    private func follow(_ socket: String, _ path: String) throws {
        let client = ServiceClient(socket: socket)
        try client.stream(path + "/events") { text in
            note(text)
            return !text.contains("event: end")
        }
    }

    private func ask(_ socket: String, _ path: String) throws {
        let client = ServiceClient(socket: socket)
        var (offset, quiet) = (0, 0)
        // Such a reader asks again after a pause.
        let hasEnded = try Moment.until(limit: 120, pause: 10) {
            let answer = try client.send("GET", path, headers: ["Range": "bytes=\(offset)-"])
            guard [200, 206, 416].contains(answer.status) else {
                throw ServiceFailure("\(answer.status) \(answer.text)")
            }
            if answer.status == 206 {
                note(answer.text)
                offset += answer.body.count
            }
            quiet = answer.status == 206 ? 0 : quiet + 1
            return quiet == 100
        }
        guard hasEnded else { throw ServiceFailure("the log of \(path) had no end within 120 s") }
    }

    /// Records a line. A line of 19 digits is a time in nanoseconds since 1970.
    private func note(_ text: String) {
        let now = Moment.wall
        for digits in text.split(whereSeparator: { !$0.isNumber }) where digits.count == 19 {
            if let time = Int64(digits) { delays.append(Double(now - time) / 1_000_000) }
        }
    }
}
