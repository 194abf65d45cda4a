import Basics
import Model

/// The branches and tags of a repository on this machine, read from its files: `packed-refs`, those beneath `refs`, and `HEAD`
/// (gitrepository-layout(5)). libgit2 reads 100,000 of them in 1.5 s, which is 20 times as long.
struct PathRefs {
    /// The id of each ref, and the commit of an annotated tag if `packed-refs` states it.
    private(set) var refs: [[UInt8]: (id: String, peeled: String?)] = [:]
    /// The tags for which it is not known whether they are annotated.
    private(set) var unpeeled: [[UInt8]] = []
    /// The ref that `HEAD` names; `nil` if `HEAD` is detached.
    private(set) var head: RefName?

    /// The largest `packed-refs` in bytes; 200,000 branches and tags take a third of it.
    private static let fileLimit = 64 << 20
    private static let refLimit = 4096
    private static let places: [[UInt8]] = ["refs/heads", "refs/tags"].map { Array($0.utf8) }

    private let others: Set<[UInt8]>

    private struct Unreadable: Error {}

    /// - Parameters:
    ///   - directory: The directory of the repository.
    ///   - others: Further refs, by their full names, which must be valid for git.
    /// - Throws: An error if a file does not have the form that git writes.
    init(_ directory: Directory, limit: Int, others: Set<[UInt8]> = []) throws {
        self.others = others
        // Loose refs are read before the packed ones: git packs refs first and removes the loose files afterwards.
        var (loose, links): ([[UInt8]: String], [[UInt8]: [UInt8]]) = ([:], [:])
        for place in Self.places where try directory.status(place) != nil {
            try directory.walk(place, limit: 4 * limit) { path, status in
                if status.kind == .directory || path.suffix(5).elementsEqual(".lock".utf8) { return }
                // git follows symbolic links here, so they are left to it.
                guard status.kind == .file else { throw Unreadable() }
                // `nil` means that the ref was deleted or packed meanwhile.
                guard let text = try Self.line(of: path, in: directory) else { return }
                if let target = try Self.target(text) {
                    links[path] = target
                } else {
                    loose[path] = try Self.id(text[...])
                }
            }
        }
        for name in others {
            guard let text = try Self.line(of: name, in: directory) else { continue }
            guard try Self.target(text) == nil else { throw Unreadable() }
            loose[name] = try Self.id(text[...])
        }
        try readPacked(directory, limit: limit)
        for (name, id) in loose {
            refs[name] = (id, nil)
            if name.starts(with: Self.places[1]) { unpeeled.append(name) }
        }
        for (name, target) in links {
            // A symbolic ref without a target is not listed. One that leads to another symbolic ref, or elsewhere, is rare and left to git.
            let isTag = name.starts(with: Self.places[1])
            guard links[target] == nil, target.starts(with: Self.places[isTag ? 1 : 0]) else { throw Unreadable() }
            guard let found = refs[target] else { continue }
            refs[name] = found
            if isTag, found.peeled == nil { unpeeled.append(name) }
        }
        guard refs.count <= limit, let text = try Self.line(of: Array("HEAD".utf8), in: directory) else {
            throw Unreadable()
        }
        if let target = try Self.target(text) {
            head = String(validating: target, as: UTF8.self).map { RefName($0) }
        } else {
            _ = try Self.id(text[...])
        }
    }

    /// Returns a file's text up to the first end of line; `nil` if there is no file.
    private static func line(of path: [UInt8], in directory: Directory) throws -> [UInt8]? {
        let text: [UInt8]
        do throws(FileError) {
            text = try directory.read(path, limit: refLimit)
        } catch {
            if error.code == .notFound { return nil }
            throw error
        }
        return Array(text.prefix { $0 != UInt8(ascii: "\n") })
    }

    /// Returns the target of a symbolic ref; `nil` for any other text. git accepts blanks around it, but writes none.
    private static func target(_ text: [UInt8]) throws -> [UInt8]? {
        guard text.starts(with: "ref:".utf8) else { return nil }
        guard text.starts(with: "ref: refs/".utf8), text.dropFirst(5).allSatisfy({ $0 > 0x20 }) else {
            throw Unreadable()
        }
        return Array(text.dropFirst(5))
    }

    private static func id(_ text: ArraySlice<UInt8>) throws -> String {
        let isID = text.count == 40 && text.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
        guard isID else { throw Unreadable() }
        return String(decoding: text, as: UTF8.self)
    }

    /// Reads the lines `ID REF`, and `^ID` for the target of the tag above. `fully-peeled` means that each annotated tag has such a line.
    private mutating func readPacked(_ directory: Directory, limit: Int) throws {
        guard try directory.status("packed-refs") != nil else { return }
        let text = try directory.read("packed-refs", limit: Self.fileLimit)
        var (isPeeled, last): (Bool, [UInt8]?) = (false, nil)
        for line in text.split(separator: UInt8(ascii: "\n")) {
            switch line.first {
            case UInt8(ascii: "#"):
                isPeeled = line.split(separator: 0x20).contains { $0.elementsEqual("fully-peeled".utf8) }
            case UInt8(ascii: "^"):
                guard let name = last else { continue }
                refs[name]?.peeled = try Self.id(line.dropFirst())
            default:
                guard isPeeled, line.count > 41, line[line.startIndex + 40] == 0x20 else { throw Unreadable() }
                let name = Array(line.dropFirst(41))
                last = Self.places.contains(where: name.starts) || others.contains(name) ? name : nil
                if let last { refs[last] = (try Self.id(line.prefix(40)), nil) }
                guard refs.count <= limit else { throw Unreadable() }
            }
        }
    }
}
