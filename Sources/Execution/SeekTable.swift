/// The frames of a seekable zstd file, as the table at its end says them (facebook/zstd,
/// contrib/seekable_format/zstd_seekable_compression_format.md, version 0.1.0).
///
/// Any zstd program reads such a file from its beginning: the table is a frame that is skipped.
struct SeekTable: Sendable, Equatable {
    /// Bytes of a log in one frame. As many as a download reads at a time; smaller ones compress worse.
    static let frameBytes = 256 * 1024
    /// A table of more frames is none of ours: 16 GiB of log.
    private static let maximumFrames = 65_536
    /// Of a frame that another program wrote, which may be larger.
    private static let maximumFrameBytes = 16 << 20

    private static let skippableMagic: UInt32 = 0x184D_2A5E
    private static let seekableMagic: UInt32 = 0x8F92_EAB1
    private static let headerBytes = 8
    static let footerBytes = 9

    /// One frame: where it and what is in it begin.
    struct Frame: Sendable, Equatable {
        var place: Int64
        var compressed: Int
        var offset: Int64
        var size: Int
    }

    private(set) var frames: [Frame] = []

    /// Of what was compressed, in bytes.
    var size: Int64 { frames.last.map { $0.offset + Int64($0.size) } ?? 0 }
    /// Of the frames without the table, in bytes.
    var compressedSize: Int64 { frames.last.map { $0.place + Int64($0.compressed) } ?? 0 }

    init() {}

    mutating func append(compressed: Int, size: Int) {
        frames.append(Frame(place: compressedSize, compressed: compressed, offset: self.size, size: size))
    }

    /// The frame that a byte is in; nothing beyond the end.
    func frame(at offset: Int64) -> Int? {
        guard (0..<size).contains(offset) else { return nil }
        var (low, high) = (0, frames.count - 1)
        while low < high {
            let middle = (low + high + 1) / 2
            if frames[middle].offset <= offset { low = middle } else { high = middle - 1 }
        }
        return low
    }

    // MARK: As it is in the file

    /// The table as a frame, with its own header and footer.
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
        // Seek_Table_Descriptor: no checksums here, since each frame has its own.
        output.append(0)
        append(Self.seekableMagic)
        return output
    }

    /// How many bytes the table takes up at the end of a file; nothing when the file's last bytes are no footer of one.
    static func byteCount(footer: [UInt8]) -> Int? {
        guard footer.count == footerBytes, number(footer, 5) == seekableMagic, footer[4] & 0x7F == 0 else { return nil }
        let count = Int(number(footer, 0))
        guard count <= maximumFrames else { return nil }
        return headerBytes + count * entryBytes(footer[4]) + footerBytes
    }

    private static func entryBytes(_ descriptor: UInt8) -> Int { descriptor & 0x80 == 0 ? 8 : 12 }

    /// - Parameters:
    ///   - bytes: The table with header and footer.
    ///   - fileSize: All of the file; the frames must fill what is before the table.
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
