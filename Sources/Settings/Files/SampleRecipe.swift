/// A sample recipe for repositories whose type is not recognized but whose tools are known by a file.
struct SampleRecipe {
    /// The file that identifies the tool, for the message.
    let found: String
    /// The recipe in one line.
    let recipe: String

    /// The sample for a root without a known file.
    static let unknown = "configurations: { debug: { build: COMMAND, test: COMMAND } }"

    /// Returns the sample for the first known file of the root; `nil` if there is none.
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
        /// Names in the root, or `*` and their ending.
        var names: [String]
        var build: String
        var test: String?
    }

    /// The commands are from each tool's documentation. Files that identify a `ProjectType` have no row.
    private static let table = [
        Row(names: ["SConstruct"], build: "scons", test: nil),
        Row(names: ["build.xml"], build: "ant", test: "ant test"),
        Row(names: ["justfile", "Justfile"], build: "just build", test: "just test"),
        Row(names: ["Taskfile.yml"], build: "task build", test: "task test"),
        Row(names: ["build.sh"], build: "./build.sh", test: nil),
    ]
}
