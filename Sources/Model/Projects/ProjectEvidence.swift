/// What one type of project finds in a directory: its marker file, and whether there is something to build and to test.
struct ProjectEvidence: Equatable {
    var type: ProjectType
    /// The file by which the type was recognized.
    var marker: String
    /// The directory of the root; `nil` means the root.
    var directory: String?
    var builds = true
    /// Whether there are tests; `nil` if only its tool can find out.
    var tests: Bool? = true

    /// Whether it is worth running its tests: there are some, or its tool may find some.
    var mayTest: Bool { tests != false }

    /// The path of the marker, relative to the root.
    var path: String { ProjectTree.path(marker, in: directory) }

    /// Searches a directory for a type's files. Files that cannot be read may hold tests: the type's tool then reports that there are none.
    /// - Returns: `nil` if the directory has no marker file of the type.
    init?(_ type: ProjectType, in tree: ProjectTree, directory: String? = nil) {
        let names = tree.names(in: directory)
        let found =
            switch type {
            case .shell: Self.bats(tree, directory)
            case .lua: type.profile.marker(in: names) ?? Self.busted(tree, directory)
            default: type.profile.marker(in: names)
            }
        guard let marker = found else { return nil }
        self.type = type
        self.marker = marker
        self.directory = directory
        switch type {
        case .swiftPackage:
            tests = names.contains("Tests") ? true : Self.mentions([".testTarget"], tree.text(marker, in: directory))
        case .cmake: tests = Self.cmakeTests(tree, directory)
        case .python: (builds, tests) = Self.python(names, tree, directory)
        case .npm: (builds, tests) = Self.npm(tree, directory)
        case .composer:
            tests = names.contains { $0.hasPrefix("phpunit.xml") } ? true : tree.scripts[path].map { $0["test"] != nil }
        case .bundler: (builds, tests) = Self.ruby(names, tree, directory)
        case .perl: tests = names.contains("t")
        case .lua: tests = names.contains(".busted") || names.contains("spec") || Self.busted(tree, directory) != nil
        case .make:
            let makefile = tree.text(marker, in: directory).map(MakefileText.init)
            builds = makefile?.build != MakefileText.Build.none
            tests = makefile.map { $0.testTarget != nil }
        case .shell: builds = false
        case .meson: tests = Self.mesonTests(tree, directory)
        case .autotools, .bazel, .zig: tests = nil
        case .cargo, .go, .maven, .gradle, .dotnet, .mix, .rebar3, .dune, .stack, .cabal: break
        }
    }

    /// Whether a text contains one of the words, in any case; `nil` if the text was not read.
    private static func mentions(_ words: [String], _ text: String?) -> Bool? {
        guard let text else { return nil }
        let lowered = text.lowercased()
        return words.contains { lowered.contains($0.lowercased()) }
    }

    /// Whether CMake adds tests: a list file has `enable_testing()` or `include(CTest)`, or an option that adds tests. For the root, the list files
    /// in the directories of tests are searched, too.
    private static func cmakeTests(_ tree: ProjectTree, _ directory: String?) -> Bool? {
        let words = ["enable_testing", "include(ctest", "add_test", "build_test", "gtest_discover_tests"]
        let found = mentions(words, tree.text("CMakeLists.txt", in: directory))
        guard found == false, directory == nil else { return found }
        return ["tests", "test"].contains { mentions(words, tree.text("CMakeLists.txt", in: $0)) == true }
    }

    /// Whether a build file calls `test()`. `nil` if it does not, but has subdirectories that may do so.
    private static func mesonTests(_ tree: ProjectTree, _ directory: String?) -> Bool? {
        let text = tree.text("meson.build", in: directory)
        let found = mentions(["test("], text)
        return found == false && mentions(["subdir("], text) == true ? nil : found
    }

