import Model

/// A program that a default command needs and that is not in the `PATH` of jobs. Its description states what to do.
struct MissingProgram: CustomStringConvertible {
    let name: String
    /// The `PATH` that was searched; `nil` if unknown.
    let path: String?

    /// The Debian package with the program; `nil` if unknown.
    private var package: String? { ProjectType.allCases.lazy.compactMap { $0.profile.packages[name] }.first }

    /// The name of what to install: the Debian package, or else the program.
    var brief: String { package ?? (name == "swift" ? "a Swift toolchain" : name) }

    var description: String {
        let place = path.map { " (PATH is \($0))" } ?? ""
        let install =
            package.map { "install it (Debian: apt-get install \($0))" }
            ?? (name == "swift" ? "install a Swift toolchain" : "install it")
        return "\(name) is not where jobs look for programs\(place); \(install), or have the service started with its "
            + "directory in PATH and, where that is outside /usr, listed in `sandbox: { read-only: [DIRECTORY] }` of the settings"
    }
}
