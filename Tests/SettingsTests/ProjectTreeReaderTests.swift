import Model
import TestSupport
import Testing

@testable import Settings

/// The facts about a project in its tree: texts, scripts, and the test commands of its own CI.
@Suite struct ProjectTreeReaderTests {
    private func read(_ files: [String: String]) -> ProjectTree {
        var directories: [String: Set<String>] = [:]
        for path in files.keys {
            var parts = path.split(separator: "/").map(String.init)
            while let name = parts.popLast() { directories[parts.joined(separator: "/"), default: []].insert(name) }
        }
        return ProjectTree(rootEntries: (directories[""] ?? []).sorted()) {
            directories[$0]?.sorted()
        } text: { path, limit in
            files[path].map { Array($0.utf8) }.flatMap { $0.count <= limit ? $0 : nil }
        }
    }

    @Test(
        .proves(.steps, "The test commands of a project's own CI are named, and the only one is used"),
        arguments: [
            (
                ".github/workflows/ci.yml", "on: push\njobs:\n  a:\n    steps:\n      - run: ./run-tests.sh\n",
                ["./run-tests.sh"]
            ),
            (
                ".github/workflows/ci.yml",
                """
                jobs:
                  a:
                    steps:
                      - uses: actions/checkout@v4
                      - run: |
                          sudo apt-get install -y libtest-perl
                          make
                          make \\
                            check V=1
                      - run: echo test
                      - run: curl https://example.org/test.sh | sh
                """, ["make check V=1"]
            ),
            (".gitlab-ci.yml", "unit:\n  script:\n    - cargo build\n    - cargo test --all\n", ["cargo test --all"]),
            (".travis.yml", "language: c\nscript: ./configure && make test\n", ["./configure && make test"]),
            (".travis.yml", "language: c\nscript: make test\n", ["make test"]),
            (
                "tox.ini",
                "[tox]\nenvlist = py\n[testenv]\ncommands =\n  pytest {posargs:tests}\n[testenv:lint]\ncommands = flake8 tests\n",
                ["pytest tests"]
            ),
            (
                "noxfile.py",
                "@nox.session\ndef t(session):\n    session.install('x')\n    session.run(\"pytest\", \"-q\")\n",
                ["pytest -q"]
            ),
            ("justfile", "build:\n  cc a.c\ntest arg='': build\n  ./a\nversion := '1'\n", ["just test"]),
            // A file that cannot be read names no command.
            (".gitlab-ci.yml", "a: [", []), (".gitlab-ci.yml", "a: &x { script: make test }\nb: *x\n", []),
        ])
    func testThatTheTestCommandsOfItsOwnCIAreFound(_ file: String, _ text: String, _ commands: [String]) {
        // when
        let tree = read([file: text, "README": ""])
        // then
        #expect(tree.ownCommands.map(\.command) == commands)
        #expect(tree.ownCommands.allSatisfy { $0.file == file })
    }

    @Test func testThatManyCommandsAndManyFilesHaveALimit() {
        // given
        let lines = (0..<100).map { "  - ./test-\($0).sh\n" }.joined()
        var files = Dictionary(
            uniqueKeysWithValues: (0..<100).map { (".github/workflows/\($0).yml", "script:\n\(lines)") })
        files[".gitlab-ci.yml"] = "a: { script: make test" + String(repeating: "x", count: 200_000) + " }\n"
        for index in 0..<200 { files["d\(index)/package.json"] = "{}" }
        // when
        let tree = read(files)
        // then
        #expect(tree.ownCommands.count == OwnCommandReader.maximumCommands)
        #expect(tree.texts.count <= ProjectTree.maximumTexts)
        #expect(tree.directories.count <= ProjectTree.maximumDirectories)
    }

