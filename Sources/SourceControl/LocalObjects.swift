import Basics
import Glibc

/// The objects of a repository on this machine, taken over for a first mirror as `git clone --local` does it: by links of
/// their files, which git never changes, or copies where a link cannot be made.
///
/// Only plain repositories: borrowed objects (alternates), shallow and partial ones are left to git, and a file that is a
/// link is not followed (CVE-2022-39253). Objects are believed as little as a server's: libgit2 holds each to its id when it
/// reads it.
struct LocalObjects {
    let from: String
    let to: MirrorStore

    init(from: String, to: MirrorStore) {
        self.from = from
        self.to = to
    }

    /// Is there while objects are taken. Who meets it later knows that some are here without those that they name.
    private static let mark = "martlet-linking"

    /// Takes away what was taken until a daemon ended in the middle: an object that is here must have all of its own here.
    static func discardPart(of store: MirrorStore, _ operation: String) throws(SourceControlError) {
        try files(operation) { () throws(FileError) in
            guard let directory = try? Directory(opening: store.path), try directory.status(mark) != nil else { return }
            let objects = try directory.directory("objects")
            try objects.removeContents()
            // Without them libgit2 finds nothing at all.
            for name in ["info", "pack"] { try objects.makeDirectories(name) }
            try directory.remove(mark)
        }
    }

    /// - Returns: Whether all was taken; else nothing was, and git fetches it.
    func link(_ operation: String) throws(SourceControlError) -> Bool {
        try files(operation) { () throws(FileError) in
            try AtomicFile.write([], to: "\(to.path)/\(Self.mark)", surviving: .kill)
        }
        guard take() else {
            try Self.discardPart(of: to, operation)
            return false
        }
        try files(operation) { () throws(FileError) in try Directory(opening: to.path).remove(Self.mark) }
        return true
    }

    private func take() -> Bool {
        guard let root = (try? Directory(opening: from + "/.git")) ?? (try? Directory(opening: from)),
            let source = try? root.directory("objects"), let target = try? Directory(opening: to.path + "/objects"),
            (try? root.status("shallow")) == .some(nil), (try? source.status("info/alternates")) == .some(nil)
        else { return false }
        do throws(FileError) {
            let packs = try source.status("pack") == nil ? [] : try source.entries("pack").map(\.name)
            guard !packs.contains(where: { $0.hasSuffix(".promisor") }) else { return false }
            try target.makeDirectories("pack")
            // The index last: a pack counts as soon as it is there.
            for end in [".pack", ".idx"] {
                for name in packs where name.hasPrefix("pack-") && name.hasSuffix(end) {
                    try take("pack/" + name, from: source, to: target)
                }
            }
            for directory in try source.entries().map(\.name)
            where directory.utf8.count == 2 && isHexadecimal(directory) {
                try target.makeDirectories(directory)
                for name in try source.entries(directory).map(\.name) where name.utf8.count == 38 && isHexadecimal(name)
                {
                    try take("\(directory)/\(name)", from: source, to: target)
                }
            }
            // Who packed the loose ones meanwhile has moved objects to where we had looked.
            let later = try source.status("pack") == nil ? [] : try source.entries("pack").map(\.name)
            return Set(later) == Set(packs)
        } catch {
            return false
        }
    }

    private func take(_ path: String, from source: Directory, to target: Directory) throws(FileError) {
        guard let status = try source.status(path), status.kind == .file else {
            throw FileError(code: .notRegular, operation: "link", path: path, message: "it is no file")
        }
        let place = String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)])
        let (old, new) = (try source.directory(place), try target.directory(place))
        let name = String(path.dropFirst(place.utf8.count + 1))
        // Another owner's file, which he could change under us, another file system, too many links: copied.
        if status.owner == geteuid(), linkat(old.descriptor, name, new.descriptor, name, 0) == 0 {
            // A link that was put there meanwhile has been linked itself.
            if try new.status(name)?.kind != .file { try new.remove(name) }
        } else if try new.status(name) == nil {
            _ = try old.copyFile(name, to: new, name, limit: NetworkLimits().bytes)
        }
    }

    private func isHexadecimal(_ name: String) -> Bool {
        name.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
    }
}
