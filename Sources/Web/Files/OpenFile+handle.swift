import Glibc
import NIOCore

extension OpenFile {
    /// Returns a duplicate of the descriptor for sendfile(2), which does not move the file's position. The caller closes it.
    /// - Throws: The `errno` of fcntl(2), if no descriptor is left.
    func handle() throws(ReadError) -> NIOFileHandle {
        let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 3)
        guard copy >= 0 else { throw ReadError(errno: errno) }
        return NIOFileHandle(_deprecatedTakingOwnershipOfDescriptor: copy)
    }
}
