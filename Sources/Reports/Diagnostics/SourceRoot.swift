import Encodings

/// A converter of the paths that tools print to paths relative to the repository's root.
package struct SourceRoot: Sendable, Hashable {
    /// The components of the directories under which the job may have seen the tree, longest first.
    private let mounts: [[Substring]]
    /// The paths of the root.
    let paths: [String]

    /// - Parameters:
    ///   - mountedAt: The absolute path under which the job saw the tree, such as `/martlet/kit`.
    ///   - others: Further absolute paths of the same directory, for example with a symbolic link resolved.
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

    /// Returns the path relative to the root, with `/` and without `.`, `..` or empty components.
    ///
    /// `file:` URIs are accepted, and percent signs in them are decoded. A relative path is relative to the root.
    /// - Returns: `nil` if the path lies elsewhere, leaves the root by `..`, is the root itself, contains a NUL, or is longer than
    ///   `maximumPathBytes`.
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

    /// Returns the relative path if there is one, otherwise the path as printed, cut at `maximumPathBytes`.
    package func shown(_ path: String) -> String {
        relative(path) ?? TextLimit.cut(path, toBytes: Self.maximumPathBytes)
    }

    /// The longest path, in bytes: Linux's PATH_MAX.
    package static let maximumPathBytes = 4096

    /// Returns the components without `.` and with `..` applied; `nil` if a `..` goes above the first component.
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

    /// Returns the path of a `file:` URI (RFC 8089) with percent signs decoded; `nil` for other texts.
    private static func fileURIPath(_ text: String) -> String? {
        guard text.hasPrefix("file:") else { return nil }
        var rest = text.dropFirst("file:".count)
        if rest.hasPrefix("//") {
            // The authority is a host name or empty, and does not change the path.
            rest = rest.dropFirst(2)
            rest = rest[(rest.firstIndex(of: "/") ?? rest.endIndex)...]
        }
        return PercentEncoding.decodeLeniently(String(rest))
    }
}
