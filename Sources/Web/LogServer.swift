import Basics
import Execution
import HTTPTypes
import Hummingbird
import Integrations
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
        /// `nil` for a trigger's log.
        let attempt: AttemptRecord?
        /// Which attempt at the configuration, or at the trigger.
        let number: Int
        /// According to the database: the log is complete.
        let isEnded: Bool
    }

    func send(_ call: Call) async throws -> Response {
        let log = try await open(call)
        var headers = HTTPFields()
        headers[.contentType] = "text/plain; charset=utf-8"
        headers[.acceptRanges] = "bytes"
        headers[.cacheControl] = "public, no-cache"
        // Of no use as a cache's key while the log grows; a follower asks for `bytes=N-` and gets 416 until there is more.
        // Which HEAD does not know (RFC 9110, section 14.2).
        let asked = call.request.method == .head ? nil : call.request.headers[.range]
        switch ByteRange(header: asked, size: log.size) {
        case .whole:
            return Response(status: .ok, headers: headers, body: body(of: log, range: 0..<log.size, call))
        case .part(let range):
            headers[.contentRange] = "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(log.size)"
            return Response(status: .partialContent, headers: headers, body: body(of: log, range: range, call))
        case .unsatisfiable:
            headers[.contentRange] = "bytes */\(log.size)"
            return Response(status: .rangeNotSatisfiable, headers: headers)
        }
    }

    private func body(of log: Log, range: Range<Int64>, _ call: Call) -> ResponseBody {
        site.files.body(range: range, call.progress) { try log.file.read(at: $0, count: $1) }
    }

    /// - Throws: 404 for an attempt or a log that is not there; a job that has not started has none yet.
    func open(_ call: Call) async throws -> Log {
        guard let row = try await row(of: call, attempt: call.query("attempt")) else {
            let id = try await site.integration(of: call).id
            throw Problem(404, "\(id) has no such job, trigger or attempt; `martlet show \(id)` lists them.")
        }
        guard let log = try await open(row) else { throw Problem(404, "There is no log yet.") }
        return log
    }

    /// The log of a certain attempt, whatever the request says; `nil` if there is none.
    func open(_ call: Call, attempt: Int) async throws -> Log? {
        guard let row = try await row(of: call, attempt: String(attempt)) else { return nil }
        return try await open(row)
    }

    /// Whether the log of an attempt is complete; also if it was removed.
    func isEnded(_ call: Call, attempt: Int) async throws -> Bool {
        try await row(of: call, attempt: String(attempt))?.isEnded ?? true
    }

    /// Whose log an address names: a configuration's, or a trigger's as its directory is called; by its name alone, too, where no
    /// configuration has it.
    struct Subject {
        let name: Name
        let isTrigger: Bool
        /// As addresses say it.
        var segment: String { isTrigger ? "\(StateDirectory.triggerPrefix)\(name)" : "\(name)" }

        init(trigger: Name) { (name, isTrigger) = (trigger, true) }

        /// - Throws: 404: what is no name cannot exist.
        init(_ call: Call) throws(Problem) {
            let text = call.text("configuration")
            let prefix = StateDirectory.triggerPrefix
            isTrigger = text.hasPrefix(prefix)
            guard let name = Name(isTrigger ? String(text.dropFirst(prefix.count)) : text) else { throw .notFound }
            self.name = name
        }
    }

    /// Whose log it is, by what is stored.
    private struct LogRow {
        /// Relative to the state.
        var directory: String
        var attempt: AttemptRecord?
        var number: Int
        var isEnded: Bool
    }

    /// - Parameter wanted: Which attempt; `nil`: the newest.
    private func row(of call: Call, attempt wanted: String?) async throws -> LogRow? {
        let record = try await site.integration(of: call)
        let subject = try Subject(call)
        let job = subject.name
        let attempts =
            subject.isTrigger ? [] : try await site.store.attempts(of: record.id).filter { $0.id.job == job }
        if !attempts.isEmpty {
            let found =
                wanted == nil
                ? attempts.max(by: { $0.id.attempt < $1.id.attempt })
                : attempts.first(where: { String($0.id.attempt) == wanted })
            guard let attempt = found else { return nil }
            let number = attempt.id.attempt
            return LogRow(
                directory: "integrations/\(record.id.bot)/\(record.id.number)/\(job)/\(number)", attempt: attempt,
                number: number, isEnded: attempt.state.verdict != nil)
        }
        let trigger = try await site.store.triggers(of: record.id)
            .filter { $0.trigger == job && (wanted == nil || String($0.attempt) == wanted) }
            .max { $0.attempt < $1.attempt }
        guard let trigger, let path = trigger.log else { return nil }
        return LogRow(directory: path, attempt: nil, number: trigger.attempt, isEnded: trigger.endedAt != nil)
    }

    private func open(_ row: LogRow) async throws -> Log? {
        let path = site.configuration.state + "/" + row.directory
        let file = try await site.files.run { () throws(ExecutionError) in try AttemptLog.open(in: path) }
        return file.map {
            Log(
                file: $0, size: $0.size, directory: row.directory, attempt: row.attempt, number: row.number,
                isEnded: row.isEnded)
        }
    }
}
