/// The frames of a seekable zstd file, from the table at its end (facebook/zstd,
/// contrib/seekable_format/zstd_seekable_compression_format.md, version 0.1.0).
///
/// Any zstd program can read such a file from its beginning, because the table is a skippable frame.
struct SeekTable: Sendable, Equatable {
    /// The number of bytes of a log in one frame. It is what a download reads at a time; smaller frames compress worse.
    static let frameBytes = 256 * 1024
    /// The largest number of frames, for 16 GiB of log. A table with more is refused.
    private static let maximumFrames = 65_536
    /// The size limit of a frame in bytes. Frames of other programs may be larger than `frameBytes`.
    private static let maximumFrameBytes = 16 << 20

    private static let skippableMagic: UInt32 = 0x184D_2A5E
    private static let seekableMagic: UInt32 = 0x8F92_EAB1
    private static let headerBytes = 8
    static let footerBytes = 9

    /// A frame: its place and size in the file, and the offset and size of its content.
    struct Frame: Sendable, Equatable {
        var place: Int64
        var compressed: Int
        var offset: Int64
        var size: Int
    }

    private(set) var frames: [Frame] = []

    /// The uncompressed size in bytes.
    var size: Int64 { frames.last.map { $0.offset + Int64($0.size) } ?? 0 }
    /// The size in bytes of the frames in the file, without the table.
    var compressedSize: Int64 { frames.last.map { $0.place + Int64($0.compressed) } ?? 0 }

    init() {}

    mutating func append(compressed: Int, size: Int) {
        frames.append(Frame(place: compressedSize, compressed: compressed, offset: self.size, size: size))
    }

    /// Returns the index of the frame that contains a byte; `nil` beyond the end.
    func frame(at offset: Int64) -> Int? {
        guard (0..<size).contains(offset) else { return nil }
        var (low, high) = (0, frames.count - 1)
        while low < high {
            let middle = (low + high + 1) / 2
            if frames[middle].offset <= offset { low = middle } else { high = middle - 1 }
        }
        return low
    }

    // MARK: Encoding and decoding

    /// Encodes the table as a frame, with its header and footer.
    func bytes() -> [UInt8] {
        var output: [UInt8] = []
        func append(_ value: UInt32) { withUnsafeBytes(of: value.littleEndian) { output += $0 } }
        append(Self.skippableMagic)
        append(UInt32(frames.count * 8 + Self.footerBytes))
        for frame in frames {
            append(UInt32(frame.compressed))
            append(UInt32(frame.size))
        }
        append(UInt32(frames.count))
        // Seek_Table_Descriptor: without checksums in the table, because each frame has its own.
        output.append(0)
        append(Self.seekableMagic)
        return output
    }

    /// Returns the size in bytes of the table at the end of a file; `nil` if the file's last bytes are not the footer
    /// of a table.
    static func byteCount(footer: [UInt8]) -> Int? {
        guard footer.count == footerBytes, number(footer, 5) == seekableMagic, footer[4] & 0x7F == 0 else { return nil }
        let count = Int(number(footer, 0))
        guard count <= maximumFrames else { return nil }
        return headerBytes + count * entryBytes(footer[4]) + footerBytes
    }

    private static func entryBytes(_ descriptor: UInt8) -> Int { descriptor & 0x80 == 0 ? 8 : 12 }

    /// Decodes a table.
    /// - Parameters:
    ///   - bytes: The table with header and footer.
    ///   - fileSize: The size of the file in bytes. The frames must fill it up to the table.
    /// - Returns: `nil` if the bytes are not such a table.
    init?(_ bytes: [UInt8], fileSize: Int64) {
        guard bytes.count >= Self.headerBytes + Self.footerBytes,
            Self.byteCount(footer: Array(bytes.suffix(Self.footerBytes))) == bytes.count,
            Self.number(bytes, 0) == Self.skippableMagic,
            Int(Self.number(bytes, 4)) == bytes.count - Self.headerBytes
        else { return nil }
        let entry = Self.entryBytes(bytes[bytes.count - 5])
        for start in stride(from: Self.headerBytes, to: bytes.count - Self.footerBytes, by: entry) {
            let (compressed, size) = (Int(Self.number(bytes, start)), Int(Self.number(bytes, start + 4)))
            guard compressed <= Self.maximumFrameBytes, size <= Self.maximumFrameBytes else { return nil }
            append(compressed: compressed, size: size)
        }
        guard compressedSize + Int64(bytes.count) == fileSize else { return nil }
    }

    private static func number(_ bytes: [UInt8], _ start: Int) -> UInt32 {
        (0..<4).reduce(0) { $0 | UInt32(bytes[start + $1]) << (8 * UInt32($1)) }
    }
}
