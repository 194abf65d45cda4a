import Execution
import JobProtocol

extension AttemptDirectory {
    /// What of a log is one step's. Chunks are told apart by the log's index, of which a page is in memory at a time: a job
    /// that prints a little all day has some millions of records.
    /// - Throws: `.directory`.
    func logParts() throws(ExecutionError) -> [(step: Int, range: Range<Int64>)] {
        var parts: [(step: Int, range: Range<Int64>)] = []
        var position = 0
        while true {
            let page = try readIndex(from: position, limit: 4096)
            for record in page {
                let offset = Int64(clamping: record.offset)
                if let last = parts.last {
                    if last.step == Int(record.step) { continue }
                    parts[parts.count - 1].range = last.range.lowerBound..<max(last.range.lowerBound, offset)
                }
                parts.append((Int(record.step), offset..<offset))
            }
            guard !page.isEmpty else { break }
            position += page.count
        }
        if let last = parts.last {
            parts[parts.count - 1].range = last.range.lowerBound..<max(last.range.lowerBound, logSize)
        }
        return parts
    }

    /// Reads part of a log a chunk at a time; ends early where the log does.
    /// - Throws: `.directory`.
    func forEachChunk(
        of range: Range<Int64>, bytes: Int, _ body: (UnsafeRawBufferPointer) -> Void
    ) throws(ExecutionError) {
        guard let log = try AttemptLog.open(in: path) else { return }
        var offset = range.lowerBound
        while offset < range.upperBound {
            let chunk = try log.read(at: offset, count: Int(min(Int64(bytes), range.upperBound - offset)))
            guard !chunk.isEmpty else { return }
            chunk.withUnsafeBytes(body)
            offset += Int64(chunk.count)
        }
    }
}
