import Basics
import Glibc

/// Copies the objects of a repository on this machine for a first mirror, as `git clone --local` does. It makes hard links to their files, which git
/// never changes, or copies if a link cannot be made.
///
/// It only handles plain repositories. Those with borrowed objects (alternates), shallow and partial ones are left to git, and symbolic links are not
/// followed (CVE-2022-39253). Objects are trusted no more than a server's: libgit2 verifies the id of each when it reads it.
struct LocalObjects {
    let from: String
    let to: MirrorStore

    init(from: String, to: MirrorStore) {
        self.from = from
        self.to = to
    }

    /// The file that exists while objects are copied. If it is found later, some objects may lack those that they refer to.
    private static let mark = "martlet-linking"

    /// Removes the objects of a copy that was interrupted by the end of a daemon. An object in a mirror must have all objects that it refers to
    /// there.
    static func discardPart(of store: MirrorStore, _ operation: String) throws(SourceControlError) {
        try files(operation) { () throws(FileError) in
            guard let directory = try? Directory(opening: store.path), try directory.status(mark) != nil else { return }
            let objects = try directory.directory("objects")
            try objects.removeContents()
            // Without these directories libgit2 finds no objects at all.
            for name in ["info", "pack"] { try objects.makeDirectories(name) }
            try directory.remove(mark)
        }
    }

    /// Copies the objects.
    /// - Returns: Whether all objects were copied. If not, none remain, and git must fetch them.
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
            // The index comes last, because a pack is used as soon as its index exists.
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
            // A process that packed the loose objects meanwhile has moved some to packs that were read before.
            let later = try source.status("pack") == nil ? [] : try source.entries("pack").map(\.name)
            return Set(later) == Set(packs)
        } catch {
            return false
        }
    }

    private func take(_ path: String, from source: Directory, to target: Directory) throws(FileError) {
        guard let status = try source.status(path), status.kind == .file else {
            throw FileError(code: .notRegular, operation: "link", path: path, message: "it is not a file")
        }
        let place = String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)])
        let (old, new) = (try source.directory(place), try target.directory(place))
        let name = String(path.dropFirst(place.utf8.count + 1))
        // The file is copied if it has another owner, who could change it later, if it is in another file system, or if it has too many links.
        if status.owner == geteuid(), linkat(old.descriptor, name, new.descriptor, name, 0) == 0 {
            // A symbolic link that was put there meanwhile has been linked itself.
            if try new.status(name)?.kind != .file { try new.remove(name) }
        } else if try new.status(name) == nil {
            _ = try old.copyFile(name, to: new, name, limit: NetworkLimits().bytes)
        }
    }

    private func isHexadecimal(_ name: String) -> Bool {
        name.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
    }
}
