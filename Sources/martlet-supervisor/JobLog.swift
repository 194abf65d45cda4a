import CLinux
import Glibc
import JobProtocol

/// The attempt's log and its index.
struct JobLog {
    /// Reads that come within this time go under one index record, so that a job that prints byte by byte makes no index
    /// larger than its log.
    private static let recordMilliseconds: Int64 = 10
    /// After so many bytes the disk is told to begin with them, so that a step's end does not wait for all of a large log.
    private static let writebackBytes: Int64 = 8 << 20

    private let paths: AttemptPaths
    private var log: Int32 = -1
    private var index: Int32 = -1
    private let limit: Int64
    private var redactor: LogRedactor
    /// What can be shown of what came in last; its room is used again.
    private var shown: [UInt8] = []
    private var size: Int64 = 0
    /// What of it is the job's own, for the limit.
    private var kept: Int64 = 0
    private var writebackFrom: Int64 = 0
    private var line: UInt32 = 1
    private var isAtLineStart = true
    private var step: UInt16 = 0
    private var record: (time: Int64, bytes: Int, flags: LogIndexRecord.Flags, step: UInt16)?
    /// The number of the first write that failed; nothing is written after it.
    private(set) var failure: Int32 = 0
    /// The limit was reached: its marker stands at the end and nothing more of the job is kept.
    private(set) var isFull = false
    /// Lines of ours that wait until what was held back before them is decided: they must not cut a secret in two.
    private var waiting: [String] = []

    init(paths: AttemptPaths, limit: Int64, redactor: LogRedactor) {
        self.paths = paths
        self.limit = limit
        self.redactor = redactor
    }

    /// Makes the files, where that was not done: while a step's program starts, or before the first word of ours.
    mutating func open() {
        guard log < 0, failure == 0 else { return }
        log = clinux_open(paths.log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0o644)
        failure = log < 0 ? errno : 0
        index = clinux_open(paths.logIndex, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0o644)
        failure = failure != 0 ? failure : index < 0 ? errno : 0
    }

    /// What a step is told that printed too much: `log over 64 MiB`.
    var limitWords: String { "log over \(Words.size(limit))" }

    mutating func begin(step: Int) { self.step = UInt16(clamping: step) }

    /// What a step printed.
    mutating func append(_ bytes: [UInt8]) {
        guard !isFull else { return }
        if redactor.isIdle { return keep(bytes) }
        shown.removeAll(keepingCapacity: true)
        bytes.withUnsafeBytes { redactor.redact($0, into: &shown) }
        keep(shown)
        if !waiting.isEmpty, !redactor.isHolding { sayWaiting() }
    }

    /// The step's last bytes are in: also what was held back.
    mutating func endStep() {
        keep(redactor.finish())
        sayWaiting()
    }

    /// The job's last bytes are in: all to the disk, before its last word. Before that nobody relies on them: a job that a loss of power
    /// ends is run again.
    mutating func end() {
        open()
        endStep()
        for file in [log, index] where file >= 0 && fdatasync(file) != 0 && failure == 0 { failure = errno }
        // Their names too, and what was collected beside them.
        if failure == 0 { failure = Descriptor.synchronize(directory: paths.directory) }
    }

    /// A line of ours, on a line of its own. Not counted for the limit. Secrets are masked in it too. It comes after what the step
    /// printed before, also where that may be the beginning of a secret and so is decided later, by `endStep` at the latest.
    mutating func say(_ text: String) {
        waiting.append(text)
        if isFull || !redactor.isHolding { sayWaiting() }
    }

    private mutating func sayWaiting() {
        let lines = waiting
        waiting = []
        for line in lines {
            var own = redactor
            _ = own.finish()
            var bytes = own.redact(Array("martlet: \(line)\n".utf8)) + own.finish()
            if !isAtLineStart { bytes.insert(0x0A, at: 0) }
            write(bytes, flags: .ours)
        }
    }

    private mutating func keep(_ bytes: [UInt8]) {
        guard !isFull else { return }
        let room = limit - kept
        kept += min(room, Int64(bytes.count))
        if Int64(bytes.count) <= room {
            write(bytes, flags: [])
        } else {
            write(Array(bytes.prefix(Int(max(0, room)))), flags: [])
            isFull = true
            say("\(limitWords); the rest is not kept")
        }
    }

    private mutating func write(_ bytes: [UInt8], flags: LogIndexRecord.Flags) {
        open()
        bytes.withUnsafeBytes { bytes in
            var rest = bytes[...]
            while !rest.isEmpty, failure == 0 {
                let chunk = UnsafeRawBufferPointer(rebasing: rest.prefix(LogIndexRecord.chunkLimit))
                rest = rest.dropFirst(chunk.count)
                addRecord(for: chunk.count, flags: flags)
                // The record first: a reader never sees bytes of which it does not know when they came.
                if failure == 0 { failure = Descriptor.writeAll(chunk, to: log) }
                size += Int64(chunk.count)
                line &+= Self.lineEnds(in: chunk)
                isAtLineStart = chunk.last == 0x0A
            }
        }
        if size - writebackFrom >= Self.writebackBytes {
            // Only a beginning: `end()` waits for the disk and says whether it worked.
            clinux_begin_writeback(log, writebackFrom, size - writebackFrom)
            writebackFrom = size
        }
    }

    /// Counts the line feeds, 32 bytes at a time: byte by byte this took longer than writing the log.
    private static func lineEnds(in bytes: UnsafeRawBufferPointer) -> UInt32 {
        typealias Block = SIMD32<UInt8>
        let feeds = Block(repeating: 0x0A)
        var (count, place) = (UInt32(0), 0)
        while bytes.count - place >= Block.scalarCount {
            // Each byte of a block counts to 255 at most.
            var counts = Block.zero
            let end = min(bytes.count - Block.scalarCount, place + 254 * Block.scalarCount)
            while place <= end {
                let block = bytes.loadUnaligned(fromByteOffset: place, as: Block.self)
                // The mask's bytes are -1 where they are equal.
                counts &-= unsafeBitCast(block .== feeds, to: Block.self)
                place += Block.scalarCount
            }
            count &+= UInt32(SIMD32<UInt16>(truncatingIfNeeded: counts).wrappedSum())
        }
        for byte in bytes[place...] where byte == 0x0A { count &+= 1 }
        return count
    }

    private mutating func addRecord(for count: Int, flags: LogIndexRecord.Flags) {
        let now = Time.wallMilliseconds()
        if let last = record, last.flags == flags, last.step == step, last.bytes + count <= LogIndexRecord.chunkLimit,
            0..<Self.recordMilliseconds ~= now - last.time
        {
            record?.bytes += count
            return
        }
        record = (now, count, flags, step)
        let entry = LogIndexRecord(
            offset: UInt64(size), millisecondsSinceEpoch: UInt64(now), firstLine: line, step: step,
            flags: isAtLineStart ? flags : flags.union(.continuesLine))
        failure = Descriptor.writeAll(entry.bytes(), to: index)
    }
}
