import Basics
import Glibc
import JobProtocol

/// The records of a log, found by bisection in the file: a log of 64 MiB printed byte by byte has many.
struct LogIndex: Sendable {
    private let file: OpenFile
    private let count: Int64

    /// Nothing when there is no index yet. Blocks.
    init?(directory: Directory, path: String) throws(FileError) {
        guard let status = try directory.status(path), status.size >= Int64(LogIndexRecord.size) else { return nil }
        file = OpenFile(descriptor: try directory.openForReading(path))
        count = status.size / Int64(LogIndexRecord.size)
    }

    /// The last record that begins at or before `offset`. Blocks for about 20 small reads.
    func record(at offset: Int64) -> LogIndexRecord? {
        last { Int64(clamping: $0.offset) <= offset }
    }

    /// Where a step's first output begins. Blocks for about 20 small reads.
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
        // An index that cannot be read only costs the line numbers.
        guard let bytes = try? file.read(at: index * Int64(LogIndexRecord.size), count: LogIndexRecord.size) else {
            return nil
        }
        return LogIndexRecord(bytes)
    }
}
