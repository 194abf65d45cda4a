import Execution
import Glibc

/// The paths of the machine that no job may see, whatever the settings show. They are compared with all links followed, because a path's name says
/// little of where it leads.
struct HiddenPaths: Sendable {
    /// No path is hidden: jobs have no sandbox.
    static let none = HiddenPaths(paths: [], places: [])

    /// Hidden with their contents: a job may see neither these, nor anything in them, nor a directory that contains one.
    let paths: [String]
    /// Hidden without their contents: a job may see neither these nor a directory that contains one. It may see files in them, such as a toolchain in
    /// the home of the service's user.
    let places: [String]

    /// Returns the first hidden path that showing a path would reveal; `nil` if there is none.
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

    /// Whether showing a path would reveal a hidden one, as far as its name tells. The path comes from a job, so its links are not followed; those of
    /// the hidden paths are.
    func areNamed(by path: String) -> Bool {
        (paths + places).flatMap { [$0, Self.resolved($0)] }.contains { hidden in
            Toolchains.isWithin(path, [hidden]) || Toolchains.isWithin(hidden, [path])
        }
    }

    /// Returns a path with its links followed, as far as it exists.
    private static func resolved(_ path: String) -> String {
        if let resolved = realpath(path, nil) {
            defer { free(resolved) }
            return String(cString: resolved)
        }
        guard let slash = path.lastIndex(of: "/"), slash > path.startIndex else { return path }
        return resolved(String(path[..<slash])) + path[slash...]
    }
}
