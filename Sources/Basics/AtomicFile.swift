import CLinux
import Glibc

/// Writes whole files by the operator's paths so that readers see the old content or the new, and a crash leaves one.
package enum AtomicFile {
    /// What written content must survive.
    package enum Survival: Sendable {
        /// The end of the process. After a stop of the machine the file may be old, new, absent, empty or torn, so this is for content that can
        /// be recreated and is checked or dropped after such a stop (docs/decisions/0057).
        case kill
        /// A loss of power, too: the file and its directory are synchronized before the call returns.
        case powerLoss
    }

    /// Writes beside the file and renames over it. Also removes what a killed write left beside the file.
    /// - Parameters:
    ///   - path: Of the operator's own; links above the last component are followed, one in its place is replaced.
    ///   - mode: Exactly this, whatever the umask.
    ///   - survival: What the content survives once the call has returned.
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
        // Locked until it has its name.
        withExtendedLifetime(file) {}
        removeLeft(of: slash.map { String(path[path.index(after: $0)...]) } ?? path, in: directory)
        if survival == .powerLoss { try directory.synchronize() }
    }

    /// Makes a file that is this write's alone: it is locked for as long as it is written, so that no other takes it for one that was left.
    private static func make(beside path: String) throws(FileError) -> (temporary: String, file: Descriptor) {
        while true {
            let temporary = path + "." + RandomIdentifiers().next()
            let number = clinux_open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
            guard number >= 0 else { throw FileError(operation: "write", path: path, errno: errno) }
            let file = Descriptor(number)
            // Where files cannot be locked, none is taken for one that was left.
            while clinux_flock(number, LOCK_EX) != 0, errno == EINTR {}
            // Without a name: another write found it before it was locked.
            if try file.status(operation: "write", path: path).links > 0 { return (temporary, file) }
        }
    }

    /// Removes what writes of a directory's files left that were killed, of whichever file. What cannot be removed stays, and of a directory
    /// that cannot be read everything.
    package static func removeLeft(in path: String) {
        if let directory = try? Directory(opening: path) { removeLeft(of: nil, in: directory) }
    }

    /// Removes what writes of a file, or of any, left that were killed: named as theirs, and locked by nobody. What cannot be removed stays.
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
