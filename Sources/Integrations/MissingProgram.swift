import Model

/// A program that a usual command needs, and that is not where jobs look: what to do about it.
struct MissingProgram: CustomStringConvertible {
    let name: String
    /// Where it was looked for; nothing when unknown.
    let path: String?

    var description: String {
        let place = path.map { " (PATH is \($0))" } ?? ""
        let package = ProjectType.allCases.lazy.compactMap { $0.profile.packages[name] }.first
        let install =
            package.map { "install it (Debian: apt-get install \($0))" }
            ?? (name == "swift" ? "install a Swift toolchain" : "install it")
        return "\(name) is not where jobs look for programs\(place); \(install), or have the service started with its "
            + "directory in PATH and, where that is outside /usr, listed in `fence: { read-only: [DIRECTORY] }` of the settings"
    }
}
