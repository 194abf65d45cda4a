import Basics
import CLinux
import Glibc
package import JobProtocol

/// The directory of an attempt from the daemon's side: the daemon writes `job.json` and reads what the supervisor writes.
///
/// Every call reads or writes local files and blocks for that time.
package struct AttemptDirectory: Sendable, Hashable {
    /// The size limit of `status.jsonl` in bytes. 256 steps need some 150 KB.
    package static let statusLimit = 4 << 20

    /// The absolute path.
    package let path: String

    package init(path: String) { self.path = path }

    package var paths: AttemptPaths { AttemptPaths(path) }

    /// Creates the directory and the file of its lock, without holding the lock. Creating the first name after a disk commit is the slowest, so it is
    /// done here rather than by the supervisor.
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
    /// `job.json` before its last event. A power loss before that also ends the supervisor, and the attempt is lost.
    ///
    /// If a daemon was stopped here, its directory is reused as long as no job was launched in it; `job.json` is replaced.
    /// - Parameter tracked: The paths of the commit's files that a step's `report` matches. They count as reports only after a step has changed them.
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

    /// Reads `job.json`.
    /// - Throws: `.notFound`, `.directory`, `.malformed`.
    package func job() throws(ExecutionError) -> JobDescription {
        let bytes = try read(paths.job, limit: JobDescription.sizeLimit)
        do throws(JobProtocolError) {
            return try JobDescription(json: bytes)
        } catch {
            throw ExecutionError(error, attempt: path)
        }
    }

    /// Returns the files of the job that were not copied; empty if all were copied.
    /// - Throws: `.directory`, `.malformed`.
    package func leftOut() throws(ExecutionError) -> [LeftOut] {
        let bytes = try readIfPresent(paths.leftOut, limit: LeftOut.sizeLimit) ?? []
        do throws(JobProtocolError) {
            return try LeftOut.list(bytes)
        } catch {
            throw ExecutionError(error, attempt: path)
        }
    }

    /// Returns all complete events so far; empty if no job was launched.
    /// - Throws: `.directory`, `.malformed`.
    package func status() throws(ExecutionError) -> [StatusEvent] {
        let bytes = try readIfPresent(paths.status, limit: Self.statusLimit) ?? []
        do throws(JobProtocolError) {
            return bytes.isEmpty ? [] : try StatusEvent.events(in: bytes)
        } catch {
            throw ExecutionError(error, attempt: path)
        }
    }

    /// Returns the complete events from `offset` on, and the offset at which the next line begins.
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

    // MARK: Reading files

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

extension AttemptDirectory {
    /// The largest number of bytes that a call of `readLog` returns.
    package static let logReadLimit = 4 << 20

    /// The number of bytes in the log so far; 0 if there is no log.
    package var logSize: Int64 {
        // An unreadable log is treated as empty.
        (try? AttemptLog.open(in: path))??.size ?? 0
    }

    /// Reads a part of the log. Returns fewer bytes than requested near its end; empty at the end, and if there is no log yet.
    /// - Parameter count: The number of bytes, limited to `logReadLimit`.
    /// - Throws: `.directory`; `.malformed` for a damaged compressed log.
    package func readLog(from offset: Int64, count: Int) throws(ExecutionError) -> [UInt8] {
        try AttemptLog.open(in: path)?.read(at: offset, count: min(count, Self.logReadLimit)) ?? []
    }

    /// Reads the records of the index from the index `first` on. A record that is being written is left out.
    /// - Parameter limit: The largest number of records. The default is enough for a log of 64 MiB in lines of 512 bytes.
    /// - Throws: `.directory`.
    package func readIndex(from first: Int = 0, limit: Int = 128 * 1024) throws(ExecutionError) -> [LogIndexRecord] {
        let size = LogIndexRecord.size
        let bytes = try readPart(paths.logIndex, from: Int64(first * size), count: limit * size)
        return (0..<bytes.count / size).compactMap { LogIndexRecord(bytes[$0 * size..<($0 + 1) * size]) }
    }

    /// Reads at most `count` bytes of a file from `offset` on; empty if the file does not exist.
    func readPart(_ file: String, from offset: Int64, count: Int) throws(ExecutionError) -> [UInt8] {
        let descriptor = clinux_open(file, O_RDONLY | O_CLOEXEC, 0)
        guard descriptor >= 0 else {
            if errno == ENOENT { return [] }
            throw failure("open \(file)", errno)
        }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        while bytes.count < count {
            var problem: Int32 = 0
            let wanted = min(count - bytes.count, 1 << 20)
            let part = [UInt8](unsafeUninitializedCapacity: wanted) { buffer, filled in
                let result = pread(descriptor, buffer.baseAddress, wanted, off_t(offset) + bytes.count)
                problem = result < 0 ? errno : 0
                filled = max(0, result)
            }
            guard problem == 0 || problem == EINTR else { throw failure("read \(file)", problem) }
            if part.isEmpty, problem == 0 { break }
            bytes += part
        }
        return bytes
    }

    func failure(_ operation: String, _ number: Int32) -> ExecutionError {
        ExecutionError(.directory, operation, String(cString: strerror(number)))
    }
}
