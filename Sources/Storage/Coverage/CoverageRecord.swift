import Model

/// The encoding of a coverage's files as zstd-compressed sections of 1,024 files. Each path is stored without the prefix it shares with the path
/// before. A file takes about ten bytes.
enum CoverageRecord {
    private static let version: UInt8 = 1
    /// With paths of at most `Store.maximumTextBytes`, a section stays below `RecordReader.maximumSectionBytes`.
    private static let filesOfASection = 1024
    /// The most files that a coverage reader accepts.
    private static let maximumFiles = 100_000

    static func bytes(of coverage: Coverage, _ zstd: Zstd) throws -> [UInt8] {
        var record = RecordWriter()
        record.byte(version)
        let files = coverage.files.prefix(maximumFiles)
        record.number(files.count)
        for start in stride(from: 0, to: files.count, by: filesOfASection) {
            var section = RecordWriter()
            var before: [UInt8] = []
            for file in files[start..<min(start + filesOfASection, files.count)] {
                let path = Array(file.path.kept.utf8)
                let shared = zip(before, path).prefix { $0 == $1 }.count
                section.number(shared)
                section.number(path.count - shared)
                for byte in path[shared...] { section.byte(byte) }
                write(file.lines, to: &section)
                write(file.functions, to: &section)
                write(file.branches, to: &section)
                before = path
            }
            try record.section(section.bytes, zstd)
        }
        return record.bytes
    }

    /// Writes the total plus one, or 0 if there is no share. Then writes the number of uncovered items, which is usually small.
    private static func write(_ share: Coverage.Share?, to writer: inout RecordWriter) {
        guard let share else { return writer.number(0) }
        let total = min(share.total, maximumTotal)
        writer.number(total + 1)
        writer.number(total - min(share.covered, total))
    }

    private static let maximumTotal = 1 << 60

    /// - Throws: `RecordReader.Damaged` for bytes that `bytes(of:_:)` never writes.
    static func coverage(_ bytes: [UInt8], _ zstd: Zstd) throws -> Coverage {
        var reader = RecordReader(bytes[...])
        guard try reader.byte() == version else { throw RecordReader.Damaged() }
        let count = try reader.count(limit: maximumFiles)
        var files: [Coverage.File] = []
        files.reserveCapacity(count)
        while files.count < count {
            var section = RecordReader(try RecordReader.expanded(try reader.section(), zstd))
            var path: [UInt8] = []
            for _ in 0..<min(filesOfASection, count - files.count) {
                let shared = try section.count(limit: path.count)
                path.removeLast(path.count - shared)
                for _ in 0..<(try section.count(limit: Store.maximumTextBytes - shared)) {
                    path.append(try section.byte())
                }
                guard let lines = try share(&section) else { throw RecordReader.Damaged() }
                files.append(
                    Coverage.File(
                        path: String(decoding: path, as: UTF8.self), lines: lines, functions: try share(&section),
                        branches: try share(&section)))
            }
            guard section.isAtEnd else { throw RecordReader.Damaged() }
        }
        guard reader.isAtEnd else { throw RecordReader.Damaged() }
        return Coverage(files: files)
    }

    private static func share(_ reader: inout RecordReader) throws -> Coverage.Share? {
        let total = try reader.count(limit: maximumTotal + 1)
        guard total > 0 else { return nil }
        return Coverage.Share(covered: total - 1 - (try reader.count(limit: total - 1)), total: total - 1)
    }
}