    /// Whether a Python project builds and tests something. A pyproject.toml or setup.cfg may hold only settings of tools, and a requirements.txt
    /// only what the documentation needs.
    private static func python(
        _ names: [String], _ tree: ProjectTree, _ directory: String?
    ) -> (builds: Bool, tests: Bool?) {
        func sections(_ name: String, _ beginnings: [String]) -> Bool {
            guard names.contains(name) else { return false }
            guard let text = tree.text(name, in: directory) else { return true }
            return text.split(whereSeparator: \.isNewline).contains { line in beginnings.contains { line.hasPrefix($0) }
            }
        }
        let builds =
            names.contains("setup.py")
            || sections("pyproject.toml", ["[project]", "[build-system]", "[tool.poetry]"])
            || sections("setup.cfg", ["[metadata]", "[options]"])
        func hasTests(_ names: [String]) -> Bool {
            names.contains {
                $0.hasSuffix(".py") && ($0.hasPrefix("test_") || $0.hasSuffix("_test.py") || $0 == "conftest.py")
            }
        }
        var tests =
            hasTests(names) || names.contains("pytest.ini") || names.contains("noxfile.py")
            || sections("pyproject.toml", ["[tool.pytest"]) || sections("setup.cfg", ["[tool:pytest]"])
        if directory == nil {
            tests = tests || tree.directories.contains { hasTests($0.value) || isPythonTests($0.key, $0.value) }
        }
        // A package may have its tests in deeper directories.
        return (builds, tests ? true : builds ? nil : false)
    }

    private static func isPythonTests(_ directory: String, _ names: [String]) -> Bool {
        ["tests", "test"].contains(directory) && names.contains { $0.hasSuffix(".py") }
    }

    private static func npm(_ tree: ProjectTree, _ directory: String?) -> (builds: Bool, tests: Bool?) {
        guard let scripts = tree.scripts[ProjectTree.path("package.json", in: directory)] else { return (true, nil) }
        let test = scripts["test"] ?? ""
        return (scripts["build"] != nil, !test.isEmpty && !test.contains("no test specified"))
    }

    /// Whether a Ruby project builds and tests something. A Gemfile alone may only serve tools such as fastlane, CocoaPods or Jekyll.
    private static func ruby(_ names: [String], _ tree: ProjectTree, _ directory: String?) -> (
        builds: Bool, tests: Bool?
    ) {
        let rakefile = names.contains("Rakefile") ? tree.text("Rakefile", in: directory) : nil
        let rakes =
            rakefile.map { text in ["TestTask", "RSpec", "application"].contains { text.contains($0) } } ?? false
        let builds = rakefile != nil || names.contains { $0.hasSuffix(".gemspec") }
        guard directory == nil else { return (builds, rakes || names.contains("spec") || names.contains("test")) }
        let files = tree.names(in: "spec") + tree.names(in: "test")
        return (
            builds,
            rakes
                || files.contains { $0.hasSuffix("_spec.rb") || $0.hasSuffix("_helper.rb") || $0.hasSuffix("_test.rb") }
        )
    }

    /// Returns a spec file for busted in a usual directory; `nil` if there is none. Many projects keep their rockspecs in a separate directory.
    private static func busted(_ tree: ProjectTree, _ directory: String?) -> String? {
        guard directory == nil else { return nil }
        for name in ["spec", "test", "tests"] {
            let found = tree.names(in: name).filter { $0.hasSuffix("_spec.lua") }.min()
            if let found { return "\(name)/\(found)" }
        }
        return nil
    }

    /// Returns a file of bats tests in the directory itself, in a usual directory for tests, or in a directory there; `nil` if there is none.
    private static func bats(_ tree: ProjectTree, _ directory: String?) -> String? {
        func first(_ names: [String]) -> String? { names.filter { $0.hasSuffix(".bats") }.min() }
        if let own = first(tree.names(in: directory)) { return own }
        guard directory == nil else { return nil }
        let below = tree.directories.keys.filter { $0.contains("/") }.sorted()
        for name in ProjectTree.batsDirectories + below {
            if let found = first(tree.names(in: name)) { return "\(name)/\(found)" }
        }
        return nil
    }
}
