/// Where a chunk of the log begins and when it was read: 24 bytes, little-endian.
package struct LogIndexRecord: Sendable, Equatable {
    package static let size = 24
    /// The most bytes of the log that one record stands for.
    package static let chunkLimit = 64 * 1024

    /// The first byte's offset in `log`.
    package let offset: UInt64
    /// When the chunk was read, in milliseconds since the epoch.
    package let millisecondsSinceEpoch: UInt64
    /// The number of the line that the first byte belongs to, from 1.
    package let firstLine: UInt32
    /// The step's index in `job.json`.
    package let step: UInt16
    package let flags: Flags

    /// What else is to be said of a chunk. Bits that this version does not know are kept.
    package struct Flags: OptionSet, Sendable {
        package let rawValue: UInt16
        package init(rawValue: UInt16) { self.rawValue = rawValue }
        /// The chunk goes on with a line that an earlier one began.
        package static let continuesLine = Flags(rawValue: 1)
        /// Written by the supervisor itself, not printed by the step.
        package static let ours = Flags(rawValue: 2)
    }

    package init(offset: UInt64, millisecondsSinceEpoch: UInt64, firstLine: UInt32, step: UInt16, flags: Flags) {
        self.offset = offset
        self.millisecondsSinceEpoch = millisecondsSinceEpoch
        self.firstLine = firstLine
        self.step = step
        self.flags = flags
    }

    /// Nothing when there are not `size` bytes: the last record of a file that is being written can be cut.
    package init?(_ bytes: some Collection<UInt8>) {
        guard bytes.count == Self.size else { return nil }
        let bytes = Array(bytes)
        func number<T: FixedWidthInteger>(_ start: Int, as type: T.Type) -> T {
            (0..<MemoryLayout<T>.size).reduce(0) { $0 | T(bytes[start + $1]) << T(8 * $1) }
        }
        self.init(
            offset: number(0, as: UInt64.self), millisecondsSinceEpoch: number(8, as: UInt64.self),
            firstLine: number(16, as: UInt32.self), step: number(20, as: UInt16.self),
            flags: Flags(rawValue: number(22, as: UInt16.self)))
    }

    /// The record as it is in `log.index`: `size` bytes.
    package func bytes() -> [UInt8] {
        var output: [UInt8] = []
        func append(_ value: some FixedWidthInteger) {
            withUnsafeBytes(of: value.littleEndian) { output += $0 }
        }
        append(offset)
        append(millisecondsSinceEpoch)
        append(firstLine)
        append(step)
        append(flags.rawValue)
        return output
    }
}
