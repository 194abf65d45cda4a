/// Functions on paths as text. None of them reads the file system.
enum FilePath {
    /// Returns `base/name`, or `name` itself if it is absolute.
    static func join(_ base: String, _ name: String) -> String {
        if name.hasPrefix("/") || base.isEmpty { return name }
        return base.hasSuffix("/") ? base + name : base + "/" + name
    }

    /// Returns the path without its last component; `.` if there is only one component.
    static func parent(of path: String) -> String {
        var rest = path[...]
        while rest.count > 1, rest.hasSuffix("/") { rest = rest.dropLast() }
        guard let slash = rest.lastIndex(of: "/") else { return "." }
        return slash == rest.startIndex ? "/" : String(rest[..<slash])
    }

    static func lastComponent(of path: String) -> String {
        path.split(separator: "/").last.map(String.init) ?? path
    }

    /// Returns the last component without `.yml` or `.yaml`; `nil` if it has neither ending.
    static func yamlName(of path: String) -> String? {
        let name = lastComponent(of: path)
        for ending in [".yml", ".yaml"] where name.hasSuffix(ending) && name.count > ending.count {
            return String(name.dropLast(ending.count))
        }
        return nil
    }

    /// Returns whether a pattern or path stays below its base directory: relative, without `..`, without a NUL.
    static func isBeneath(_ path: String) -> Bool {
        !path.isEmpty && !path.hasPrefix("/") && !path.utf8.contains(0)
            && !path.split(separator: "/").contains("..")
    }
}
