import CLinux
import Glibc

/// A lock that this process hands to the program that replaces it (execve(2)).
package enum SuccessorLock {
    /// Locks a file, which is created if it does not exist. The lock is held until the process and the programs that replace it have ended; processes
    /// that these start do not get it.
    /// - Returns: `false` if another process holds it.
    /// - Throws: `.directory`.
    package static func acquire(_ file: String) throws(ExecutionError) -> Bool {
        let descriptor = clinux_open(file, O_RDWR | O_CREAT | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else {
            throw ExecutionError(.directory, "open \(file)", String(cString: strerror(errno)))
        }
        guard clinux_flock(descriptor, LOCK_EX | LOCK_NB) != 0 else { return true }
        close(descriptor)
        return false
    }
}
