import Basics
import Execution
import Hummingbird
import JobProtocol
import Model
import ServiceLifecycle
import Storage

/// `/live/events`: the one stream of events of a browser, for all its tabs (WHATWG HTML, section 9.2).
///
/// It has the events of `/api/v1/events`, and for each log in `?log=BOT/NUMBER/JOB/ATTEMPT` an event `log` whenever the log has grown. The pages then
/// ask for what they show. A browser opens few connections to a server at a time, six over HTTP/1.1, so a stream for each tab would leave none.
final class LiveStream: Sendable {
    /// The most logs in one request.
    static let maximumLogs = 16
    /// The number of events that are buffered for a client that does not read.
    private static let bufferedEvents = 64
    private static let heartbeat: Duration = .seconds(15)
    /// Growth within this time is reported together.
    private static let pause: Duration = .milliseconds(150)
    /// 32 bytes, as in `EventRoutes`.
    private static let nothing = ": nothing changed, still here.\n\n"

    private let logs: LogServer
    private let watch = FileWatch(pause: .milliseconds(20))

    init(logs: LogServer) { self.logs = logs }

    var route: Route {
        Route(
            .get, "/live/events", .read,
            "Server-sent events of pages; ?log=BOT/NUMBER/JOB/ATTEMPT, repeated."
        ) {
            try await self.stream($0)
        }.costing(.stream)
    }

    /// A log that is followed.
    private struct Followed: Sendable {
        /// The text by which the page names the log.
        var name: String
        /// The absolute path of the attempt's directory.
        var directory: String
    }

    private func stream(_ call: AuthorizedRequest) async throws -> Response {
        var followed: [Followed] = []
        for name in call.queries("log").prefix(Self.maximumLogs) {
            try await followed += self.followed(name, call)
        }
        let store = logs.site.store
        return .events(
            ResponseBody { [followed, bots = call.bots] writer in
                let (lines, continuation) = AsyncStream.makeStream(
                    of: String.self, bufferingPolicy: .bufferingNewest(Self.bufferedEvents))
                // Subscribes before the first byte is sent, so that a client that has read it misses no later change.
                let changes = store.changes()
                try await withGracefulShutdownHandler {
                    try await withThrowingTaskGroup(of: Void.self) { group in
                        group.addTask {
                            for await change in changes where EventHistory.isShown(change, to: bots) {
                                if let event = try EventHistory.event(change) { continuation.yield(event) }
                            }
                            continuation.finish()
                        }
                        group.addTask {
                            while !Task.isCancelled {
                                try await Task.sleep(for: Self.heartbeat)
                                continuation.yield(Self.nothing)
                            }
                        }
                        for log in followed { group.addTask { try await self.follow(log) { continuation.yield($0) } } }
                        defer { group.cancelAll() }
                        try await writer.write(ByteBuffer(string: "retry: 3000\n\n"))
                        for await line in lines { try await writer.write(ByteBuffer(string: line)) }
                    }
                } onGracefulShutdown: {
                    continuation.finish()
                }
                try await writer.finish(nil)
            })
    }

    /// Finds a log by its name; none if there is no such log that the caller may read, such as one that retention removed while its page was open.
    private func followed(_ name: String, _ call: AuthorizedRequest) async throws -> [Followed] {
        let parts = name.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 4, let bot = Name(parts[0]), call.shows(bot), let number = Int(parts[1]), number > 0,
            let subject = try? LogServer.Subject(segment: parts[2]),
            let record = try await logs.site.store.integration(IntegrationID(bot: bot, number: number)),
            let row = try await logs.row(of: record.id, subject, attempt: parts[3])
        else { return [] }
        return [Followed(name: name, directory: logs.site.configuration.state + "/" + row.directory)]
    }

    /// Reports a log's size whenever it has changed, until the task is canceled.
    private func follow(_ followed: Followed, _ report: @Sendable (String) -> Void) async throws {
        let observer = watch.observer()
        let path = AttemptDirectory(path: followed.directory).paths.log
        var known: Int64 = -1
        while !Task.isCancelled {
            let size = try await logs.site.files.run { () throws(ExecutionError) -> Int64 in
                // Observed before the size is read, so that later writes are reported.
                observer.add(file: path)
                return try AttemptLog.open(in: followed.directory)?.size ?? 0
            }
            if known >= 0, size != known {
                report("event: log\ndata: \(try JSONWriter.text(of: LogGrowth(log: followed.name, size: size)))\n\n")
                known = size
                try await Task.sleep(for: Self.pause)
                continue
            }
            known = size
            _ = await observer.wait(atMost: logs.site.configuration.looksAtLogs)
        }
    }

    /// The data of the event `log`.
    private struct LogGrowth: Encodable {
        var log: String
        /// The size in bytes.
        var size: Int64
    }
}
