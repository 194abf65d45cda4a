import Glibc

/// What of the machine no job may see, whatever the settings show: told with all links followed, since a path's name says little of where it leads.
struct HiddenPaths: Sendable {
    /// No path is hidden: jobs have no sandbox.
    static let none = HiddenPaths(paths: [], places: [])

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

    /// Whether showing a path would show one of them, as far as its name tells. The path comes from a job, so it is not looked up; ours are.
    func areNamed(by path: String) -> Bool {
        (paths + places).flatMap { [$0, Self.resolved($0)] }.contains { hidden in
            Toolchains.isWithin(path, [hidden]) || Toolchains.isWithin(hidden, [path])
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
