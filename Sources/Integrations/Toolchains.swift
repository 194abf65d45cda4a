import Glibc

/// Finds the directories that a fenced job needs for its compilers: those of the daemon's PATH that lie outside `/usr`.
enum Toolchains {
    /// What the minimal root has of the machine anyway.
    private static let usual = ["/usr", "/bin", "/sbin", "/lib", "/lib64"]

    /// The directories whose `usr/bin` is in PATH, or that a `swift` in PATH is a link into: `/opt/swift` for
    /// `/opt/swift/usr/bin`. Blocks for as long as reading links does.
    static func directories(inPath path: String) -> [String] {
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

    /// PATH without the entries that a fenced job does not see.
    static func path(_ path: String, within readOnly: [String]) -> String {
        let kept = entries(path).filter { isSeen($0, within: readOnly) }
        return kept.isEmpty ? JobIsolation.imagePath : kept.joined(separator: ":")
    }

    /// Whether a fence shows a path of the machine at its own place.
    static func isSeen(_ path: String, within readOnly: [String]) -> Bool { isWithin(path, usual + readOnly) }

    /// Whether a path is one of some directories or beneath one.
    static func isWithin(_ path: String, _ directories: [String]) -> Bool {
        directories.contains { path == $0 || path.hasPrefix($0 + "/") }
    }

    private static func entries(_ path: String) -> [String] {
        path.split(separator: ":").map { entry in
            entry.count > 1 && entry.hasSuffix("/") ? String(entry.dropLast()) : String(entry)
        }.filter { $0.hasPrefix("/") && !$0.split(separator: "/").contains("..") }
    }
}
