/// A recipe to begin with, for repositories whose type is not recognised but whose tools are known by a file.
struct SampleRecipe {
    /// What tells it, as the message names it.
    let found: String
    /// In one line, as a recipe could have it.
    let recipe: String

    /// For a root in which nothing is known.
    static let unknown = "configurations: { debug: { build: COMMAND, test: COMMAND } }"

    /// Nothing when no file of the root is known.
    static func fitting(rootEntries: [String]) -> SampleRecipe? {
        for row in table {
            let found = rootEntries.first { name in
                row.names.contains { $0.hasPrefix("*") ? name.hasSuffix($0.dropFirst()) : name == $0 }
            }
            guard let found else { continue }
            var parts = ["build: \(row.build)"]
            if let test = row.test { parts.append("test: \(test)") }
            return SampleRecipe(
                found: found, recipe: "configurations: { debug: { \(parts.joined(separator: ", ")) } }")
        }
        return nil
    }

    private struct Row {
        /// Names in the root, or `*` and how they end.
        var names: [String]
        var build: String
        var test: String?
    }

    /// The commands are those of each tool's own documentation. A file that tells a `ProjectType` has no row.
    private static let table = [
        Row(names: ["SConstruct"], build: "scons", test: nil),
        Row(names: ["build.xml"], build: "ant", test: "ant test"),
        Row(names: ["justfile", "Justfile"], build: "just build", test: "just test"),
        Row(names: ["Taskfile.yml"], build: "task build", test: "task test"),
        Row(names: ["build.sh"], build: "./build.sh", test: nil),
    ]
}
