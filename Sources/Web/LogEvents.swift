import Basics
import Execution
import Foundation
import HTTPTypes
import Hummingbird
import JobProtocol
import ServiceLifecycle
import Synchronization

/// `…/log/{configuration}/events`: a log's bytes as server-sent events (WHATWG HTML, section 9.2), new ones within 100 ms.
///
/// Each reader has an offset in the file and one piece of it in memory, nothing else: a slow one reads later, and delays nobody. A reader that goes
/// away affects neither the job nor other readers.
final class LogEvents: Sendable {
    /// The bytes of the log in one event. As JSON they take up to six times as many; each reader has one piece in memory.
    static let pieceBytes = 16 * 1024
    /// Changes within this time are told together: a job that prints a line a millisecond wakes its readers 50 times a second.
    private static let pause = Duration.milliseconds(20)
    /// After this many checks without new bytes the database is asked for the end: the supervisor may have been killed.
    private static let looksForTheEnd = 5
    /// After this many checks without new bytes a comment is sent, which detects a reader that has gone away.
    private static let looksWithoutNews = 15
    /// 32 bytes, so that a client that gives up below 1 byte a second, as our own does, stays.
    private static let nothing = ": nothing was printed till now.\n\n"

    private let logs: LogServer
    private let watch = FileWatch(pause: pause)

    init(logs: LogServer) { self.logs = logs }

    /// Where a reader was: the id of the last event that it saw.
    private struct Position {
        var attempt: Int
        /// Of the attempt's log.
        var offset: Int64

        /// `2.1024`.
        init?(_ id: String) {
            let parts = id.split(separator: ".", omittingEmptySubsequences: false)
            guard parts.count == 2, let attempt = Int(parts[0]), let offset = Int64(parts[1]), offset >= 0 else {
                return nil
            }
            (self.attempt, self.offset) = (attempt, offset)
        }
    }

    /// From `Last-Event-ID`, else `?from=`, else the beginning. A reader stays with one attempt, even after reconnecting: an offset means nothing
    /// in another attempt's log.
    func send(_ call: Call) async throws -> Response {
        let last = call.request.headers[.lastEventID].flatMap { Position($0) }
        let log = try await open(call, last)
        let resumed = last?.attempt == log.number ? last?.offset : nil
        let start = last == nil ? try Self.start(call) : resumed ?? 0
        // A browser that was told the end connects again; 204 tells it not to.
        if let resumed, log.isEnded, resumed >= log.size { return Response(status: .noContent) }
        let place = Place(log, state: logs.site.configuration.state, watch: watch)
        return .events(
            ResponseBody { [logs] writer in
                var follower = Follower(
                    logs: logs, call: call, attempt: log.number, place: place, offset: start, isEnded: log.isEnded)
                // A service that stops ends its streams; readers reconnect to the next one.
                try await withGracefulShutdownHandler {
                    try await writer.write(ByteBuffer(string: "retry: 3000\n\n"))
                    while let text = try await follower.next() { try await writer.write(ByteBuffer(string: text)) }
                } onGracefulShutdown: {
                    place.stop()
                }
                try await writer.finish(nil)
            })
    }

    /// `?from=`, else the beginning.
    /// - Throws: 400 for what is no offset.
    private static func start(_ call: Call) throws(Problem) -> Int64 {
        guard let text = call.query("from") else { return 0 }
        guard let offset = Int64(text), offset >= 0 else {
            throw Problem(400, "`from` is an offset in bytes, from 0 on.")
        }
        return offset
    }

    /// The requested attempt, else the one that the reader was in, else the newest.
    private func open(_ call: Call, _ last: Position?) async throws -> LogServer.Log {
        if let last, call.query("attempt") == nil, let log = try await logs.open(call, attempt: last.attempt) {
            return log
        }
        return try await logs.open(call)
    }

    /// How far one reader has come.
    private struct Follower {
        let logs: LogServer
        let call: Call
        let attempt: Int
        let place: Place
        var offset: Int64
        /// By what is stored.
        var isEnded: Bool
        private var hasSaidEnd = false
        /// Since something was new.
        private var looks = 0

