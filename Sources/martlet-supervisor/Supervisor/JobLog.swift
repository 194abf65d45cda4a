import CLinux
import Glibc
import JobProtocol
import Processes
import Redaction

/// Writes an attempt's log and its index.
struct JobLog {
    /// Reads within this time share one index record, so that the index of a job that prints byte by byte does not become larger than the log.
    private static let recordMilliseconds: Int64 = 10
    /// After this many bytes the kernel is asked to start writing them to disk, so that a step's end does not wait for the whole of a large log.
    private static let writebackBytes: Int64 = 8 << 20

    private let paths: AttemptPaths
    private var log: Int32 = -1
    private var index: Int32 = -1
    private let limit: Int64
    private var redactor: LogRedactor
    /// A reused buffer for the output after masking.
    private var shown: [UInt8] = []
    private var size: Int64 = 0
    /// The number of bytes that count for the limit: the job's own output.
    private var kept: Int64 = 0
    private var writebackFrom: Int64 = 0
    private var line: UInt32 = 1
    private var isAtLineStart = true
    private var step: UInt16 = 0
    private var record: (time: Int64, bytes: Int, flags: LogIndexRecord.Flags, step: UInt16)?
    /// The error number of the first failed write; 0 if none failed. After a failure the log is not written any more.
    private(set) var failure: Int32 = 0
    /// Whether the limit was reached. The log then ends with a marker, and further output of the job is dropped.
    private(set) var isFull = false
    /// The supervisor's lines that wait until the masked output before them is written, so that they do not split a secret.
    private var waiting: [String] = []

    init(paths: AttemptPaths, limit: Int64, redactor: LogRedactor) {
        self.paths = paths
        self.limit = limit
        self.redactor = redactor
    }

    /// Creates the files unless they exist. It is called while a step's program starts, or before the supervisor's first line.
    mutating func open() {
        guard log < 0, failure == 0 else { return }
        log = clinux_open(paths.log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0o644)
        failure = log < 0 ? errno : 0
        index = clinux_open(paths.logIndex, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0o644)
        failure = failure != 0 ? failure : index < 0 ? errno : 0
    }

    /// The limit that a step exceeded, in words: `log over 64 MiB`.
    var limitWords: String { "log over \(Words.size(limit))" }

    mutating func begin(step: Int) { self.step = UInt16(clamping: step) }

    /// Adds a step's output.
    mutating func append(_ bytes: [UInt8]) {
        guard !isFull else { return }
        if redactor.isIdle { return keep(bytes) }
        shown.removeAll(keepingCapacity: true)
        bytes.withUnsafeBytes { redactor.redact($0, into: &shown) }
        keep(shown)
        if !waiting.isEmpty, !redactor.isHolding { sayWaiting() }
    }

    /// Ends a step's output, and writes what masking has held back.
    mutating func endStep() {
        keep(redactor.finish())
        sayWaiting()
    }

    /// Ends the log and writes all to disk, before the job's last event. Until then no process relies on the log: a job that is interrupted by a
    /// power failure runs again.
    mutating func end() {
        open()
        endStep()
        for file in [log, index] where file >= 0 && fdatasync(file) != 0 && failure == 0 { failure = errno }
        // The names as well, and the files that were collected beside them.
        if failure == 0 { failure = Descriptor.synchronize(directory: paths.directory) }
    }

    /// Adds a line of the supervisor. It does not count for the limit. Secrets in it are masked. It follows all earlier output of the step. If the
    /// end of that output may be the beginning of a secret, the line waits, at most until `endStep`.
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
                // The record is written first, so that a reader always knows when the bytes that it sees were printed.
                if failure == 0 { failure = Descriptor.writeAll(chunk, to: log) }
                size += Int64(chunk.count)
                line &+= Self.lineEnds(in: chunk)
                isAtLineStart = chunk.last == 0x0A
            }
        }
        if size - writebackFrom >= Self.writebackBytes {
            // This only starts writing: `end()` waits for the disk and returns errors.
            clinux_begin_writeback(log, writebackFrom, size - writebackFrom)
            writebackFrom = size
        }
    }

    /// Counts the line feeds, 32 bytes at a time. Counting byte by byte took longer than writing the log.
    private static func lineEnds(in bytes: UnsafeRawBufferPointer) -> UInt32 {
        typealias Block = SIMD32<UInt8>
        let feeds = Block(repeating: 0x0A)
        var (count, place) = (UInt32(0), 0)
        while bytes.count - place >= Block.scalarCount {
            // A byte of the block counts to 255 at most.
            var counts = Block.zero
            let end = min(bytes.count - Block.scalarCount, place + 254 * Block.scalarCount)
            while place <= end {
                let block = bytes.loadUnaligned(fromByteOffset: place, as: Block.self)
                // Equal bytes are -1 in the mask.
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
