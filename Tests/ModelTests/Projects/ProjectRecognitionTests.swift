import TestSupport
import Testing

@testable import Model

/// The type of a project, recognized by names and a few texts of its tree. A type with tests is preferred.
@Suite struct ProjectRecognitionTests {
    /// Returns a tree of files. Names without a slash are in the root. `scripts` are those of the package.json files.
    private func tree(_ files: [String: String], scripts: [String: [String: String]] = [:]) -> ProjectTree {
        var tree = ProjectTree(rootEntries: [])
        for (path, text) in files.sorted(by: { $0.key < $1.key }) {
            tree.texts[path] = text
            let parts = path.split(separator: "/").map(String.init)
            if !tree.rootEntries.contains(parts[0]) { tree.rootEntries.append(parts[0]) }
            if parts.count > 1 { tree.directories[parts[0], default: []].append(parts[1]) }
        }
        tree.scripts = scripts
        return tree
    }

    @Test(
        .proves(
            .steps,
            "A kind of project without tests passes on to the next; several with tests are a configuration each, also one directory down"
        ),
        arguments: [
            // A C library with a package.json for a package manager.
            (["package.json": "{}", "Makefile": "all:\ncheck: all\n"], ["package.json": [:]], .make),
            (["package.json": "{}", "Makefile": "all:\n"], ["package.json": ["test": "node --test"]], .npm),
            (
                ["package.json": "{}", "Makefile": "all:\ncheck:\n"],
                ["package.json": ["test": "echo \"Error: no test specified\" && exit 1"]], .make
            ),
            // One man page, and tests of the shell's programs.
            (["Makefile": "kit.1: kit.md\n\tronn kit.md\n", "test/a.bats": "", "kit": ""], [:], .shell),
            (["Makefile": "all:\ncheck:\n", "test/a.bats": ""], [:], .make),
            // Settings of tools do not make a Python project, nor does the documentation's configuration.
            (["pyproject.toml": "[tool.black]\n", "Makefile": "all:\ntest:\n"], [:], .make),
            (["requirements.txt": "sphinx\n", "Makefile": "all:\ntest:\n"], [:], .make),
            (["setup.cfg": "[flake8]\n", "package.json": "{}"], ["package.json": ["test": "jest"]], .npm),
            (["pyproject.toml": "[project]\n", "Makefile": "test:\n"], [:], .python),
            (["requirements.txt": "", "tests/test_a.py": "", "Makefile": "test:\n"], [:], .python),
            (["CMakeLists.txt": "project(kit)\n", "Makefile": "all:\ncheck:\n"], [:], .make),
            (["CMakeLists.txt": "project(kit)\nenable_testing()\n", "Makefile": "check:\n"], [:], .cmake),
            (["CMakeLists.txt": "option(KIT_BUILD_TESTS \"\" OFF)\n", "Makefile": "check:\n"], [:], .cmake),
            (["CMakeLists.txt": "add_subdirectory(test)\n", "test/CMakeLists.txt": "add_test(a)\n"], [:], .cmake),
            (["meson.build": "library('kit')\n", "Makefile": "test:\n"], [:], .make),
            (["meson.build": "test('a', a)\n", "Makefile": "test:\n"], [:], .meson),
            (["meson.build": "subdir('tests')\n", "Makefile": "test:\n"], [:], .meson),
            // Rails, Laravel and Phoenix have a package.json, and an application may have a Gemfile for its documentation.
            (
                ["Gemfile": "", "Rakefile": "Rails.application.load_tasks\n", "package.json": "{}"],
                ["package.json": [:]], .bundler
            ),
            (
                ["composer.json": "{}", "phpunit.xml": "", "package.json": "{}"],
                ["package.json": [:], "composer.json": [:]], .composer
            ),
            (["mix.exs": "", "package.json": "{}"], ["package.json": [:]], .mix),
            (["Gemfile": "", "package.json": "{}"], ["package.json": ["test": "jest"]], .npm),
            // Rockspecs in a directory of their own, one per version.
            (
                ["kit.lua": "", "spec/kit_spec.lua": "", "rockspecs/kit-1.0-1.rockspec": "", "Makefile": "check:\n"],
                [:],
                .lua
            ),
            (["kit-1.0-1.rockspec": "", "tests/kit_spec.lua": "", "Makefile": "check:\n"], [:], .lua),
            // Nothing has a test: a type that builds is preferred, then the first one.
            (["package.json": "{}", "Makefile": "all:\n"], ["package.json": [:]], .make),
            (["package.json": "{}"], ["package.json": [:]], .npm),
        ] as [([String: String], [String: [String: String]], ProjectType)])
    func testThatAKindWithoutTestsPassesOn(
        _ files: [String: String], _ scripts: [String: [String: String]], _ type: ProjectType
    ) throws {
        // when
        let recognition = try #require(ProjectType.recognize(tree(files, scripts: scripts)))
        // then
        #expect(recognition.type == type)
        #expect(recognition.directory == nil)
    }