        init(logs: LogServer, call: Call, attempt: Int, place: Place, offset: Int64, isEnded: Bool) {
            (self.logs, self.call, self.attempt, self.place) = (logs, call, attempt, place)
            (self.offset, self.isEnded) = (offset, isEnded)
        }

        /// The next event; `nil` after the end, or if the service stops.
        mutating func next() async throws -> String? {
            while !hasSaidEnd, !Task.isCancelled, !place.isStopped {
                let (place, position, isKnown) = (place, offset, isEnded)
                let look = try await logs.site.files.run { () throws(ExecutionError) in
                    try place.look(from: position, isEnded: isKnown)
                }
                if !look.piece.isEmpty {
                    offset += Int64(look.piece.count)
                    looks = 0
                    return LogEvents.event(look.piece, of: attempt, at: position)
                }
                if look.isEnded {
                    hasSaidEnd = true
                    return "event: end\ndata: {\"size\":\(min(offset, place.size))}\n\n"
                }
                if await place.observer.wait(atMost: logs.site.configuration.looksAtLogs) { continue }
                looks += 1
                if looks % LogEvents.looksForTheEnd == 0 { isEnded = try await logs.isEnded(call, attempt: attempt) }
                if looks % LogEvents.looksWithoutNews == 0 { return LogEvents.nothing }
            }
            return nil
        }
    }

    /// `{"offset", "size", "text"}`, or `base64` in place of `text` where the bytes are no UTF-8. The id is the
    /// attempt, and where the next one begins.
    static func event(_ piece: [UInt8], of attempt: Int, at offset: Int64) -> String {
        let text = String(validating: piece, as: UTF8.self)
        let data: JSONValue = [
            "offset": .integer(offset), "size": .integer(Int64(piece.count)),
            text == nil ? "base64" : "text": .string(text ?? Data(piece).base64EncodedString()),
        ]
        return "id: \(attempt).\(offset + Int64(piece.count))\nevent: log\ndata: \(data.text)\n\n"
    }

    /// One reader's files.
    private final class Place: Sendable {
        let observer: FileWatch.Observer
        private let log: AttemptLog
        private let attempt: AttemptDirectory
        private let hasStopped = Atomic<Bool>(false)

        var isStopped: Bool { hasStopped.load(ordering: .relaxed) }

        init(_ log: LogServer.Log, state: String, watch: FileWatch) {
            self.log = log.file
            attempt = AttemptDirectory(path: state + "/" + log.directory)
            observer = watch.observer()
        }

        /// The log's, in bytes.
        var size: Int64 { log.size }

        /// The service stops: a wait that is under way ends.
        func stop() {
            hasStopped.store(true, ordering: .relaxed)
            observer.wake()
        }

        /// Blocks. The job's end is checked before the log's, so that nothing printed until then is left out.
        func look(from offset: Int64, isEnded: Bool) throws(ExecutionError) -> (piece: [UInt8], isEnded: Bool) {
            var isEnded = isEnded || log.isCompressed
            if !isEnded {
                // Watched before the look: what is written after it is told.
                observer.add(file: attempt.paths.log)
                observer.add(file: attempt.paths.status)
                isEnded = try attempt.status().last?.isFinished ?? false
            }
            var piece = try log.read(at: offset, count: LogEvents.pieceBytes)
            // A character whose other bytes are still to come waits for them.
            if !isEnded || piece.count == LogEvents.pieceBytes { piece.removeLast(LogEvents.unfinished(piece)) }
            return (piece, isEnded)
        }
    }

    /// How many bytes at the end are the beginning of a UTF-8 sequence (RFC 3629, section 4).
    static func unfinished(_ piece: [UInt8]) -> Int {
        for count in 1...3 where count <= piece.count {
            let byte = piece[piece.count - count]
            if byte & 0xC0 == 0x80 { continue }
            let length = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : byte >= 0xC2 ? 2 : 1
            return byte < 0xF5 && length > count ? count : 0
        }
        return 0
    }
}

extension HTTPField.Name {
    /// What a browser sends when it connects again: the id of the last event that it saw.
    fileprivate static var lastEventID: Self { .init("Last-Event-ID") ?? .accept }
}
