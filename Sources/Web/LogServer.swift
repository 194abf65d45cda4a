import Basics
import HTTPTypes
import Hummingbird
import Model
import Storage

/// Logs as they were printed, secrets masked already: `text/plain`, by ranges, while they grow too.
struct LogServer: Sendable {
    let site: Site

    /// An open log and how long it is now.
    struct Log: Sendable {
        let file: OpenFile
        let size: Int64
        /// `integrations/…/1`, where `log.index` lies beside it; nothing for a trigger's.
        let directory: String?
        let attempt: AttemptRecord?
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
            return Response(status: .ok, headers: headers, body: site.files.body(of: log.file, range: 0..<log.size))
        case .part(let range):
            headers[.contentRange] = "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(log.size)"
            return Response(
                status: .partialContent, headers: headers, body: site.files.body(of: log.file, range: range))
        case .unsatisfiable:
            headers[.contentRange] = "bytes */\(log.size)"
            return Response(status: .rangeNotSatisfiable, headers: headers)
        }
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
            return try await open(path + "/log", directory: path, attempt: attempt)
        }
        let trigger = try await site.store.triggers(of: record.id)
            .filter { $0.trigger == job && (wanted == nil || String($0.attempt) == wanted) }
            .max { $0.attempt < $1.attempt }
        guard let path = trigger?.log else { throw Problem.notFound }
        return try await open(path, directory: nil, attempt: nil)
    }

    private func open(_ path: String, directory: String?, attempt: AttemptRecord?) async throws -> Log {
        let state = site.configuration.state
        do throws(FileError) {
            return try await site.files.run { () throws(FileError) in
                let root = try Directory(opening: state)
                let file = OpenFile(descriptor: try root.openForReading(path))
                let size = try root.status(path)?.size ?? 0
                return Log(file: file, size: size, directory: directory, attempt: attempt)
            }
        } catch  where error.code == .notFound {
            throw Problem(404, "There is no log yet.")
        }
    }
}
