/// The names and small texts of a commit by which its project types are recognized before any of its code runs.
///
/// `Settings` creates one by `ProjectTree(names:text:)`, within the limits that are declared here.
package struct ProjectTree: Hashable, Sendable {
    /// The names in the root. A file whose name is missing here counts as missing.
    package var rootEntries: [String]
    /// The names in directories of the root, keyed by directory; see `isSearched`.
    package var directories: [String: [String]] = [:]
    /// The texts of `textNames` in the root and in `directories`, keyed by path. Files that are too large are missing.
    package var texts: [String: String] = [:]
    /// The `scripts` of each package.json and composer.json that could be read, keyed by path.
    package var scripts: [String: [String: String]] = [:]
    /// The test commands of the project's own CI.
    package var ownCommands: [OwnCommand] = []

    package init(rootEntries: [String]) { self.rootEntries = rootEntries }

    /// A test command of the project's own CI.
    package struct OwnCommand: Hashable, Sendable, Codable {
        /// The file that states it, relative to the root.
        package var file: String
        /// The command, in one line.
        package var command: String

        package init(file: String, command: String) {
            self.file = file
            self.command = command
        }

        /// Lists commands for a message that no test ran; `nil` if there are none.
        package static func sentence(_ commands: [OwnCommand]) -> String? {
            guard !commands.isEmpty else { return nil }
            let named = commands.prefix(3).map { "`\($0.command)` (\($0.file))" }.joined(separator: ", ")
            let more = commands.count > 3 ? " and \(commands.count - 3) more" : ""
            return "the project's own CI runs \(named)\(more)"
        }
    }

    /// A function that reads a tree. It gets two functions: one returns the names in a directory, the other the bytes of a regular file up to a size
    /// limit. Both return `nil` if the directory or file does not exist.
    package typealias Reader =
        @Sendable (
            _ rootEntries: [String], _ names: (String) -> [String]?, _ text: (String, Int) -> [UInt8]?
        ) -> ProjectTree

    /// The largest number of directories of the root that are searched.
    package static let maximumDirectories = 48
    /// The largest number of names of one directory that are used.
    package static let maximumNames = 2_000
    /// The largest number of files that are read, and the largest size of each and of all, in bytes.
    package static let maximumTexts = 64
    package static let maximumTextSize = 128 << 10
    package static let maximumSize = 1 << 20
    /// The size limit of all names in directories of the root together, in bytes.
    package static let maximumNamesSize = 512 << 10

    /// The files whose texts show whether a project builds and tests something.
    package static let textNames: Set<String> = [
        "Package.swift", "CMakeLists.txt", "meson.build", "GNUmakefile", "makefile", "Makefile", "package.json",
        "composer.json",
        "pyproject.toml", "setup.cfg", "Rakefile",
    ]
    /// The files of the root in which a project may state what its own CI runs.
    package static let ownNames: Set<String> = [
        ".gitlab-ci.yml", ".travis.yml", "tox.ini", "noxfile.py", "justfile", "Justfile",
    ]
    /// The directory of GitHub's workflows.
    package static let workflows = ".github/workflows"

    /// The directories of the root that may hold bats tests, in the order of the search.
    package static let batsDirectories = ["test", "tests", "spec", "t"]
    /// The directories of a project whose bats files are not the project's own tests.
    package static let batsLeavesOut: Set<String> = [
        "fixtures", "fixture", "testdata", "data", "samples", "examples", "test_helper", "helpers", "vendor",
        "node_modules",
        "bats-core", "bats-support", "bats-assert", "bats-file",
    ]
    /// The largest number of subdirectories of each of `batsDirectories` that are searched.
    package static let maximumBatsDirectories = 16

    /// Whether a directory contains bats files.
    package static func hasBats(_ names: some Sequence<String>) -> Bool { names.contains { $0.hasSuffix(".bats") } }

    /// Whether a directory of the root may hold a project of its own. Hidden directories, and directories for third-party code, examples or
    /// documentation, are excluded.
    package static func isSearched(_ directory: String) -> Bool {
        !directory.hasPrefix(".") && !otherDirectories.contains(directory.lowercased())
    }

    private static let otherDirectories: Set<String> = [
        "vendor", "node_modules", "third_party", "third-party", "thirdparty", "3rdparty", "external", "extern", "deps",
        "subprojects", "examples", "example", "samples", "sample", "demo", "demos", "docs", "doc", "website", "site",
        "www",
        "build", "dist", "target", "benchmark", "benchmarks", "bench", "fuzz", "packaging", "debian", "contrib",
        "submodules",
        "templates", "template", "fixtures", "testdata", "rockspecs", "rockspec",
    ]

    /// Returns the names of a directory; `nil` means the root.
    func names(in directory: String?) -> [String] {
        guard let directory else { return rootEntries }
        return directories[directory] ?? []
    }

    /// Returns the text of a file; `nil` if it does not exist or was not read.
    func text(_ name: String, in directory: String?) -> String? { texts[Self.path(name, in: directory)] }

    static func path(_ name: String, in directory: String?) -> String { directory.map { "\($0)/\(name)" } ?? name }
}
