import Glibc

/// A descriptor that is closed with its last holder: also when a client goes away in the middle of a download.
final class OpenFile: Sendable {
    let descriptor: Int32

    /// Takes the descriptor over.
    init(descriptor: Int32) { self.descriptor = descriptor }

    deinit { close(descriptor) }

    /// At most `count` bytes from `offset`; fewer at the end, none beyond it. Blocks.
    /// - Throws: `errno` as it was.
    func read(at offset: Int64, count: Int) throws(ReadError) -> [UInt8] {
        var failure: Int32 = 0
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

    struct ReadError: Error { let errno: Int32 }
}
