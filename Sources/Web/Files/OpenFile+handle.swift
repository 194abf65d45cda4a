import Glibc
import NIOCore

extension OpenFile {
    /// For sendfile(2), which moves no position. To be closed by who asked for it.
    /// - Throws: `errno` as it was: no descriptor is left.
    func handle() throws(ReadError) -> NIOFileHandle {
        let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 3)
        guard copy >= 0 else { throw ReadError(errno: errno) }
        return NIOFileHandle(_deprecatedTakingOwnershipOfDescriptor: copy)
    }
}
