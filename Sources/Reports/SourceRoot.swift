/// Turns the paths that tools print into paths relative to the repository's root.
package struct SourceRoot: Sendable, Hashable {
    /// Components of the directories under which the tree may have been seen by the job, longest first.
    private let mounts: [[Substring]]
    /// The paths of the root.
    let paths: [String]

    /// - Parameters:
    ///   - mountedAt: The absolute directory where the job saw the tree, such as `/martlet/kit`.
    ///   - others: Further absolute names of the same directory: what a symbolic link on the way stands for.
    package init(mountedAt: String, others: [String] = []) {
        self.init(paths: [mountedAt] + others)
    }

    init(paths: [String]) {
        self.paths = paths
        mounts =
            paths
            .compactMap { Self.components($0) }
            .filter { !$0.isEmpty }
            .sorted { $0.count > $1.count }
    }

    /// The path relative to the root, with `/` and without `.`, `..` or empty components.
    ///
    /// `file://` URIs are accepted, and percent signs in them are decoded. A relative path is relative to the root.
    /// - Returns: `nil` if the path lies elsewhere, leaves the root by `..`, is the root itself, or contains a NUL.
    package func relative(_ path: String) -> String? {
        var text = Substring(path)
        if let inside = Self.fileURIPath(path) { text = Substring(inside) }
        guard !text.isEmpty, text.utf8.count <= Self.maximumPathBytes, !text.utf8.contains(0) else { return nil }
        let isAbsolute = text.first == "/"
        guard let components = Self.components(text) else { return nil }
        if !isAbsolute { return Self.joined(components) }
        for mount in mounts where components.count > mount.count && components.starts(with: mount) {
            return Self.joined(components.dropFirst(mount.count))
        }
        return nil
    }

    /// The relative path where there is one, else the path as printed, cut at `maximumPathBytes`.
    package func shown(_ path: String) -> String {
        relative(path) ?? TextLimit.cut(path, toBytes: Self.maximumPathBytes)
    }

    /// Linux's PATH_MAX, in bytes.
    package static let maximumPathBytes = 4096

    /// The components without `.` and with `..` applied; `nil` if a `..` leaves the beginning.
    private static func components(_ path: some StringProtocol) -> [Substring]? {
        var components: [Substring] = []
        for component in Substring(path).split(separator: "/", omittingEmptySubsequences: true) where component != "." {
            if component == ".." {
                if components.popLast() == nil { return nil }
            } else {
                components.append(component)
            }
        }
        return components
    }

    private static func joined(_ components: some Collection<Substring>) -> String? {
        components.isEmpty ? nil : components.joined(separator: "/")
    }

    /// The path of a `file:` URI (RFC 8089), percent signs decoded; `nil` for anything else.
    private static func fileURIPath(_ text: String) -> String? {
        guard text.hasPrefix("file:") else { return nil }
        var rest = text.dropFirst("file:".count)
        if rest.hasPrefix("//") {
            // The authority is a host name, or empty: neither changes the path.
            rest = rest.dropFirst(2)
            rest = rest[(rest.firstIndex(of: "/") ?? rest.endIndex)...]
        }
        return PercentEncoding.decode(String(rest))
    }
}
