import Glibc

/// The identity and state of a file at one moment. Any change of its bytes changes this value, because no program can set back an inode's change time
/// (ctime).
struct FileIdentity: Hashable {
    /// The file itself, independent of its bytes.
    struct File: Hashable {
        private let device: dev_t
        private let inode: ino_t

        init(_ status: stat) { (device, inode) = (status.st_dev, status.st_ino) }
    }

    private let file: File
    private let size: off_t
    private let seconds: Int
    private let nanoseconds: Int

    init(_ status: stat) {
        file = File(status)
        size = status.st_size
        (seconds, nanoseconds) = (status.st_ctim.tv_sec, status.st_ctim.tv_nsec)
    }
}
