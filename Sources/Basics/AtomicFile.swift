import CLinux
import Glibc

/// Writes whole files by the operator's paths so that readers see the old content or the new, and a crash leaves one.
package enum AtomicFile {
    /// Writes beside the file, synchronizes, renames over it and synchronizes the directory. When it returns, the content
    /// survives a loss of power.
    /// - Parameters:
    ///   - path: Of the operator's own; links above the last component are followed, one in its place is replaced.
    ///   - mode: Exactly this, whatever the umask.
    package static func write(_ bytes: [UInt8], to path: String, mode: UInt16 = 0o644) throws(FileError) {
        let slash = path.lastIndex(of: "/")
        let parent = slash.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
        let directory = try Directory(opening: parent)
        let temporary = path + "." + RandomIdentifiers().next()
        let number = clinux_open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard number >= 0 else { throw FileError(operation: "write", path: path, errno: errno) }
        let file = Descriptor(number)
        do throws(FileError) {
            try file.writeAll(bytes, path: path)
            guard fchmod(number, mode_t(mode)) == 0 else {
                throw FileError(operation: "write", path: path, errno: errno)
            }
            try file.synchronize(path: path)
            guard rename(temporary, path) == 0 else { throw FileError(operation: "write", path: path, errno: errno) }
        } catch {
            unlink(temporary)
            throw error
        }
        try directory.synchronize()
    }
}