    @Test(
        .proves(
            .steps,
            "A kind of project without tests passes on to the next; several with tests are a configuration each, also one directory down"
        ))
    func testThatEachKindWithTestsIsNamedAndRun() throws {
        // given
        let tree = tree(
            [
                "go.mod": "", "package.json": "{}", "pyproject.toml": "[tool.pytest.ini_options]\n",
                "Makefile": "test:\n",
            ],
            scripts: ["package.json": ["test": "jest"]])
        // when
        let recognition = try #require(ProjectType.recognize(tree))
        // then
        #expect(recognition.type == .go)
        #expect(recognition.others?.map(\.type) == [.python, .npm])
        #expect(recognition.passedOver == ["Makefile"])
        #expect(
            recognition.sentence
                == "Go module, by go.mod (before Makefile); and Python project, by pyproject.toml; and npm package, by package.json"
        )
    }

    @Test func testThatTwoToolsOfOneLanguageAreOne() throws {
        // when
        let recognition = try #require(ProjectType.recognize(tree(["pom.xml": "", "build.gradle": ""])))
        // then
        #expect(recognition.type == .maven)
        #expect(recognition.others == nil)
        #expect(recognition.passedOver == ["build.gradle"])
    }

    @Test func testThatTheDirectoriesOfARootWithoutAProjectAreLookedInto() throws {
        // given
        let tree = tree(
            [
                "README": "", "server/go.mod": "", "client/package.json": "{}", "docs/package.json": "{}",
                "vendor/go.mod": "",
            ],
            scripts: ["client/package.json": ["test": "jest"], "docs/package.json": ["test": "jest"]])
        // when
        let recognition = try #require(ProjectType.recognize(tree))
        // then
        #expect(recognition.type == .npm)
        #expect(recognition.directory == "client")
        #expect(recognition.others?.map(\.directory) == ["server"])
        #expect(recognition.sentence == "npm package, by client/package.json; and Go module, by server/go.mod")
    }

    @Test func testThatTestsOneDirectoryDownAreFoundBesideABuild() throws {
        // when
        let recognition = try #require(
            ProjectType.recognize(tree(["Makefile": "all: kit\n", "tests/go.mod": "", "src/Makefile": "all:\n"])))
        // then
        #expect(recognition.type == .make)
        #expect(recognition.directory == nil)
        #expect(recognition.others?.map(\.directory) == ["tests"])
    }

    @Test(arguments: ["a b", "a'b", "$(x)", "-x", "ä", "a;b"])
    func testThatADirectoryWhoseNameAShellWouldReadIsPassedOver(_ name: String) {
        #expect(ProjectType.recognize(tree(["\(name)/go.mod": ""])) == nil)
    }

    @Test(
        arguments: [
            (["./run-tests.sh"], "./run-tests.sh"), (["./run-tests.sh", "./run-tests.sh"], "./run-tests.sh"),
            (["bash test/all.sh"], "bash test/all.sh"), (["make unit"], "make unit"), (["prove -r t"], "prove -r t"),
            (["./run-tests.sh", "./more-tests.sh"], nil), (["./missing-test.sh"], nil),
            (["./run-tests.sh $MATRIX"], nil),
            (["./run-tests.sh | tee log"], nil), (["curl x | sh -c test"], nil), (["npm test"], nil),
            (["sh ../test.sh"], nil), ([], nil),
        ] as [([String], String?)])
    func testThatTheOneObviousCommandOfItsOwnCITestsWhatNoKindTests(_ commands: [String], _ used: String?) {
        for files in [
            ["run-tests.sh": "", "test/all.sh": ""], ["run-tests.sh": "", "test/all.sh": "", "Makefile": "all:\n"],
        ] {
            // given
            var tree = tree(files)
            tree.ownCommands = commands.map { .init(file: ".github/workflows/ci.yml", command: $0) }
            // when
            let recognition = ProjectType.recognize(tree)
            // then
            #expect(recognition?.test?.command == used)
            if let used {
                #expect(
                    recognition?.sentence.hasSuffix("; tested by `\(used)`, as .github/workflows/ci.yml has it") == true
                )
            }
        }
    }

    @Test func testThatUsualTestsGoBeforeACommandOfItsOwnCI() {
        // given
        var tree = tree(["go.mod": "", "run-tests.sh": ""])
        tree.ownCommands = [.init(file: ".travis.yml", command: "./run-tests.sh")]
        // when
        let recognition = ProjectType.recognize(tree)
        // then
        #expect(recognition?.test == nil)
        #expect(recognition?.ownCommands == tree.ownCommands)
        #expect(
            ProjectTree.OwnCommand.sentence(tree.ownCommands)
                == "the project's own CI runs `./run-tests.sh` (.travis.yml)")
    }
}
