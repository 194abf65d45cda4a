import CLinux
import Glibc

/// Atomic writes of whole files: readers see either the old content or the new one, also after a crash. For paths that the operator chose.
package enum AtomicFile {
    /// The events that written content survives.
    package enum Survival: Sendable {
        /// The end of the process. After a stop of the machine the file may be old, new, absent, empty or torn. Use it for content that can be
        /// recreated and that is checked or dropped after such a stop (docs/internals/decisions/0057).
        case kill
        /// A loss of power, too. The file and its directory are synchronized before the call returns.
        case powerLoss
    }

    /// Writes a temporary file beside `path` and renames it over `path`. Also removes the temporary files that killed writes of `path` left behind.
    /// - Parameters:
    ///   - path: A path that the operator chose. Symbolic links above the last component are followed; a link as the last component is replaced.
    ///   - mode: The exact mode of the file, regardless of the umask.
    ///   - survival: What the content survives once the call has returned.
    /// - Throws: `FileError` if the file cannot be written; the temporary file is removed then.
    package static func write(
        _ bytes: [UInt8], to path: String, mode: UInt16 = 0o644, surviving survival: Survival = .powerLoss
    ) throws(FileError) {
        let slash = path.lastIndex(of: "/")
        let parent = slash.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
        let directory = try Directory(opening: parent)
        let (temporary, file) = try make(beside: path)
        do throws(FileError) {
            try file.writeAll(bytes, path: path)
            guard fchmod(file.number, mode_t(mode)) == 0 else {
                throw FileError(operation: "write", path: path, errno: errno)
            }
            if survival == .powerLoss { try file.synchronize(path: path) }
            guard rename(temporary, path) == 0 else { throw FileError(operation: "write", path: path, errno: errno) }
        } catch {
            unlink(temporary)
            throw error
        }
        // Keeps the lock until the file has its final name.
        withExtendedLifetime(file) {}
        removeLeft(of: slash.map { String(path[path.index(after: $0)...]) } ?? path, in: directory)
        if survival == .powerLoss { try directory.synchronize() }
    }

    /// Creates the temporary file of a write. The file stays locked while it is written, so that no other process removes it as a leftover.
    private static func make(beside path: String) throws(FileError) -> (temporary: String, file: Descriptor) {
        while true {
            let temporary = path + "." + RandomIdentifiers().next()
            let number = clinux_open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
            guard number >= 0 else { throw FileError(operation: "write", path: path, errno: errno) }
            let file = Descriptor(number)
            // On a file system without locks, `removeLeft` cannot lock a file either and removes none.
            while clinux_flock(number, LOCK_EX) != 0, errno == EINTR {}
            // No links: another process removed the file before it was locked. Try again.
            if try file.status(operation: "write", path: path).links > 0 { return (temporary, file) }
        }
    }

    /// Removes the temporary files that killed writes left in a directory. Errors are ignored: a file that cannot be removed stays.
    package static func removeLeft(in path: String) {
        if let directory = try? Directory(opening: path) { removeLeft(of: nil, in: directory) }
    }

    /// Removes the temporary files of killed writes: those with a temporary file's name and no lock.
    /// - Parameter name: The file that was written; `nil` means any file.
    private static func removeLeft(of name: String?, in directory: Directory) {
        guard let entries = try? directory.entries() else { return }
        for entry in entries where entry.kind == .file {
            guard let dot = entry.bytes.lastIndex(of: UInt8(ascii: ".")), dot > 0,
                name.map({ entry.bytes[..<dot].elementsEqual($0.utf8) }) ?? true,
                Base32.isEncoded(entry.bytes[(dot + 1)...]),
                let file = try? directory.openRegular(entry.bytes, operation: "write").descriptor,
                clinux_flock(file.number, LOCK_EX | LOCK_NB) == 0
            else { continue }
            withExtendedLifetime(file) { _ = entry.bytes.withCPath { unlinkat(directory.descriptor, $0, 0) } }
        }
    }
}
