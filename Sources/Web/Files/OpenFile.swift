import Basics
import Glibc
import NIOCore

/// A file descriptor that is closed when its last reference is released, even if a client leaves in the middle of a download.
final class OpenFile: Sendable {
    let descriptor: Int32

    /// Takes ownership of the descriptor.
    init(descriptor: Int32) { self.descriptor = descriptor }

    /// Creates a file without a name in a directory. It disappears when its last reference is released. Blocks.
    /// - Throws: The `errno` of the failed call.
    convenience init(nameless directory: String) throws(ReadError) {
        let descriptor = NamelessFile.open(in: directory)
        guard descriptor >= 0 else { throw ReadError(errno: errno) }
        self.init(descriptor: descriptor)
    }

    deinit { close(descriptor) }

    /// Writes all of `bytes` at `offset`. Blocks.
    /// - Throws: The `errno` of the failed call, such as `ENOSPC`.
    func write(_ bytes: ByteBuffer, at offset: Int64) throws(ReadError) {
        let failure = bytes.withUnsafeReadableBytes { bytes -> Int32 in
            var done = 0
            while done < bytes.count {
                let result = pwrite(
                    descriptor, bytes.baseAddress.map { $0 + done }, bytes.count - done, Int(offset) + done)
                if result < 0, errno == EINTR { continue }
                guard result > 0 else { return result < 0 ? errno : EIO }
                done += result
            }
            return 0
        }
        if failure != 0 { throw ReadError(errno: failure) }
    }

    /// Reads at most `count` bytes from `offset`; fewer at the end of the file, none beyond it. Blocks.
    /// - Throws: The `errno` of the failed call.
    func read(at offset: Int64, count: Int) throws(ReadError) -> [UInt8] {
        var failure: Int32 = 0
        guard count > 0 else { return [] }
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            while initialized < count {
                guard let base = buffer.baseAddress else { return }
                let result = pread(descriptor, base + initialized, count - initialized, Int(offset) + initialized)
                if result > 0 {
                    initialized += result
                } else if result < 0, errno == EINTR {
                    continue
                } else {
                    if result < 0 { failure = errno }
                    return
                }
            }
        }
        if failure != 0 { throw ReadError(errno: failure) }
        return bytes
    }

    /// The current size in bytes; -1 if it cannot be determined.
    var size: Int64 { Int64(lseek(descriptor, 0, SEEK_END)) }

    /// Returns whether a part is in the kernel's page cache, so that sending it does not wait for the disk. Does not block.
    func isInMemory(_ range: Range<Int64>) -> Bool {
        let page = Int64(sysconf(Int32(_SC_PAGESIZE)))
        let begin = range.lowerBound / page * page
        let size = Int(range.upperBound - begin)
        guard let place = mmap(nil, size, PROT_READ, MAP_SHARED, descriptor, Int(begin)), place != MAP_FAILED else {
            return false
        }
        defer { munmap(place, size) }
        let pages = (size + Int(page) - 1) / Int(page)
        return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: pages) { resident in
            guard let base = resident.baseAddress, mincore(place, size, base) == 0 else { return false }
            // Only the lowest bit is defined (mincore(2)).
            return resident.allSatisfy { $0 & 1 == 1 }
        }
    }

    struct ReadError: Error, CustomStringConvertible {
        let errno: Int32
        /// Whether the disk, or the user's share of it, is full.
        var isOfFullDisk: Bool { errno == ENOSPC || errno == EDQUOT }
        var description: String { String(cString: strerror(errno)) }
    }
}
