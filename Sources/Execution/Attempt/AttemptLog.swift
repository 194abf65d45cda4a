import CLinux
import Glibc
import Synchronization

/// The log of an attempt, open for reading. It is either plain or, after the job's end, compressed; the content is the same.
///
/// An opened log stays readable if the file is replaced by its compressed form.
package final class AttemptLog: Sendable {
    private let descriptor: Int32
    private let path: String
    /// `nil` if the log is plain.
    private let compressed: Compressed?

    private final class Compressed: Sendable {
        let frames: Mutex<ZstdFrames>
        let size: Int64

        init(_ frames: consuming sending ZstdFrames) {
            size = frames.table.size
            self.frames = Mutex(frames)
        }
    }

    /// Opens the log of an attempt.
    /// - Parameter directory: The absolute path of the attempt's directory.
    /// - Returns: `nil` if there is no log yet.
    /// - Throws: `.directory`; `.malformed` for a damaged compressed log.
    package static func open(in directory: String) throws(ExecutionError) -> AttemptLog? {
        // `log` is removed only after `log.zst` exists, so `log.zst` is tried second.
        for (name, isCompressed) in [("log", false), ("log.zst", true)] {
            let path = "\(directory)/\(name)"
            let descriptor = clinux_open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0)
            if descriptor >= 0 { return try AttemptLog(descriptor, path: path, isCompressed: isCompressed) }
            guard errno == ENOENT else {
                throw ExecutionError(.directory, "open \(path)", String(cString: strerror(errno)))
            }
        }
        return nil
    }

    /// Takes over the descriptor.
    init(_ descriptor: Int32, path: String, isCompressed: Bool) throws(ExecutionError) {
        self.descriptor = descriptor
        self.path = path
        guard isCompressed else {
            compressed = nil
            return
        }
        guard let table = Self.table(of: descriptor), let frames = ZstdFrames(table) else {
            close(descriptor)
            throw ExecutionError(.malformed, "read \(path)", "it is damaged: it ends without a table of its frames")
        }
        compressed = Compressed(frames)
    }

    deinit { close(descriptor) }

    /// Whether the log is compressed. A compressed log no longer grows.
    package var isCompressed: Bool { compressed != nil }

    /// The number of bytes in the log so far, uncompressed.
    package var size: Int64 {
        compressed?.size ?? Self.size(of: descriptor)
    }

    /// Reads at most `count` bytes from `offset` on: fewer at the end of the log, none beyond it. Blocks. Reading a compressed log decompresses up to
    /// one frame of 256 KiB more than requested, which takes some 0.5 ms.
    /// - Throws: `.directory`, `.malformed`.
    package func read(at offset: Int64, count: Int) throws(ExecutionError) -> [UInt8] {
        guard let compressed else { return try bytes(at: offset, count: count) }
        do {
            return try compressed.frames.withLock { frames in
                try frames.read(at: offset, count: count) { try self.bytes(at: $0, count: $1) }
            }
        } catch let error as ExecutionError {
            throw error
        } catch {
            throw ExecutionError(.malformed, "read \(path)", "it is damaged: \(error)", underlying: error)
        }
    }

    private func bytes(at offset: Int64, count: Int) throws(ExecutionError) -> [UInt8] {
        guard let bytes = Self.bytes(of: descriptor, at: offset, count: count) else {
            throw ExecutionError(.directory, "read \(path)", String(cString: strerror(errno)))
        }
        return bytes
    }

    // MARK: The descriptor

    private static func size(of descriptor: Int32) -> Int64 {
        var status = stat()
        return fstat(descriptor, &status) == 0 ? Int64(status.st_size) : 0
    }

    private static func table(of descriptor: Int32) -> SeekTable? {
        let size = size(of: descriptor)
        guard
            let footer = bytes(of: descriptor, at: size - Int64(SeekTable.footerBytes), count: SeekTable.footerBytes),
            let count = SeekTable.byteCount(footer: footer), Int64(count) <= size,
            let table = bytes(of: descriptor, at: size - Int64(count), count: count)
        else { return nil }
        return SeekTable(table, fileSize: size)
    }

    /// Returns `nil` on failure, with `errno` set.
    private static func bytes(of descriptor: Int32, at offset: Int64, count: Int) -> [UInt8]? {
        guard count > 0, offset >= 0 else { return [] }
        var isFailure = false
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            while filled < count, let base = buffer.baseAddress {
                let result = pread(descriptor, base + filled, count - filled, off_t(offset) + filled)
                if result > 0 { filled += result } else if result == 0 { return }
                if result < 0, errno != EINTR {
                    isFailure = true
                    return
                }
            }
        }
        return isFailure ? nil : bytes
    }
}
