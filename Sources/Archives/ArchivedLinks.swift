import JobProtocol

/// Decides which links of a tree an archive may have: those that lead nowhere else when somebody extracts it, on any file system.
///
/// Names that differ in upper and lower case alone, or in how Unicode composes a letter, are one name on macOS and Windows. There, what is
/// extracted after a link goes to where the link leads. So a link whose name is another entry's in that sense is refused, and the others
/// are followed through names in that sense.
struct ArchivedLinks {
    /// What becomes of a link.
    enum Verdict: Equatable {
        case inside
        /// It stays in the tree, and leads to nothing in it.
        case dangling
        /// The reason.
        case refused(String)
    }

    private var walk: LinkWalk
    private let shared: Set<String>

    init(_ links: [(path: [UInt8], target: [UInt8])], directories: [[UInt8]], files: [[UInt8]]) {
        var entries: [String: LinkWalk.Entry] = [:]
        for path in directories { entries[Self.key(path)] = .directory }
        for path in files { entries[Self.key(path)] = .file }
        var shared: Set<String> = []
        var own: [String: LinkWalk.Entry] = [:]
        for (path, target) in links {
            let key = Self.key(path)
            let isFirst = own.updateValue(.link(target: target), forKey: key) == nil
            if !isFirst || entries[key] != nil { shared.insert(key) }
        }
        self.shared = shared
        // What is refused is not there for the others.
        entries.merge(own.filter { !shared.contains($0.key) }) { entry, _ in entry }
        walk = LinkWalk { [entries] in entries[Self.key($0)] }
    }

    mutating func verdict(on path: [UInt8]) -> Verdict {
        guard !shared.contains(Self.key(path)) else {
            return .refused("the link's name is another's where upper and lower case are the same")
        }
        switch walk.end(of: path) {
        case .file, .directory: return .inside
        case .missing: return .dangling
        case .outside: return .refused("the link leads out of the tree")
        case .endless: return .refused("the link leads through too many others")
        }
    }

    /// The same for names that a file system without case takes for one: APFS and NTFS fold case, and strings compare by canonical
    /// equivalence. Bytes that are no UTF-8 become U+FFFD, so that two such names may be taken for one.
    private static func key(_ path: [UInt8]) -> String {
        let text = String(decoding: path, as: UTF8.self)
        return text.utf8.allSatisfy { $0 < 0x80 } ? text.lowercased() : text.uppercased().lowercased()
    }
}
