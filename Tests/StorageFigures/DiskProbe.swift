import Glibc

/// Measures the disk's least durable write, beside the database and while that is written: 4 KiB over old ones, then `fdatasync`. No transaction
/// can be faster.
final class DiskProbe {
    private let descriptor: Int32
    private var page: Int = 0
    private static let pages = 256
    private(set) var taken: [Duration] = []

    /// - Parameter path: The path of a file that it creates on the disk to measure.
    init(path: String) {
        descriptor = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        let zeros = [UInt8](repeating: 0, count: Self.pages * 4096)
        _ = pwrite(descriptor, zeros, zeros.count, 0)
        fsync(descriptor)
    }

    deinit { close(descriptor) }

    func write() {
        let bytes = [UInt8](repeating: UInt8(truncatingIfNeeded: taken.count), count: 4096)
        page = (page + 1) % Self.pages
        taken.append(
            ContinuousClock().measure {
                _ = pwrite(descriptor, bytes, bytes.count, page * 4096)
                fdatasync(descriptor)
            })
    }
}
