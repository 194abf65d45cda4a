import Basics
import Execution
import HTTPTypes
import Hummingbird
import Integrations
import Model
import Storage

/// Serves logs as `text/plain`, with ranges, also while they grow. Secrets are masked before a log is written.
struct LogServer: Sendable {
    let site: Site

    /// An open log and its current size.
    struct Log: Sendable {
        let file: AttemptLog
        let size: Int64
        /// The attempt's directory relative to the state directory. `log.index` is in it, too.
        let directory: String
        /// `nil` for a trigger's log.
        let attempt: AttemptRecord?
        /// The number of the attempt at the configuration, or at the trigger.
        let number: Int
        /// Whether the log is complete according to the database.
        let isEnded: Bool
    }

    func send(_ call: AuthorizedRequest) async throws -> Response {
        let log = try await open(call)
        var headers = HTTPFields()
        headers[.contentType] = "text/plain; charset=utf-8"
        headers[.acceptRanges] = "bytes"
        headers[.cacheControl] = "public, no-cache"
        // A cache cannot use the answer while the log grows. A client that follows the log asks for `bytes=N-` and gets 416 until there is more. HEAD
        // ignores ranges (RFC 9110, section 14.2).
        let asked = call.request.method == .head ? nil : call.request.headers[.range]
        switch ByteRange(header: asked, size: log.size) {
        case .whole:
            let whole = Response(status: .ok, headers: headers, body: body(of: log, range: 0..<log.size, call))
            return whole.coded(for: call) { _ in
                site.files.codedBody(range: 0..<log.size, call.progress) { try log.file.read(at: $0, count: $1) }
            }
        case .part(let range):
            headers[.contentRange] = "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(log.size)"
            return Response(status: .partialContent, headers: headers, body: body(of: log, range: range, call))
        case .unsatisfiable:
            headers[.contentRange] = "bytes */\(log.size)"
            return Response(status: .rangeNotSatisfiable, headers: headers)
        }
    }

    private func body(of log: Log, range: Range<Int64>, _ call: AuthorizedRequest) -> ResponseBody {
        site.files.body(range: range, call.progress) { try log.file.read(at: $0, count: $1) }
    }

    /// Opens the log that a request names.
    /// - Throws: 404 for an attempt or a log that does not exist. A job that has not started has no log.
    func open(_ call: AuthorizedRequest) async throws -> Log {
        guard let row = try await row(of: call, attempt: call.query("attempt")) else {
            let id = try await site.integration(of: call).id
            throw Problem(404, "\(id) has no such job, trigger or attempt; `martlet show \(id)` lists them.")
        }
        guard let log = try await open(row) else { throw Problem(404, "There is no log yet.") }
        return log
    }

    /// Opens the log of a certain attempt, whatever the request states; `nil` if there is none.
    func open(_ call: AuthorizedRequest, attempt: Int) async throws -> Log? {
        guard let row = try await row(of: call, attempt: String(attempt)) else { return nil }
        return try await open(row)
    }

    /// Returns whether the log of an attempt is complete or was removed.
    func isEnded(_ call: AuthorizedRequest, attempt: Int) async throws -> Bool {
        try await row(of: call, attempt: String(attempt))?.isEnded ?? true
    }

    /// The owner of a log that a path names: a configuration or a trigger. A trigger is written with the prefix of its directory, or by its name
    /// alone if no configuration has that name.
    struct Subject {
        let name: Name
        let isTrigger: Bool
        /// The path segment of this subject.
        var segment: String { isTrigger ? "\(StateDirectory.triggerPrefix)\(name)" : "\(name)" }

        init(trigger: Name) { (name, isTrigger) = (trigger, true) }

        /// Parses the path's segment.
        /// - Throws: 404 if it is not a valid name, since nothing can have that name.
        init(_ call: AuthorizedRequest) throws(Problem) { try self.init(segment: call.text("configuration")) }

        /// Parses a path's segment.
        /// - Throws: 404 if it is not a valid name, since nothing can have that name.
        init(segment text: String) throws(Problem) {
            let prefix = StateDirectory.triggerPrefix
            isTrigger = text.hasPrefix(prefix)
            guard let name = Name(isTrigger ? String(text.dropFirst(prefix.count)) : text) else { throw .notFound }
            self.name = name
        }
    }

    /// The log's attempt or trigger, according to the database.
    struct LogRow: Sendable {
        /// The directory relative to the state directory.
        var directory: String
        var attempt: AttemptRecord?
        var number: Int
        var isEnded: Bool
    }

    /// Finds the attempt or trigger of a log.
    /// - Parameter wanted: The attempt's number; `nil`: the newest.
    /// - Returns: `nil` if there is none.
    private func row(of call: AuthorizedRequest, attempt wanted: String?) async throws -> LogRow? {
        try await row(of: try await site.integration(of: call).id, Subject(call), attempt: wanted)
    }

    /// Finds the attempt or trigger of a log.
    /// - Parameter wanted: The attempt's number; `nil`: the newest.
    /// - Returns: `nil` if there is none.
    func row(of id: IntegrationID, _ subject: Subject, attempt wanted: String?) async throws -> LogRow? {
        let job = subject.name
        let attempts =
            subject.isTrigger ? [] : try await site.store.attempts(of: id).filter { $0.id.job == job }
        if !attempts.isEmpty {
            let found =
                wanted == nil
                ? attempts.max(by: { $0.id.attempt < $1.id.attempt })
                : attempts.first(where: { String($0.id.attempt) == wanted })
            guard let attempt = found else { return nil }
            let number = attempt.id.attempt
            return LogRow(
                directory: "integrations/\(id.bot)/\(id.number)/\(job)/\(number)", attempt: attempt,
                number: number, isEnded: attempt.state.verdict != nil)
        }
        let trigger = try await site.store.triggers(of: id)
            .filter { $0.trigger == job && (wanted == nil || String($0.attempt) == wanted) }
            .max { $0.attempt < $1.attempt }
        guard let trigger, let path = trigger.log else { return nil }
        return LogRow(directory: path, attempt: nil, number: trigger.attempt, isEnded: trigger.endedAt != nil)
    }

    /// Opens a log.
    /// - Returns: `nil` if the job has not printed anything.
    func open(_ row: LogRow) async throws -> Log? {
        let path = site.configuration.state + "/" + row.directory
        let file = try await site.files.run { () throws(ExecutionError) in try AttemptLog.open(in: path) }
        return file.map {
            Log(
                file: $0, size: $0.size, directory: row.directory, attempt: row.attempt, number: row.number,
                isEnded: row.isEnded)
        }
    }
}