    @Test func testThatAllTextsAndAllNamesTogetherHaveALimit() {
        // given
        var files: [String: String] = [:]
        for directory in 0..<40 {
            files["d\(directory)/package.json"] = #"{"a": ""# + String(repeating: "x", count: 100_000) + #""}"#
            for name in 0..<100 { files["d\(directory)/\(name)" + String(repeating: "n", count: 240)] = "" }
        }
        // when
        let tree = read(files)
        // then
        #expect(tree.texts.values.reduce(0) { $0 + $1.utf8.count } <= ProjectTree.maximumSize)
        #expect(tree.texts.count > 5)
        let names = tree.directories.values.joined().reduce(0) { $0 + $1.utf8.count }
        #expect(names <= ProjectTree.maximumNamesSize)
        #expect(names > ProjectTree.maximumNamesSize - 1000)
    }

    @Test func testThatADirectoryCalledReleaseIsNotWhatIsArchived() throws {
        // given
        let tree = read([
            "Makefile": "kit:\n\tcc a.c\n", "release/package.json": #"{"scripts": {"test": "jest"}}"#,
        ])
        // when
        let recipe = try #require(RecipeReader.withoutRecipe(.recognized(tree)).value)
        // then
        #expect(recipe.configurations.map(\.name.description) == ["debug", "release-npm-1"])
        #expect(recipe.archivedConfiguration?.description == "debug")
    }

