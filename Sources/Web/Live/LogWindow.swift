import Basics
import Execution
import JobProtocol

/// The part of a log that a page shows: whole lines of one or several steps.
struct LogWindow: Sendable {
    /// The most bytes of a log on one page. A page of text is a quarter of it when compressed, and one of random characters less than 100 kB.
    static let maximumBytes: Int64 = 96 * 1024
    /// The most lines of a log on one page, which a browser lays out without delay.
    static let maximumLines = 2000
    /// The most bytes since the lines that a page shows already. A progress that is redrawn needs many bytes for a few lines.
    static let sinceBytes: Int64 = 512 * 1024
    /// How many lines a page begins before the line that it is to show.
    static let linesBefore = 40
    /// How many bytes before the page are read for what they begin, such as a color.
    static let leadBytes: Int64 = 16 * 1024
    /// The most times of a page; later lines have none.
    static let maximumRecords = 16_384
    /// The bytes that are read at a time where no index says which line begins where.
    private static let pieceBytes = 1 << 20

    /// Where a page begins.
    enum Place: Sendable {
        /// The last lines, where errors usually are.
        case end
        /// The first line that begins at or after an offset in bytes.
        case offset(Int64)
        /// The first line of a step's output, by its index.
        case step(Int)
        /// Some lines before a line, by its number.
        case line(Int)
        /// A line, for a page that shows the earlier ones already; the end, if there are more than `sinceBytes` since.
        case since(Int)
    }

    /// The output of one step on the page.
    struct Section: Sendable {
        /// The index of the step; `nil` for a log without an index.
        var step: Int?
        /// The number of the first line.
        var firstLine: Int
        /// Whether the step's output began before the page.
        var isContinued: Bool
        /// The number of lines before the first one at the beginning of `bytes`.
        var lead: Int
        var bytes: [UInt8]
    }

    private(set) var start: Int64
    private(set) var end: Int64
    /// The number of the first line.
    private(set) var firstLine: Int
    /// The number of the last line; `firstLine` - 1 if there is none.
    private(set) var lastLine: Int
    private(set) var sections: [Section] = []
    /// The offsets at which the outputs of steps begin, by the steps' indexes.
    let stepStarts: [Int: Int64]
    /// The time of each line, in milliseconds since the epoch, from `firstLine` on. Empty unless they were asked for or without an index.
    private(set) var times: [UInt64] = []

    /// Reads a part of a log. Blocks.
    /// - Parameters:
    ///   - steps: The indexes of the attempt's steps.
    ///   - withTimes: Whether `times` are read.
    /// - Throws: `ExecutionError` or `FileError` if the log cannot be read.
    init(of log: LogServer.Log, in state: String, at place: Place, steps: [Int], withTimes: Bool = false) throws {
        let index = try LogIndex(directory: Directory(opening: state), path: log.directory + "/log.index")
        let reader = Reader(log: log, index: index)
        stepStarts = steps.reduce(into: [:]) { $0[$1] = index?.start(ofStep: $1) }
        let start = try reader.start(of: place, stepStarts: stepStarts)
        // Lines that are redrawn count only once in the page, so those since a line are not limited further.
        var (limit, maximumLines) = (Self.maximumBytes, Self.maximumLines)
        if case .since = place { (limit, maximumLines) = (Self.sinceBytes, .max) }
        var bytes = try log.file.read(at: start, count: Int(min(limit, log.size - start)))
        let feeds = bytes.indices.filter { bytes[$0] == UInt8(ascii: "\n") }
        let isWhole = start + Int64(bytes.count) == log.size && feeds.count <= maximumLines
        if !isWhole, let last = feeds.prefix(maximumLines).last { bytes.removeLast(bytes.count - last - 1) }
        (self.start, end) = (start, start + Int64(bytes.count))
        firstLine = try reader.line(at: start)
        let lines = min(feeds.count, maximumLines) + (bytes.isEmpty || bytes.last == UInt8(ascii: "\n") ? 0 : 1)
        lastLine = firstLine + lines - 1
        sections = try makeSections(bytes, reader)
        if withTimes, let index { times = makeTimes(bytes, index) }
    }

