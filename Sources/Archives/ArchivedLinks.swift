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

    /// The most components of all links' ways; `LinkWalk.maximumComponents` would take the daemon's processor for minutes.
    static let maximumComponents = 4_000_000

    private var walk: LinkWalk
    private let names: FoldedNames
    private var shared: Set<Int> = []

    /// - Parameter limit: The most components of all links' ways; above it, links are refused.
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
        // What is refused is not there for the others.
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

/// The places of a tree, by their names in the sense of file systems that fold case. A walk asks for one component after the other, so what
/// the path before has in common with a path is not looked up again: paths have up to 4 KiB, walks millions of components.
private final class FoldedNames {
    private struct Name: Hashable {
        let parent: Int
        let folded: String
    }

    private static let slash = UInt8(ascii: "/")

    /// By the numbers of places; 0 is the root.
    var entries: [LinkWalk.Entry?] = [nil]
    private var places: [Name: Int] = [:]
    /// The path that was asked for last, and where each of its components ends and what it is; `nil` for no place.
    private var last: [UInt8] = []
    private var way: [(end: Int, place: Int?)] = []

    /// Returns a path's place; `nil` where there is none.
    func place(of path: [UInt8]) -> Int? {
        find(path) { self.places[$0] }
    }

    /// Returns a path's place, which is made where there is none. Not after `place` was asked.
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

    /// The same for names that a file system without case takes for one: APFS and NTFS fold case, and strings compare by canonical
    /// equivalence. Bytes that are no UTF-8 become U+FFFD, so that two such names may be taken for one.
    private static func folded(_ name: ArraySlice<UInt8>) -> String {
        let text = String(decoding: name, as: UTF8.self)
        return text.utf8.allSatisfy { $0 < 0x80 } ? text.lowercased() : text.uppercased().lowercased()
    }
}
