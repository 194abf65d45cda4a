import Execution
import JobProtocol

extension AttemptDirectory {
    /// Returns the parts of the log, in its order, each with the number of the step that wrote it and its range in bytes. The log's index tells the
    /// steps apart. It is read in pages of 4096 records, because a job that prints a little all day has some millions of them.
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
}
