import Basics
import CLinux
import Glibc
import JobProtocol

extension AttemptDirectory {
    /// The smallest log that is compressed, in bytes. A smaller log occupies one disk block either way.
    package static let smallestCompressedLog: Int64 = 4096

    /// Whether `compressLog` would compress the log: it is large enough, and its job has finished.
    /// - Throws: `.directory`, `.malformed`.
    package func isLogCompressible() throws(ExecutionError) -> Bool {
        var file = stat()
        guard stat(paths.log, &file) == 0, file.st_size >= Self.smallestCompressedLog else { return false }
        return try status().last?.isFinished ?? false
    }

    /// Replaces `log` by `log.zst`, which has the same content (`AttemptLog`). Blocks for some 3 s per GiB, with one frame in memory. Has no effect
    /// if the log is not compressible.
    ///
    /// The compressed log is written beside, synchronized and renamed; only then `log` is removed. After an interruption at any point a readable log
    /// remains, and the next call completes the work.
    /// - Throws: `.directory`, for instance if the disk is full; the log is then unchanged. `.malformed`.
    package func compressLog() throws(ExecutionError) {
        guard try isLogCompressible() else { return }
        let operation = "compress \(paths.log)"
        do {
            let directory = try Directory(opening: path)
            try directory.remove("log.zst.part")
            // A complete one exists if a daemon was stopped before it removed the log.
            if try !isCompressedLogWhole() {
                try writeCompressed(to: path + "/log.zst.part")
                Failpoint.pass("log.compressed", .before)
                try directory.rename("log.zst.part", to: directory, "log.zst", replace: true)
                try directory.synchronize()
                Failpoint.pass("log.compressed", .after)
            }
            try directory.remove("log")
        } catch let error as ExecutionError {
            throw error
        } catch {
            throw ExecutionError(.directory, operation, "\(error)", underlying: error)
        }
    }

    private func isCompressedLogWhole() throws(ExecutionError) -> Bool {
        let file = path + "/log.zst"
        let descriptor = clinux_open(file, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0)
        guard descriptor >= 0 else {
            if errno == ENOENT { return false }
            throw failure("open \(file)", errno)
        }
        do throws(ExecutionError) {
            return try AttemptLog(descriptor, path: file, isCompressed: true).size == logSize
        } catch {
            if error.code == .malformed { return false }
            throw error
        }
    }

    private func writeCompressed(to part: String) throws {
        let output = clinux_open(part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o644)
        guard output >= 0 else { throw failure("create \(part)", errno) }
        defer { close(output) }
        do {
            guard let log = try AttemptLog.open(in: path), var writer = ZstdWriter() else {
                throw failure("read \(paths.log)", ENOMEM)
            }
            var offset: Int64 = 0
            while true {
                let chunk = try log.read(at: offset, count: SeekTable.frameBytes)
                if chunk.isEmpty { break }
                try writeAll(try writer.frame(of: chunk), to: output, part)
                offset += Int64(chunk.count)
            }
            try writeAll(writer.end()[...], to: output, part)
            guard fsync(output) == 0 else { throw failure("fsync \(part)", errno) }
        } catch {
            unlink(part)
            throw error
        }
    }

    private func writeAll(_ bytes: ArraySlice<UInt8>, to descriptor: Int32, _ file: String) throws(ExecutionError) {
        var rest = bytes
        while !rest.isEmpty {
            let (count, number) = rest.withUnsafeBytes { buffer in
                let count = write(descriptor, buffer.baseAddress, buffer.count)
                return (count, errno)
            }
            if count < 0, number != EINTR { throw failure("write \(file)", number) }
            rest = rest.dropFirst(max(0, count))
        }
    }
}