    /// Cuts the part where steps begin. What a step's output begins, such as a color, ends with it.
    private func makeSections(_ bytes: [UInt8], _ reader: Reader) throws -> [Section] {
        guard !bytes.isEmpty else { return [] }
        let record = reader.index?.record(at: start)
        var cuts = stepStarts.map { (step: Int?.some($0.key), offset: $0.value) }
            .filter { start < $0.offset && $0.offset < end }
        cuts.sort { $0.offset < $1.offset }
        cuts.insert((record.map { Int($0.step) }, start), at: 0)
        var (sections, line): ([Section], Int) = ([], firstLine)
        for (place, cut) in cuts.enumerated() {
            let next = place + 1 < cuts.count ? cuts[place + 1].offset : end
            var part = Array(bytes[Int(cut.offset - start)..<Int(next - start)])
            let count = part.count { $0 == UInt8(ascii: "\n") }
            let begin = cut.step.flatMap { stepStarts[$0] } ?? 0
            let isContinued = begin < cut.offset
            var lead: [UInt8] = []
            if isContinued {
                let from = max(begin, cut.offset - Self.leadBytes)
                lead = try reader.log.file.read(at: from, count: Int(cut.offset - from))
                if from > begin {
                    lead.removeFirst(min(lead.count, (lead.firstIndex(of: UInt8(ascii: "\n")) ?? lead.count - 1) + 1))
                }
            }
            let leadLines = lead.count { $0 == UInt8(ascii: "\n") }
            part = lead + part
            sections.append(
                Section(step: cut.step, firstLine: line, isContinued: isContinued, lead: leadLines, bytes: part))
            line += count
        }
        return sections
    }

    private func makeTimes(_ bytes: [UInt8], _ index: LogIndex) -> [UInt64] {
        let records = index.records(in: start..<end, limit: Self.maximumRecords)
        guard !records.isEmpty else { return [] }
        var (times, record, offset): ([UInt64], Int, Int64) = ([], 0, start)
        for line in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
            while record + 1 < records.count, Int64(clamping: records[record + 1].offset) <= offset { record += 1 }
            times.append(records[record].millisecondsSinceEpoch)
            offset += Int64(line.count) + 1
        }
        return times
    }

    /// Finds lines in a log, by its index or, without one, by reading from its beginning.
    struct Reader {
        let log: LogServer.Log
        let index: LogIndex?

        /// Returns the number of the line that contains an offset.
        func line(at offset: Int64) throws -> Int {
            let record = index?.record(at: offset)
            var (line, place) = (Int(record?.firstLine ?? 1), Int64(clamping: record?.offset ?? 0))
            while place < offset {
                let bytes = try log.file.read(at: place, count: Int(min(Int64(LogWindow.pieceBytes), offset - place)))
                if bytes.isEmpty { break }
                line += bytes.count { $0 == UInt8(ascii: "\n") }
                place += Int64(bytes.count)
            }
            return line
        }

        /// Returns the offset at which a line begins; `nil` if the log has fewer lines.
        func offset(ofLine wanted: Int) throws -> Int64? {
            let record = index?.record(beforeLine: wanted)
            var (line, place) = (Int(record?.firstLine ?? 1), Int64(clamping: record?.offset ?? 0))
            if wanted <= line { return wanted == line && place == 0 ? 0 : nil }
            while true {
                let bytes = try log.file.read(
                    at: place, count: index == nil ? LogWindow.pieceBytes : LogIndexRecord.chunkLimit)
                if bytes.isEmpty { return nil }
                for (index, byte) in bytes.enumerated() where byte == UInt8(ascii: "\n") {
                    line += 1
                    if line == wanted { return place + Int64(index) + 1 }
                }
                place += Int64(bytes.count)
            }
        }

        /// Returns the offset at which a page begins: the beginning of a line.
        fileprivate func start(of place: Place, stepStarts: [Int: Int64]) throws -> Int64 {
            switch place {
            case .end: return try end()
            case .offset(let offset): return try lineStart(after: min(max(0, offset), log.size))
            case .step(let step):
                guard let start = stepStarts[step] else { return try end() }
                return start
            case .line(let line):
                guard try offset(ofLine: line) != nil else { return try end() }
                return try offset(ofLine: max(1, line - LogWindow.linesBefore)) ?? 0
            case .since(let line):
                guard let start = try offset(ofLine: max(1, line)), log.size - start <= LogWindow.sinceBytes else {
                    return try end()
                }
                return start
            }
        }

        /// Returns an offset if a line begins there, otherwise the offset of the next line, if there is one.
        private func lineStart(after offset: Int64) throws -> Int64 {
            guard offset > 0 else { return 0 }
            let bytes = try log.file.read(at: offset - 1, count: LogIndexRecord.chunkLimit)
            guard let feed = bytes.firstIndex(of: UInt8(ascii: "\n")) else { return offset }
            return offset + Int64(feed)
        }

        /// Returns where a page of the last lines begins.
        private func end() throws -> Int64 {
            let from = max(0, log.size - LogWindow.maximumBytes)
            let start = from == 0 ? 0 : try lineStart(after: from)
            let bytes = try log.file.read(at: start, count: Int(log.size - start))
            var lines = bytes.last == UInt8(ascii: "\n") || bytes.isEmpty ? 0 : 1
            for index in bytes.indices.reversed() where bytes[index] == UInt8(ascii: "\n") {
                if lines == LogWindow.maximumLines { return start + Int64(index) + 1 }
                lines += 1
            }
            return start
        }
    }
}
