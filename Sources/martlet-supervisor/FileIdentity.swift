import Glibc

/// A file at one moment: nobody can change its bytes without changing this, since no program can set an inode's change time (ctime) back.
struct FileIdentity: Hashable {
    /// The file, whatever its bytes are.
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
