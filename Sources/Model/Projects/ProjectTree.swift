/// The names and small texts of a commit by which its kinds of projects are recognized, before anything of it runs.
///
/// `Settings` reads one by `ProjectTree(names:text:)`, with the limits that are declared here.
package struct ProjectTree: Hashable, Sendable {
    /// The names in the root. An unknown name is not a file that is there.
    package var rootEntries: [String]
    /// The names in directories of the root, keyed by the directory; see `isSearched`.
    package var directories: [String: [String]] = [:]
    /// The texts of `textNames` in the root and in `directories`, keyed by path. A file that is too large is missing here.
    package var texts: [String: String] = [:]
    /// The `scripts` of each package.json and composer.json that could be read, keyed by path.
    package var scripts: [String: [String: String]] = [:]
    /// The test commands of the project's own CI.
    package var ownCommands: [OwnCommand] = []

    package init(rootEntries: [String]) { self.rootEntries = rootEntries }

    /// A command that the project's own CI runs to test.
    package struct OwnCommand: Hashable, Sendable, Codable {
        /// The file that states it, relative to the root.
        package var file: String
        /// One line.
        package var command: String

        package init(file: String, command: String) {
            self.file = file
            self.command = command
        }

        /// Names commands, for a message that nothing was tested; `nil` where there is none.
        package static func sentence(_ commands: [OwnCommand]) -> String? {
            guard !commands.isEmpty else { return nil }
            let named = commands.prefix(3).map { "`\($0.command)` (\($0.file))" }.joined(separator: ", ")
            let more = commands.count > 3 ? " and \(commands.count - 3) more" : ""
            return "the project's own CI runs \(named)\(more)"
        }
    }

    /// Reads a tree by two functions: the names in a directory of it, and the bytes of a regular file with at most so many. Both return
    /// `nil` for what is not there.
    package typealias Reader =
        @Sendable (
            _ rootEntries: [String], _ names: (String) -> [String]?, _ text: (String, Int) -> [UInt8]?
        ) -> ProjectTree

    /// The most directories of the root that are looked into.
    package static let maximumDirectories = 48
    /// The most names of one directory that count.
    package static let maximumNames = 2_000
    /// The most files that are read, and the most bytes of each and of all.
    package static let maximumTexts = 64
    package static let maximumTextSize = 128 << 10
    package static let maximumSize = 1 << 20
    /// The most bytes of all names in directories of the root.
    package static let maximumNamesSize = 512 << 10

    /// The files whose texts say whether a project builds and tests something.
    package static let textNames: Set<String> = [
        "Package.swift", "CMakeLists.txt", "meson.build", "GNUmakefile", "makefile", "Makefile", "package.json",
        "composer.json",
        "pyproject.toml", "setup.cfg", "Rakefile",
    ]
    /// Files of the root by which a project says what its own CI runs.
    package static let ownNames: Set<String> = [
        ".gitlab-ci.yml", ".travis.yml", "tox.ini", "noxfile.py", "justfile", "Justfile",
    ]
    /// The directory of GitHub's workflows.
    package static let workflows = ".github/workflows"

    /// The directories of the root that may hold tests for bats, in the order in which they are looked into.
    package static let batsDirectories = ["test", "tests", "spec", "t"]
    /// The directories of those whose files for bats are none of the project's own tests.
    package static let batsLeavesOut: Set<String> = [
        "fixtures", "fixture", "testdata", "data", "samples", "examples", "test_helper", "helpers", "vendor",
        "node_modules",
        "bats-core", "bats-support", "bats-assert", "bats-file",
    ]
    /// The most directories of each of `batsDirectories` that are looked into.
    package static let maximumBatsDirectories = 16

    /// Whether a directory has files for bats.
    package static func hasBats(_ names: some Sequence<String>) -> Bool { names.contains { $0.hasSuffix(".bats") } }

    /// Whether a directory of the root may hold a project of its own: not what is hidden, foreign, or for show.
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

    /// The names of a directory; `nil` is the root.
    func names(in directory: String?) -> [String] {
        guard let directory else { return rootEntries }
        return directories[directory] ?? []
    }

    /// The text of a file; `nil` where it is not there, or was not read.
    func text(_ name: String, in directory: String?) -> String? { texts[Self.path(name, in: directory)] }

    static func path(_ name: String, in directory: String?) -> String { directory.map { "\($0)/\(name)" } ?? name }
}
