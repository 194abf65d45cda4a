import Glibc

/// What of the machine no job may see, whatever the settings show: told with all links followed, since a path's name says little of where it leads.
struct HiddenPaths {
    /// Neither these, nor what lies in one, nor what one lies in.
    let paths: [String]
    /// Neither these, nor what one lies in. Something else may lie there, such as a toolchain in the home of the service's user.
    let places: [String]

    /// - Returns: The first of them that a path would show.
    func shown(by path: String) -> String? {
        let names = [path, Self.resolved(path)]
        func lies(_ one: [String], within other: [String]) -> Bool {
            one.contains { Toolchains.isWithin($0, other) }
        }
        return (paths + places).first { hidden in
            let others = [hidden, Self.resolved(hidden)]
            return lies(others, within: names) || paths.contains(hidden) && lies(names, within: others)
        }
    }

    /// A path as far as it is there, without links.
    private static func resolved(_ path: String) -> String {
        if let resolved = realpath(path, nil) {
            defer { free(resolved) }
            return String(cString: resolved)
        }
        guard let slash = path.lastIndex(of: "/"), slash > path.startIndex else { return path }
        return resolved(String(path[..<slash])) + path[slash...]
    }
}
