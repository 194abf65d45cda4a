import Basics

extension Mirrors {
    /// Doubts all mirrors, since the machine stopped and they are not synchronized: files of theirs may be old, empty or torn.
    ///
    /// Each mirror is verified by its next fetch, which brings what is damaged again. Until then no integration begins with what is in it. Call it
    /// before anything else uses the mirrors; it blocks.
    /// A mirror that cannot be doubted keeps none of the others from it.
    /// - Returns: How many mirrors there are.
    /// - Throws: `file`, for instance when the disk is full: the first failure, once all others are doubted.
    package func doubt() throws(SourceControlError) -> Int {
        let directory = directory
        let names = try files("checking the mirrors in \(directory)") { () throws(FileError) in
            try Directory(creating: directory, mode: 0o700).entries().filter { $0.kind == .directory }.map(\.name)
        }
        var (count, failure) = (0, SourceControlError?.none)
        // `lost+found` is a file system's own (mke2fs(8)) and only root may read it. No mirror has such a name.
        for name in names where name != "lost+found" {
            do throws(SourceControlError) {
                if try MirrorStore(path: "\(directory)/\(name)", name: name).doubt() { count += 1 }
            } catch {
                failure = failure ?? error
            }
        }
        if let failure { throw failure }
        return count
    }
}

extension MirrorStore {
    /// Marks the mirror so that the next fetch verifies its objects (`heal`), and removes what git cannot read of the files beside them:
    /// `config`, torn `packed-refs` and torn holds. The first is made again when the mirror is opened, the second by the next fetch.
    /// - Returns: False if there is no mirror: it is made when it is first opened.
    func doubt() throws(SourceControlError) -> Bool {
        try files("checking the mirror \(name)") { () throws(FileError) in
            let directory: Directory
            do throws(FileError) {
                directory = try Directory(opening: path)
            } catch {
                guard error.code == .notFound else { throw error }
                return false
            }
            guard try directory.status("objects") != nil else { return false }
            // First: a kill after it leaves a mirror that is verified. It needs no synchronizing, as another stop of the machine is noticed too.
            try AtomicFile.write([], to: "\(path)/\(Self.damageMark)", surviving: .kill)
            try directory.remove("config")
            if try directory.status("packed-refs") != nil {
                // What cannot be read may be torn.
                let text = try? WholeFile.read("\(path)/packed-refs", limit: Self.refsLimit)
                if text.map({ Self.isWhole(packedRefs: $0) }) != true { try directory.remove("packed-refs") }
            }
            for file in tornHolds(in: directory) { try directory.remove(file) }
            return true
        }
    }

    /// Of `packed-refs`, in bytes.
    private static let refsLimit = 256 << 20

    /// Whether each line is one that git writes, and none is cut off.
    private static func isWhole(packedRefs bytes: [UInt8]) -> Bool {
        guard bytes.last.map({ $0 == UInt8(ascii: "\n") }) ?? true else { return false }
        return bytes.split(separator: UInt8(ascii: "\n")).allSatisfy { line in
            switch line.first {
            case UInt8(ascii: "#"): true
            case UInt8(ascii: "^"): line.count == 41 && CommitDigits.are(line.dropFirst())
            default:
                line.count > 41 && CommitDigits.are(line.prefix(40)) && line.dropFirst(40).first == UInt8(ascii: " ")
                    && !line.contains(0)
            }
        }
    }

    /// The files of `refs/martlet` that hold no commit's id.
    private func tornHolds(in directory: Directory) -> [[UInt8]] {
        var torn: [[UInt8]] = []
        // What cannot be read now is found by git when it reads the ref, and the mirror is verified then.
        try? directory.walk("refs/martlet", limit: 1_000_000) { path, status in
            guard status.kind == .file else { return }
            let bytes = (try? directory.read(path, limit: 100)) ?? []
            let isWhole = bytes.count == 41 && CommitDigits.are(bytes.prefix(40)) && bytes.last == UInt8(ascii: "\n")
            if !isWhole { torn.append(path) }
        }
        return torn
    }
}

/// The digits of an object's id.
private enum CommitDigits {
    static func are(_ bytes: ArraySlice<UInt8>) -> Bool {
        bytes.count == 40 && bytes.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
    }
}
