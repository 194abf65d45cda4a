import API
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
/// The state of each reader is an offset in the file and one piece of the log in memory. A slow reader receives the log later and delays nobody. A
/// reader that goes away affects neither the job nor other readers.
final class LogEvents: Sendable {
    /// The bytes of the log in one event. As JSON they take up to six times as many; each reader has one piece in memory.
    static let pieceBytes = 16 * 1024
    /// Changes within this time are reported together: a job that prints a line a millisecond wakes its readers 50 times a second.
    private static let pause = Duration.milliseconds(20)
    /// The number of checks without new bytes after which the database is asked whether the attempt has ended. The supervisor may have been killed.
    private static let looksForTheEnd = 5
    /// The number of checks without new bytes after which a comment is sent, which detects a reader that has gone away.
    private static let looksWithoutNews = 15
    /// 32 bytes, so that clients that disconnect below 1 byte a second, such as `martlet`, stay connected.
    private static let nothing = ": nothing was printed till now.\n\n"

    private let logs: LogServer
    private let watch = FileWatch(pause: pause)

    init(logs: LogServer) { self.logs = logs }

    /// A reader's position: the id of the last event that it received.
    private struct Position {
        var attempt: Int
        /// The offset in the attempt's log, in bytes.
        var offset: Int64

        /// Parses an event id such as `2.1024`.
        init?(_ id: String) {
            let parts = id.split(separator: ".", omittingEmptySubsequences: false)
            guard parts.count == 2, let attempt = Int(parts[0]), let offset = Int64(parts[1]), offset >= 0 else {
                return nil
            }
            (self.attempt, self.offset) = (attempt, offset)
        }
    }

    /// Sends a log as events. It begins at `Last-Event-ID`, otherwise at `?from=`, otherwise at the beginning. A reader stays with one attempt, even
    /// after reconnecting, because an offset is meaningless in another attempt's log.
    func send(_ call: AuthorizedRequest) async throws -> Response {
        let last = call.request.headers[.lastEventID].flatMap { Position($0) }
        let log = try await open(call, last)
        let resumed = last?.attempt == log.number ? last?.offset : nil
        let start = last == nil ? try Self.start(call) : resumed ?? 0
        // A browser that has received the end connects again; 204 makes it stop.
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

    /// Returns `?from=`, or 0 if it is absent.
    /// - Throws: 400 if it is not an offset.
    private static func start(_ call: AuthorizedRequest) throws(Problem) -> Int64 {
        guard let text = call.query("from") else { return 0 }
        guard let offset = Int64(text), offset >= 0 else {
            throw Problem(400, "`from` is an offset in bytes, from 0 on.")
        }
        return offset
    }

    /// Opens the log of the requested attempt, otherwise of the attempt in `last`, otherwise of the newest one.
    private func open(_ call: AuthorizedRequest, _ last: Position?) async throws -> LogServer.Log {
        if let last, call.query("attempt") == nil, let log = try await logs.open(call, attempt: last.attempt) {
            return log
        }
        return try await logs.open(call)
    }

    /// The progress of one reader.
    private struct Follower {
        let logs: LogServer
        let call: AuthorizedRequest
        let attempt: Int
        let place: Place
        var offset: Int64
        /// Whether the attempt has ended according to the database.
        var isEnded: Bool
        private var hasSaidEnd = false
        /// The number of checks since the last new bytes.
        private var looks = 0

        init(logs: LogServer, call: AuthorizedRequest, attempt: Int, place: Place, offset: Int64, isEnded: Bool) {
            (self.logs, self.call, self.attempt, self.place) = (logs, call, attempt, place)
            (self.offset, self.isEnded) = (offset, isEnded)
        }

        /// Returns the next event; `nil` after the end, or if the service stops.
        mutating func next() async throws -> String? {
            while !hasSaidEnd, !Task.isCancelled, !place.isStopped {
                let (place, position, isKnown) = (place, offset, isEnded)
                let look = try await logs.site.files.run { () throws(ExecutionError) in
                    try place.look(from: position, isEnded: isKnown)
                }
                if !look.piece.isEmpty {
                    offset += Int64(look.piece.count)
                    looks = 0
                    return try LogEvents.event(look.piece, of: attempt, at: position)
                }
                if look.isEnded {
                    hasSaidEnd = true
                    let end = try JSONWriter.text(of: API.LogEnd(size: min(offset, place.size)))
                    return "event: end\ndata: \(end)\n\n"
                }
                if await place.observer.wait(atMost: logs.site.configuration.looksAtLogs) { continue }
                looks += 1
                if looks % LogEvents.looksForTheEnd == 0 { isEnded = try await logs.isEnded(call, attempt: attempt) }
                if looks % LogEvents.looksWithoutNews == 0 { return LogEvents.nothing }
            }
            return nil
        }
    }

    /// Returns an event with the data `{"offset", "size", "text"}`, or `base64` in place of `text` if the bytes are not UTF-8. The event's id
    /// consists of the attempt and the offset of the next event.
    static func event(_ piece: [UInt8], of attempt: Int, at offset: Int64) throws -> String {
        let text = String(validating: piece, as: UTF8.self)
        let data = API.LogPiece(
            offset: offset, size: Int64(piece.count), text: text,
            base64: text == nil ? Data(piece).base64EncodedString() : nil)
        return "id: \(attempt).\(offset + Int64(piece.count))\nevent: log\ndata: \(try JSONWriter.text(of: data))\n\n"
    }

    /// The files that one reader follows.
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

        /// The size of the log in bytes.
        var size: Int64 { log.size }

        /// Ends a wait in progress, because the service stops.
        func stop() {
            hasStopped.store(true, ordering: .relaxed)
            observer.wake()
        }

        /// Reads the next piece. Blocks. It checks the job's end before it reads the log, so that nothing printed until then is left out.
        func look(from offset: Int64, isEnded: Bool) throws(ExecutionError) -> (piece: [UInt8], isEnded: Bool) {
            var isEnded = isEnded || log.isCompressed
            if !isEnded {
                // Observed before the read, so that later writes are reported.
                observer.add(file: attempt.paths.log)
                observer.add(file: attempt.paths.status)
                isEnded = try attempt.status().last?.isFinished ?? false
            }
            var piece = try log.read(at: offset, count: LogEvents.pieceBytes)
            // An incomplete character at the end is left for the next piece.
            if !isEnded || piece.count == LogEvents.pieceBytes { piece.removeLast(LogEvents.unfinished(piece)) }
            return (piece, isEnded)
        }
    }

    /// Returns how many bytes at the end are the beginning of an incomplete UTF-8 sequence (RFC 3629, section 4).
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
    /// `Last-Event-ID`: a browser sends it when it reconnects, with the id of the last event that it received.
    fileprivate static var lastEventID: Self { .init("Last-Event-ID") ?? .accept }
}
