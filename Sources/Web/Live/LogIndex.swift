import Basics
import Glibc
import JobProtocol

/// The index of a log's lines and steps. Records are found by bisection in the file, because a log of 64 MiB that was printed byte by byte has many.
struct LogIndex: Sendable {
    private let file: OpenFile
    private let count: Int64

    /// Opens the index of a log. Blocks.
    /// - Returns: `nil` if there is no index yet.
    init?(directory: Directory, path: String) throws(FileError) {
        guard let status = try directory.status(path), status.size >= Int64(LogIndexRecord.size) else { return nil }
        file = OpenFile(descriptor: try directory.openForReading(path))
        count = status.size / Int64(LogIndexRecord.size)
    }

    /// Returns the last record that begins at or before `offset`; `nil` if there is none. Blocks for about 20 small reads.
    func record(at offset: Int64) -> LogIndexRecord? {
        last { Int64(clamping: $0.offset) <= offset }
    }

    /// Returns the offset in bytes where a step's output begins; `nil` if the step has none. Blocks for about 20 small reads.
    func start(ofStep step: Int) -> Int64? {
        var (low, high) = (Int64(0), count)
        while low < high {
            let middle = low + (high - low) / 2
            guard let record = read(middle) else { return nil }
            if Int(record.step) < step { low = middle + 1 } else { high = middle }
        }
        guard let record = read(low), Int(record.step) == step else { return nil }
        return Int64(clamping: record.offset)
    }

    /// Returns the last record that begins before a line, or in it if it is the first; `nil` if there is none. The line begins at most 64 KiB
    /// (`LogIndexRecord.chunkLimit`) later. Blocks for about 20 small reads.
    func record(beforeLine line: Int) -> LogIndexRecord? {
        last { Int($0.firstLine) < max(2, line) }
    }

    /// Returns the records that begin in a range of the log, after the one that its first byte belongs to. Blocks.
    /// - Parameter limit: The most records. A job that prints a byte a while makes as many as bytes.
    func records(in range: Range<Int64>, limit: Int) -> [LogIndexRecord] {
        var (low, high) = (Int64(0), count)
        while low < high {
            let middle = low + (high - low) / 2
            guard let record = read(middle) else { return [] }
            if Int64(clamping: record.offset) <= range.lowerBound { low = middle + 1 } else { high = middle }
        }
        let start = max(0, low - 1)
        let wanted = Int(min(Int64(limit), count - start)) * LogIndexRecord.size
        guard let bytes = try? file.read(at: start * Int64(LogIndexRecord.size), count: wanted) else { return [] }
        return stride(from: 0, to: bytes.count, by: LogIndexRecord.size).compactMap {
            LogIndexRecord(bytes[$0..<min(bytes.count, $0 + LogIndexRecord.size)])
        }.filter { Int64(clamping: $0.offset) < range.upperBound }
    }

    private func last(where isBefore: (LogIndexRecord) -> Bool) -> LogIndexRecord? {
        var (low, high) = (Int64(0), count)
        var found: LogIndexRecord?
        while low < high {
            let middle = low + (high - low) / 2
            guard let record = read(middle) else { return found }
            if isBefore(record) {
                found = record
                low = middle + 1
            } else {
                high = middle
            }
        }
        return found
    }

    private func read(_ index: Int64) -> LogIndexRecord? {
        // If the index cannot be read, only the line numbers are missing.
        guard let bytes = try? file.read(at: index * Int64(LogIndexRecord.size), count: LogIndexRecord.size) else {
            return nil
        }
        return LogIndexRecord(bytes)
    }
}
