import Basics
import Execution
import HTTPTypes
import Hummingbird
import Model
import Storage

/// Logs as they were printed, secrets masked already: `text/plain`, by ranges, while they grow too.
struct LogServer: Sendable {
    let site: Site

    /// An open log and how long it is now.
    struct Log: Sendable {
        let file: AttemptLog
        let size: Int64
        /// The attempt's directory relative to the state, where `log.index` lies too.
        let directory: String
        /// Nothing for a trigger's.
        let attempt: AttemptRecord?
        /// By what is stored: nothing will be written any more.
        let isEnded: Bool
    }

    func send(_ call: Call) async throws -> Response {
        let log = try await open(call)
        var headers = HTTPFields()
        headers[.contentType] = "text/plain; charset=utf-8"
        headers[.acceptRanges] = "bytes"
        headers[.cacheControl] = "public, no-cache"
        // Of no use as a cache's key while the log grows; a follower asks for `bytes=N-` and gets 416 until there is more.
        switch ByteRange(header: call.request.headers[.range], size: log.size) {
        case .whole:
            return Response(status: .ok, headers: headers, body: body(of: log, range: 0..<log.size))
        case .part(let range):
            headers[.contentRange] = "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(log.size)"
            return Response(status: .partialContent, headers: headers, body: body(of: log, range: range))
        case .unsatisfiable:
            headers[.contentRange] = "bytes */\(log.size)"
            return Response(status: .rangeNotSatisfiable, headers: headers)
        }
    }

    private func body(of log: Log, range: Range<Int64>) -> ResponseBody {
        site.files.body(range: range) { try log.file.read(at: $0, count: $1) }
    }

    /// - Throws: 404 for an attempt or a log that is not there; a job that has not started has none yet.
    func open(_ call: Call) async throws -> Log {
        let record = try await site.integration(of: call)
        let job = try call.name("configuration")
        let attempts = try await site.store.attempts(of: record.id).filter { $0.id.job == job }
        let wanted = call.query("attempt")
        if let attempt = wanted == nil
            ? attempts.max(by: { $0.id.attempt < $1.id.attempt })
            : attempts.first(where: { String($0.id.attempt) == wanted })
        {
            let path = "integrations/\(record.id.bot)/\(record.id.number)/\(job)/\(attempt.id.attempt)"
            return try await open(path, attempt: attempt, isEnded: attempt.state.verdict != nil)
        }
        let trigger = try await site.store.triggers(of: record.id)
            .filter { $0.trigger == job && (wanted == nil || String($0.attempt) == wanted) }
            .max { $0.attempt < $1.attempt }
        guard let trigger, let path = trigger.log else { throw Problem.notFound }
        return try await open(path, attempt: nil, isEnded: trigger.endedAt != nil)
    }

    private func open(_ directory: String, attempt: AttemptRecord?, isEnded: Bool) async throws -> Log {
        let path = site.configuration.state + "/" + directory
        let file = try await site.files.run { () throws(ExecutionError) in try AttemptLog.open(in: path) }
        guard let file else { throw Problem(404, "There is no log yet.") }
        return Log(file: file, size: file.size, directory: directory, attempt: attempt, isEnded: isEnded)
    }
}
