import Basics
import CLibArchive
import Glibc

/// A libarchive handle of an archive that is being written. Only one thread may use it at a time.
final class ArchiveOutput {
    private let archive: OpaquePointer
    private let descriptor: Int32
    private let path: String
    private let seconds: Int64
    private let operation: String
    private var isOpen = true

    init(format: ArchiveFormat, path: String, seconds: Int64, operation: String) throws(ArchiveError) {
        guard let archive = archive_write_new() else {
            throw ArchiveError(code: .library, operation: operation, message: "no memory for the archive")
        }
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o644)
        guard descriptor >= 0 else {
            let error = FileError(operation: "open", path: path, errno: errno)
            archive_write_free(archive)
            throw ArchiveError(
                code: .file, operation: operation, message: "\(path) cannot be made: \(error.message)",
                underlying: error)
        }
        (self.archive, self.descriptor, self.path) = (archive, descriptor, path)
        (self.seconds, self.operation) = (seconds, operation)
        do throws(ArchiveError) {
            try configure(format)
            try check(archive_write_open_fd(archive, descriptor))
        } catch {
            abandon()
            throw error
        }
    }

    deinit {
        archive_write_free(archive)
        if isOpen { Glibc.close(descriptor) }
    }

    private func configure(_ format: ArchiveFormat) throws(ArchiveError) {
        switch format {
        case .tarZstandard:
            try check(archive_write_set_format_gnutar(archive))
            try check(archive_write_add_filter_zstd(archive))
            // Level 3 compressed a static library of 47 MB (libFoundationICU.a) to 16.0 MB at 58 MB/s; level 9 to 14.3 MB at 13 MB/s (zstd 1.5.4, one
            // core).
            try check(archive_write_set_filter_option(archive, "zstd", "compression-level", "3"))
        case .tarGzip:
            try check(archive_write_set_format_gnutar(archive))
            try check(archive_write_add_filter_gzip(archive))
            try check(archive_write_set_filter_option(archive, "gzip", "timestamp", nil))
            try check(archive_write_set_filter_option(archive, "gzip", "compression-level", "9"))
        case .zip:
            try check(archive_write_set_format_zip(archive))
            try check(archive_write_set_format_option(archive, "zip", "compression", "deflate"))
        }
        if format != .zip {
            // No padding to tape blocks after the end (archive_write_blocksize(3)).
            try check(archive_write_set_bytes_in_last_block(archive, 1))
        }
    }

    func addDirectory(_ name: [UInt8]) throws(ArchiveError) {
        try header(name, type: S_IFDIR, mode: 0o755) { _ in }
    }

    func addLink(_ name: [UInt8], target: [UInt8]) throws(ArchiveError) {
        try header(name, type: S_IFLNK, mode: 0o777) { entry in
            (target + [0]).withUnsafeBufferPointer { buffer in
                buffer.withMemoryRebound(to: CChar.self) { archive_entry_set_symlink(entry, $0.baseAddress) }
            }
        }
    }

    /// Adds a regular file of a directory.
    /// - Throws: `corrupted` if the file does not have the expected size in bytes.
    func addFile(
        _ name: [UInt8], at path: [UInt8], in directory: Directory, size: Int64, isExecutable: Bool
    ) throws {
        let source = try directory.openForReading(path)
        defer { Glibc.close(source) }
        try header(name, type: S_IFREG, mode: isExecutable ? 0o755 : 0o644) {
            archive_entry_set_size($0, la_int64_t(size))
        }
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 256 << 10, alignment: 16)
        defer { buffer.deallocate() }
        var left = size
        let changed = ArchiveError(
            code: .corrupted, operation: operation,
            message:
                "\(String(decoding: path, as: UTF8.self)) changed while it was read; does something still write there?")
        while true {
            let count = read(source, buffer.baseAddress, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else {
                throw FileError(operation: "read", path: String(decoding: path, as: UTF8.self), errno: errno)
            }
            if count == 0 { break }
            left -= Int64(count)
            guard left >= 0 else { throw changed }
            guard archive_write_data(archive, buffer.baseAddress, count) == count else { throw libraryError }
        }
        guard left == 0 else { throw changed }
    }

    /// Adds a small file with the given content.
    func addFile(_ name: [UInt8], bytes: [UInt8]) throws(ArchiveError) {
        try header(name, type: S_IFREG, mode: 0o644) { archive_entry_set_size($0, la_int64_t(bytes.count)) }
        guard bytes.withUnsafeBytes({ archive_write_data(archive, $0.baseAddress, bytes.count) }) == bytes.count else {
            throw libraryError
        }
    }

    /// Writes the end of the archive and synchronizes the file.
    func close() throws(ArchiveError) {
        try check(archive_write_close(archive))
        guard fchmod(descriptor, 0o644) == 0, fsync(descriptor) == 0 else {
            let error = FileError(operation: "fsync", path: path, errno: errno)
            throw ArchiveError(code: .file, operation: operation, message: "fsync: \(error.message)", underlying: error)
        }
        isOpen = false
        Glibc.close(descriptor)
    }

    /// Removes the unfinished archive.
    func abandon() {
        archive_write_fail(archive)
        unlink(path)
    }

    // MARK: Steps

    private func header(
        _ name: [UInt8], type: mode_t, mode: mode_t, _ more: (OpaquePointer) -> Void
    ) throws(ArchiveError) {
        guard let entry = archive_entry_new() else {
            throw ArchiveError(code: .library, operation: operation, message: "no memory for an entry")
        }
        defer { archive_entry_free(entry) }
        (name + [0]).withUnsafeBufferPointer { buffer in
            buffer.withMemoryRebound(to: CChar.self) { archive_entry_set_pathname(entry, $0.baseAddress) }
        }
        archive_entry_set_filetype(entry, UInt32(type))
        archive_entry_set_perm(entry, mode)
        archive_entry_set_uid(entry, 0)
        archive_entry_set_gid(entry, 0)
        archive_entry_set_mtime(entry, time_t(seconds), 0)
        more(entry)
        try check(archive_write_header(archive, entry))
    }

    /// Throws unless an operation succeeded. ARCHIVE_WARN counts as a failure: an archive with a warning, such as a name that cannot be stored, must
    /// not be published.
    private func check(_ result: Int32) throws(ArchiveError) {
        guard result == ARCHIVE_OK else { throw libraryError }
    }

    private var libraryError: ArchiveError {
        let text = archive_error_string(archive).map { String(cString: $0) } ?? "no reason given"
        let isFull = archive_errno(archive) == ENOSPC
        return ArchiveError(
            code: isFull ? .file : .library, operation: operation,
            message: isFull ? "the disk is full; make room and run it again" : "libarchive: \(text)",
            underlying: isFull ? FileError(operation: "write", path: path, errno: ENOSPC) : nil)
    }
}
