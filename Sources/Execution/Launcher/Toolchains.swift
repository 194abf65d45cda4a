import Glibc

/// Finds the directories that a sandboxed job needs for its compilers: those in the daemon's `PATH` that are outside of `/usr`.
package enum Toolchains {
    /// The `PATH` in an image, which is that of Debian's `login.defs`.
    package static let usualPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
    /// The directories of the machine that the minimal root contains anyway.
    private static let usual = ["/usr", "/bin", "/sbin", "/lib", "/lib64"]

    /// Returns the directories whose `usr/bin` is in `PATH`, or that a `swift` in `PATH` links to, such as `/opt/swift` for `/opt/swift/usr/bin`.
    /// Blocks while it reads links.
    package static func directories(inPath path: String) -> [String] {
        var found: [String] = []
        func add(_ programs: String) {
            guard programs.hasPrefix("/"), programs.hasSuffix("/usr/bin") else { return }
            let directory = String(programs.dropLast("/usr/bin".count))
            guard !directory.isEmpty, !isWithin(directory, usual), !found.contains(directory) else { return }
            found.append(directory)
        }
        for entry in entries(path) {
            add(entry)
            guard let resolved = realpath(entry + "/swift", nil) else { continue }
            defer { free(resolved) }
            let program = String(cString: resolved)
            add(String(program[..<(program.lastIndex(of: "/") ?? program.startIndex)]))
        }
        return found
    }

    /// Returns `PATH` without the entries that a sandboxed job does not see.
    package static func path(_ path: String, within readOnly: [String]) -> String {
        let kept = entries(path).filter { isSeen($0, within: readOnly) }
        return kept.isEmpty ? usualPath : kept.joined(separator: ":")
    }

    /// Whether a sandbox shows a path of the machine at its own place.
    package static func isSeen(_ path: String, within readOnly: [String]) -> Bool { isWithin(path, usual + readOnly) }

    /// Whether a path is one of the directories, or beneath one.
    package static func isWithin(_ path: String, _ directories: [String]) -> Bool {
        directories.contains { path == $0 || path.hasPrefix($0 + "/") }
    }

    private static func entries(_ path: String) -> [String] {
        path.split(separator: ":").map { entry in
            entry.count > 1 && entry.hasSuffix("/") ? String(entry.dropLast()) : String(entry)
        }.filter { $0.hasPrefix("/") && !$0.split(separator: "/").contains("..") }
    }
}
