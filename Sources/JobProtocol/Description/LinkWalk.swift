/// A resolver of symbolic links in a tree that works like the kernel (path_resolution(7)), but from a description of the tree alone.
///
/// The texts of a link and of its target do not determine where it leads: with `p/q/a -> ../..`, the link `b -> p/q/a/../x` leaves the tree. Each
/// component is therefore looked up, and each link in the path is followed.
package struct LinkWalk {
    /// The kind of entry at a path of the tree.
    package enum Entry: Sendable, Equatable {
        case directory
        case file
        case link(target: [UInt8])
    }

    /// The end of a link.
    package enum End: Sendable, Equatable {
        case file([UInt8])
        /// A directory, by its path relative to the root. The root is the empty path.
        case directory([UInt8])
        /// It stays in the tree, but its target does not exist.
        case missing
        /// It leaves the tree, at its end or before.
        case outside
        /// More links than the kernel follows, or more components than the walk's limit.
        case endless
    }

    /// The largest number of links in one path (path_resolution(7)).
    package static let maximumLinks = 40
    /// The largest number of components of all paths in one walk. It is limited because a job can create links that lead through each other.
    package static let maximumComponents = 20_000_000

    /// The absolute path by which the job's own links name the root; `nil` if absolute links lead out.
    private let root: [UInt8]?
    private let entry: ([UInt8]) -> Entry?
    /// The number of components that may still be looked up. When it is 0, every further path is `.endless`.
    package private(set) var left: Int

    /// Creates a resolver.
    /// - Parameters:
    ///   - root: The absolute path by which links name the tree's root; `nil` if absolute links lead out.
    ///   - limit: The largest number of components that are looked up.
    ///   - entry: Returns the entry at a path, relative to the root; never called for the root.
    package init(root: [UInt8]? = nil, limit: Int = maximumComponents, entry: @escaping ([UInt8]) -> Entry?) {
        self.root = root
        self.entry = entry
        left = limit
    }

    /// Returns where the link at a path leads.
    package mutating func end(of path: [UInt8]) -> End {
        var place: [UInt8] = []
        var pending = Self.names(path)
        var (links, isMissing, isFile) = (0, false, false)
        while let name = pending.popLast() {
            guard left > 0 else { return .endless }
            left -= 1
            // A file has no entries and no `..`.
            if isFile { (isMissing, isFile) = (true, false) }
            if name.elementsEqual("..".utf8) {
                guard !place.isEmpty else { return .outside }
                place.removeSubrange((place.lastIndex(of: Self.slash) ?? 0)...)
                continue
            }
            let parent = place.count
            if !place.isEmpty { place.append(Self.slash) }
            place += name
            switch entry(place) {
            case .directory: break
            case .file: isFile = true
            case nil: isMissing = true
            case .link(let target):
                links += 1
                guard links <= Self.maximumLinks else { return .endless }
                place.removeSubrange(parent...)
                guard let names = relative(target, from: &place) else { return .outside }
                pending += names
            }
        }
        return isMissing ? .missing : isFile ? .file(place) : .directory(place)
    }

    /// Returns the components of a target, the last one first; `nil` if the target directly leaves the tree.
    private func relative(_ target: [UInt8], from place: inout [UInt8]) -> [ArraySlice<UInt8>]? {
        guard let first = target.first else { return nil }
        guard first == Self.slash else { return Self.names(target) }
        guard let root, target.starts(with: root), target.count == root.count || target[root.count] == Self.slash
        else { return nil }
        place = []
        return Self.names(target.dropFirst(root.count))
    }

    private static let slash = UInt8(ascii: "/")

    private static func names(_ path: some Collection<UInt8>) -> [ArraySlice<UInt8>] {
        Array(path).split(separator: slash).filter { !$0.elementsEqual(".".utf8) }.reversed()
    }
}
