/// The beginning and the time of a chunk of the log: 24 bytes, little-endian.
package struct LogIndexRecord: Sendable, Equatable {
    package static let size = 24
    /// The size limit of a chunk in bytes.
    package static let chunkLimit = 64 * 1024

    /// The offset of the chunk's first byte in `log`.
    package let offset: UInt64
    /// The time at which the chunk was read, in milliseconds since the epoch.
    package let millisecondsSinceEpoch: UInt64
    /// The number of the line that contains the first byte, counted from 1.
    package let firstLine: UInt32
    /// The index of the step in `job.json`.
    package let step: UInt16
    package let flags: Flags

    /// Properties of a chunk. Unknown bits are kept.
    package struct Flags: OptionSet, Sendable {
        package let rawValue: UInt16
        package init(rawValue: UInt16) { self.rawValue = rawValue }
        /// The chunk continues a line of an earlier chunk.
        package static let continuesLine = Flags(rawValue: 1)
        /// The chunk is from the supervisor itself, not from the step.
        package static let ours = Flags(rawValue: 2)
    }

    package init(offset: UInt64, millisecondsSinceEpoch: UInt64, firstLine: UInt32, step: UInt16, flags: Flags) {
        self.offset = offset
        self.millisecondsSinceEpoch = millisecondsSinceEpoch
        self.firstLine = firstLine
        self.step = step
        self.flags = flags
    }

    /// Decodes a record.
    /// - Returns: `nil` if there are not `size` bytes. The last record of a file that is being written can be
    ///   incomplete.
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

    /// Encodes the record for `log.index`, in `size` bytes.
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
