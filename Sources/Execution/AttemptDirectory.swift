import Basics
import CLinux
import Glibc
package import JobProtocol

/// One attempt's directory, as the daemon sees it: it writes `job.json`, and reads what the supervisor writes.
///
/// Every call reads or writes a local file and blocks for as long as that takes.
package struct AttemptDirectory: Sendable, Hashable {
    /// The most bytes of `status.jsonl`: 256 steps make some 150 KB.
    package static let statusLimit = 4 << 20

    /// Absolute.
    package let path: String

    package init(path: String) { self.path = path }

    package var paths: AttemptPaths { AttemptPaths(path) }

    /// Makes the directory with the file of its lock, which nobody holds, so that a supervisor finds it there: the first name that is made
    /// after a commit of the disk's costs most, and here others pay it.
    /// - Throws: `.directory`.
    package func make() throws(ExecutionError) {
        do throws(FileError) {
            _ = try Directory(creating: path)
        } catch {
            throw ExecutionError(.directory, "make \(path)", "\(error)", underlying: error)
        }
        let lock = clinux_open(paths.lock, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o644)
        guard lock >= 0 else {
            throw ExecutionError(.directory, "make \(paths.lock)", String(cString: strerror(errno)))
        }
        close(lock)
    }

    /// Creates the directory with its `job.json`. It is not synchronized: the supervisor synchronizes the directory before the first step, and
    /// `job.json` before its last event. A power loss before that ends the supervisor, too, and leaves an attempt that is lost.
    ///
    /// A directory of a daemon that was stopped just here is reused as long as no job was launched in it; its `job.json` is replaced.
    /// - Parameter tracked: The paths of the commit's files that a step's `report` matches; they are no reports before a step changes them.
    /// - Throws: `.exists` if a job was launched in it; `.directory`.
    package func prepare(_ job: JobDescription, tracked: [[UInt8]] = []) throws(ExecutionError) {
        do {
            let directory = try Directory(creating: path)
            guard try directory.status("status.jsonl") == nil else {
                throw ExecutionError(.exists, "prepare \(path)", "an attempt was launched here; make a new one")
            }
            if tracked.isEmpty {
                try directory.remove("tracked")
            } else {
                try directory.write("tracked", bytes: tracked.flatMap { $0 + [0] })
            }
            try directory.write("job.json", bytes: job.json())
        } catch let error as ExecutionError {
            throw error
        } catch {
            throw ExecutionError(.directory, "prepare \(path)", "\(error)", underlying: error)
        }
    }

    /// - Throws: `.notFound`, `.directory`, `.malformed`.
    package func job() throws(ExecutionError) -> JobDescription {
        let bytes = try read(paths.job, limit: JobDescription.sizeLimit)
        do throws(JobProtocolError) {
            return try JobDescription(json: bytes)
        } catch {
            throw ExecutionError(error, attempt: path)
        }
    }

    /// Files of the job that were not copied; empty if all were.
    /// - Throws: `.directory`, `.malformed`.
    package func leftOut() throws(ExecutionError) -> [LeftOut] {
        let bytes = try readIfPresent(paths.leftOut, limit: LeftOut.sizeLimit) ?? []
        do throws(JobProtocolError) {
            return try LeftOut.list(bytes)
        } catch {
            throw ExecutionError(error, attempt: path)
        }
    }

    /// All complete lines so far; empty if no job was launched.
    /// - Throws: `.directory`, `.malformed`.
    package func status() throws(ExecutionError) -> [StatusEvent] {
        let bytes = try readIfPresent(paths.status, limit: Self.statusLimit) ?? []
        do throws(JobProtocolError) {
            return bytes.isEmpty ? [] : try StatusEvent.events(in: bytes)
        } catch {
            throw ExecutionError(error, attempt: path)
        }
    }

    /// The whole lines from `offset` on, and where the next line will begin.
    /// - Throws: `.directory`, `.malformed`.
    func status(from offset: Int64) throws(ExecutionError) -> (events: [StatusEvent], end: Int64) {
        let bytes = try readPart(paths.status, from: offset, count: Self.statusLimit)
        guard let last = bytes.lastIndex(of: 0x0A) else { return ([], offset) }
        do throws(JobProtocolError) {
            return (try StatusEvent.events(in: bytes[...last]), offset + Int64(last) + 1)
        } catch {
            throw ExecutionError(error, attempt: path)
        }
    }

    // MARK: Files as they are

    func read(_ file: String, limit: Int) throws(ExecutionError) -> [UInt8] {
        do throws(FileError) {
            return try WholeFile.read(file, limit: limit)
        } catch {
            throw ExecutionError(
                error.code == .notFound ? .notFound : .directory, error.operation + " " + file, error.message,
                underlying: error)
        }
    }

    func readIfPresent(_ file: String, limit: Int) throws(ExecutionError) -> [UInt8]? {
        do throws(ExecutionError) {
            return try read(file, limit: limit)
        } catch {
            if error.code == .notFound { return nil }
            throw error
        }
    }
}
