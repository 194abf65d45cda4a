import JobProtocol

/// Decides which links of a tree an archive may contain: those that stay in the tree wherever somebody extracts it, on any file system.
///
/// On macOS and Windows, names are equal if they differ only in case or in how Unicode composes a letter. A file that is extracted after a link of
/// that name goes where the link leads. A link whose name equals another entry's in that sense is therefore refused, and the other links are
/// followed by comparing names in that sense.
struct ArchivedLinks {
    /// The decision about a link.
    enum Verdict: Equatable {
        case inside
        /// The link stays in the tree, but its target does not exist.
        case dangling
        /// The link is not packed, for this reason.
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
        // A refused link does not exist for the others.
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

    /// Returns the same key for names that a file system without case treats as equal: APFS and NTFS fold case, and strings compare by canonical
    /// equivalence. Bytes that are not UTF-8 become U+FFFD, so two such names may count as equal.
    private static func key(_ path: [UInt8]) -> String {
        let text = String(decoding: path, as: UTF8.self)
        return text.utf8.allSatisfy { $0 < 0x80 } ? text.lowercased() : text.uppercased().lowercased()
    }
}
