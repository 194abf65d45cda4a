import JobProtocol

/// A decision which links of a tree an archive may contain: those that stay in the tree on any file system on which it is extracted.
///
/// On macOS and Windows, names are equal if they differ only in case or in how Unicode composes a letter. A file that is extracted after a link with
/// an equal name is written where the link leads. A link whose name equals another entry's in that sense is therefore refused. The other links are
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

    /// The largest number of components in the paths of all links. `LinkWalk.maximumComponents` would keep the processor busy for minutes.
    static let maximumComponents = 4_000_000

    private var walk: LinkWalk
    private let names: FoldedNames
    private var shared: Set<Int> = []

    /// Collects the entries of a tree.
    /// - Parameter limit: The largest number of components in the paths of all links. Links beyond it are refused.
    init(
        _ links: [(path: [UInt8], target: [UInt8])], directories: [[UInt8]], files: [[UInt8]],
        limit: Int = maximumComponents
    ) {
        let names = FoldedNames()
        for path in directories { names.entries[names.add(path)] = .directory }
        for path in files { names.entries[names.add(path)] = .file }
        var own: [Int: LinkWalk.Entry] = [:]
        for (path, target) in links {
            let place = names.add(path)
            let isFirst = own.updateValue(.link(target: target), forKey: place) == nil
            if !isFirst || names.entries[place] != nil { shared.insert(place) }
        }
        // Refused links do not exist for the others.
        for (place, entry) in own where !shared.contains(place) { names.entries[place] = entry }
        self.names = names
        walk = LinkWalk(limit: limit) { path in names.place(of: path).flatMap { names.entries[$0] } }
    }

    mutating func verdict(on path: [UInt8]) -> Verdict {
        guard names.place(of: path).map(shared.contains) != true else {
            return .refused("the link's name is another's where upper and lower case are the same")
        }
        switch walk.end(of: path) {
        case .file, .directory: return .inside
        case .missing: return .dangling
        case .outside: return .refused("the link leads out of the tree")
        case .endless: return .refused("the link leads through too many others")
        }
    }
}

/// The entries of a tree, keyed by case-folded path. A walk looks up one component after the other, so the common beginning of a path and the
/// previous one is not looked up again. Paths can have 4 KiB, and walks can have millions of components.
private final class FoldedNames {
    private struct Name: Hashable {
        let parent: Int
        let folded: String
    }

    private static let slash = UInt8(ascii: "/")

    /// The entries by number; 0 is the root.
    var entries: [LinkWalk.Entry?] = [nil]
    private var places: [Name: Int] = [:]
    /// The path that was looked up last, and for each of its components the end and the entry's number; `nil` if there is no entry.
    private var last: [UInt8] = []
    private var way: [(end: Int, place: Int?)] = []

    /// Returns the number of a path's entry; `nil` if there is none.
    func place(of path: [UInt8]) -> Int? {
        find(path) { self.places[$0] }
    }

    /// Returns the number of a path's entry, after adding one if necessary. Must not be called after `place(of:)`.
    func add(_ path: [UInt8]) -> Int {
        let place = find(path) { name in
            if let known = self.places[name] { return known }
            self.places[name] = self.entries.count
            self.entries.append(nil)
            return self.entries.count - 1
        }
        return place ?? 0
    }

    private func find(_ path: [UInt8], _ place: (Name) -> Int?) -> Int? {
        var common = 0
        while common < last.count, common < path.count, last[common] == path[common] { common += 1 }
        while let end = way.last?.end, end > common || (end < path.count && path[end] != Self.slash) {
            way.removeLast()
        }
        var (start, found) = way.last.map { ($0.end + 1, $0.place) } ?? (0, 0)
        while start < path.count {
            let end = path[start...].firstIndex(of: Self.slash) ?? path.count
            found = found.flatMap { place(Name(parent: $0, folded: Self.folded(path[start..<end]))) }
            way.append((end, found))
            start = end + 1
        }
        last = path
        return found
    }

    /// Returns a text that is equal for names that a case-insensitive file system considers equal. APFS and NTFS fold case, and Swift compares
    /// strings by canonical equivalence. Invalid UTF-8 becomes U+FFFD, so two such names may be considered equal.
    private static func folded(_ name: ArraySlice<UInt8>) -> String {
        let text = String(decoding: name, as: UTF8.self)
        return text.utf8.allSatisfy { $0 < 0x80 } ? text.lowercased() : text.uppercased().lowercased()
    }
}