    @Test(arguments: [("Makefile", "client/package.json", true), ("go.mod", "package.json", false)])
    func testThatOnlyAKindThatHasNoTestsMayTestNothing(
        _ first: String, _ second: String, _ mayTestNothing: Bool
    ) throws {
        // given
        let tree = read([first: "kit:\n\tcc a.c\n", second: #"{"scripts": {"test": "jest"}}"#])
        // when
        let recipe = try #require(RecipeReader.withoutRecipe(.recognized(tree)).value)
        // then
        #expect(recipe.configurations.map { recipe.mayTestNothing($0) } == [mayTestNothing, false])
    }

    @Test func testThatARecipeWithoutConfigurationsIsBuiltOptimizedToo() throws {
        // given
        let tree = read(["Cargo.toml": ""])
        // when
        let recipe = RecipeReader.read(
            yaml: "analyze: []", file: ".martlet.yml", project: .recognized(tree), isRelease: true
        ).value
        // then
        #expect(recipe?.configurations.map(\.name.description) == ["release"])
        #expect(recipe?.configurations.map(\.flags) == [["--release"]])
    }

    /// An expression over the whole text would take hours for each of these files.
    @Test(
        .proves(.reports, "Commands of a project's own CI are read in linear time"),
        .timeLimit(TestLimits.minutes(1)),
        arguments: [
            (".gitlab-ci.yml", "a:\n  script: |\n    x" + String(repeating: " ", count: 120_000) + "y\n"),
            ("justfile", String(repeating: "test \n", count: 20_000)),
            ("noxfile.py", String(repeating: "session.run(", count: 10_000)),
            ("tox.ini", "[testenv]\ncommands = " + String(repeating: "{posargs", count: 14_000) + "\n"),
        ])
    func testThatHostileTextsTakeLinearTime(_ file: String, _ text: String) {
        #expect(read([file: text]).ownCommands == [])
    }

    @Test(
        arguments: [
            ("{\n\t\"scripts\": {\n\t\t\"test\": \"node --test\"\n\t}\n}\n", ["test": "node --test"]), ("{}", [:]),
            ("{\"scripts\": {\"test\": [\"@a\", \"@b\"]}, \"url\": \"https:\\/\\/a.example\"}", ["test": "@a\n@b"]),
            ("{\"files\": [\"*\", \"&x\", \"!a\"], \"scripts\": {}}", [:]),
            ("{\r\n\"scripts\": {\"a\": \"b\"}\r\n}\r\n", ["a": "b"]),
            ("{", nil), ("", nil), ("[]", nil),
        ] as [(String, [String: String]?)])
    func testThatTheScriptsOfAPackageAreRead(_ text: String, _ scripts: [String: String]?) {
        for path in ["package.json", "client/package.json", "composer.json"] {
            #expect(read([path: text]).scripts[path] == scripts)
        }
    }

    @Test(
        .proves(
            .steps,
            "A kind of project without tests passes on to the next; several with tests are a configuration each, also one directory down"
        ))
    func testThatWhatIsFoundIsOneConfigurationOrSeveral() throws {
        // given
        let tree = read([
            "go.mod": "", "package.json": #"{"scripts": {"test": "jest"}}"#, "README": "",
        ])
        // when
        let recipe = try #require(RecipeReader.withoutRecipe(.recognized(tree)).value)
        // then
        #expect(recipe.configurations.map(\.name.description) == ["debug", "npm"])
        #expect(recipe.configurations.map { recipe.projectType(of: $0) } == [.go, .npm])
    }

    @Test func testThatADirectorysProjectIsAConfigurationWithItsName() throws {
        // given
        let tree = read(["server/go.mod": "", "client/package.json": #"{"scripts": {"test": "jest"}}"#])
        // when
        let recipe = try #require(RecipeReader.withoutRecipe(.recognized(tree)).value)
        // then
        #expect(recipe.configurations.map(\.name.description) == ["debug", "server"])
        #expect(recipe.configurations.map(\.directory) == ["client", "server"])
    }

    @Test(.proves(.steps, "The test commands of a project's own CI are named, and the only one is used"))
    func testThatTheOneCommandOfItsOwnCITests() throws {
        // given
        let tree = read(["run-tests.sh": "", ".travis.yml": "script: ./run-tests.sh\n"])
        // when
        let recipe = try #require(RecipeReader.withoutRecipe(.recognized(tree)).value)
        // then
        #expect(recipe.configurations.map(\.test) == ["./run-tests.sh"])
    }

    @Test func testThatSeveralCommandsOfItsOwnCIAreNamed() throws {
        // given
        let tree = read(["kit": "", ".travis.yml": "script:\n  - ./test-a.sh\n  - ./test-b.sh\n"])
        // when
        let reading = RecipeReader.withoutRecipe(.recognized(tree))
        // then
        let said = try #require(reading.errors.first?.message)
        expectContains(
            said,
            "the project's own CI runs `./test-a.sh` (.travis.yml), `./test-b.sh` (.travis.yml); add a .martlet.yml")
    }

    @Test(
        arguments: [
            ("Package.swift", ["-c", "release"]), ("Cargo.toml", ["--release"]),
            ("CMakeLists.txt", ["-DCMAKE_BUILD_TYPE=Release"]), ("meson.build", ["--buildtype=release"]),
        ])
    func testThatACommitToPublishIsBuiltOptimized(_ marker: String, _ flags: [String]) throws {
        // when
        let recipe = try #require(RecipeReader.withoutRecipe(.recognized(read([marker: ""])), isRelease: true).value)
        // then
        #expect(recipe.configurations.map(\.name.description) == ["release"])
        #expect(recipe.configurations.map(\.flags) == [flags])
        #expect(recipe.archivedConfiguration?.description == "release")
    }

    @Test func testThatAKindWithoutAnOptimizedBuildHasDebug() throws {
        let recipe = RecipeReader.withoutRecipe(.recognized(read(["go.mod": ""])), isRelease: true).value
        #expect(recipe?.configurations.map(\.name.description) == ["debug"])
    }

    @Test(
        .proves(
            .steps,
            "Tests for bats in directories of the usual ones are found and run, fixtures and copies of bats are not"),
        arguments: [
            (["test/unit/kit.bats"], "test/unit/kit.bats"), (["t/all/a.bats", "README.md"], "t/all/a.bats"),
            (["test/kit.bats", "test/unit/a.bats"], "test/kit.bats"),
            // Test data, and a library for bats.
            (["test/fixtures/a.bats"], nil), (["tests/bats-support/a.bats"], nil), (["docs/unit/a.bats"], nil),
        ])
    func testThatTestsForBatsMayLieInADirectoryOfTheTests(_ paths: [String], _ marker: String?) {
        // given
        let tree = read(Dictionary(uniqueKeysWithValues: paths.map { ($0, "") }))
        // when
        let recognition = ProjectType.recognize(tree)
        // then
        #expect(recognition?.marker == marker)
        #expect(recognition.map { $0.type == .shell && $0.hasNoTests == nil } ?? true)
    }
}
