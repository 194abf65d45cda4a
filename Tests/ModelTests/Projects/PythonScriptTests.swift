import TestSupport
import Testing

@testable import Model

/// The usual commands of Python projects, run with the real pytest if it is installed. The interpreter is this machine's.
@Suite(.enabled(if: TestTools.find("pytest") != nil, "pytest is not here")) struct PythonScriptTests {
    private func project(_ files: [String: String], in directory: TemporaryDirectory) throws -> UsualScript {
        let script = try UsualScript(files, in: directory)
        try directory.write("tree/.martlet/venv/bin/python", "#!/bin/sh\nexec python3 \"$@\"\n", mode: 0o755)
        return script
    }

    @Test(
        arguments: [
            ["conftest.py": "import sys\nsys.exit(0)\n"], ["conftest.py": "import os\nos._exit(0)\n"],
            ["pytest.ini": "[pytest]\naddopts = -p no:junitxml\n"],
            ["test_b.py": "import os\ndef test_b():\n    os._exit(0)\n"],
        ])
    func testThatTestsThatEndWith0AndWithoutAReportAreRed(_ files: [String: String]) async throws {
        try await withTemporaryDirectory { directory in
            // given
            let script = try project(
                files.merging(["test_a.py": "def test_a():\n    assert 0\n"]) { $1 }, in: directory)
            // when
            let result = try await script.run(ProjectProfile.python.test)
            // then
            #expect(result.status != 0, "\(result.stdout)\(result.stderr)")
        }
    }

    @Test func testThatNoTestIsNoFailure() async throws {
        try await withTemporaryDirectory { directory in
            let script = try project(["kit.py": ""], in: directory)
            // when
            let result = try await script.run(ProjectProfile.python.test)
            // then
            #expect(result.status == 0)
            expectContains(result.stdout, "martlet: no tests: pytest found none\n")
        }
    }

    /// pytest collects these files and cannot import any: an example, a template, a test of another tool.
    private static let files = [
        "tests/test_a.py": "def test_a():\n    pass\n", "examples/test_broken.py": "import there_is_no_such_module\n",
        "more/check_b.py": "def test_b():\n    pass\n",
    ]

    @Test(
        arguments: [
            ("tox.ini", "[tox]\nenvlist = py\n[testenv]\ndeps = pytest\ncommands = pytest {posargs:tests}\n"),
            ("tox.ini", "[testenv]\ncommands =\n    python -m pytest -q \\\n      --cov=kit tests {posargs}\n"),
            ("tox.ini", "[testenv]\ncommands =\n    coverage run -m pytest --ignore=examples\n"),
            ("tox.ini", "[testenv]\ncommands = python -m unittest discover -s tests\n"),
            ("tox.ini", "[testenv]\ncommands = python -m unittest tests.test_a\n"),
            ("noxfile.py", "import nox\n@nox.session\ndef tests(session):\n    session.run(\"pytest\", \"tests\")\n"),
        ])
    func testThatItRunsTheTestsThatTheProjectItselfRuns(_ name: String, _ text: String) async throws {
        try await withTemporaryDirectory { directory in
            // given
            let script = try project(Self.files.merging([name: text]) { $1 }, in: directory)
            // when
            let result = try await script.run(ProjectProfile.python.test)
            // then
            #expect(result.status == 0, "\(result.stdout)\(result.stderr)")
            let report = script.text(".martlet/test/pytest.xml") ?? ""
            expectContains(report, "test_a")
            #expect(!report.contains("test_broken"))
        }
    }

    @Test(
        arguments: [
            (["pytest", "pytest -m slow"], ["test_a", "test_s"]),
            (["pytest -m slow slow", "pytest -m 'not slow' tests"], ["test_a", "test_s"]),
            (["pytest tests", "pytest --deselect slow/test_s.py slow"], ["test_a", "test_s"]),
            (["pytest tests", "pytest -kno slow"], ["test_a", "test_s"]),
            (["pytest tests", "pytest slow"], ["test_a", "test_s"]),
            (["pytest", "pytest more/check_b.py"], ["test_a", "test_s", "test_b"]),
            (["pytest --cov tests"], ["test_a", "test_s"]), (["pytest . tests"], ["test_a", "test_s"]),
            (["pytest tests", "python -m unittest discover -s more -p 'check_*.py'"], ["test_a", "test_b"]),
            (["python -m unittest discover more 'check_*.py'"], ["test_b"]),
            (["python -m unittest tests.test_a slow.test_s"], ["test_a", "test_s"]),
            (["python -m unittest discover"], ["test_a", "test_s", "test_c"]),
        ])
    func testThatItRunsNoLessThanTheCommandsOfTheProject(_ commands: [String], _ names: [String]) async throws {
        try await withTemporaryDirectory { directory in
            // given
            let files = [
                "tests/test_a.py": "def test_a():\n    pass\n", "more/check_b.py": "def test_b():\n    pass\n",
                "tests/testc.py": "def test_c():\n    pass\n",
                "slow/test_s.py": "import pytest\n@pytest.mark.slow\ndef test_s():\n    pass\n",
                "tox.ini": "[testenv]\ncommands =\n" + commands.map { "    \($0)\n" }.joined(),
            ]
            let script = try project(files, in: directory)
            // when
            let result = try await script.run(ProjectProfile.python.test)
            // then
            #expect(result.status == 0, "\(result.stdout)\(result.stderr)")
            let report = script.text(".martlet/test/pytest.xml") ?? ""
            for name in names { expectContains(report, #"name="\#(name)""#) }
        }
    }

    @Test func testThatThePatternOfUnittestIsTaken() async throws {
        try await withTemporaryDirectory { directory in
            // given
            let tox = "[testenv]\ncommands = python -m unittest discover -s more -p 'check_*.py'\n"
            let script = try project(Self.files.merging(["tox.ini": tox]) { $1 }, in: directory)
            // when
            let result = try await script.run(ProjectProfile.python.test)
            // then
            #expect(result.status == 0, "\(result.stdout)\(result.stderr)")
            expectContains(script.text(".martlet/test/pytest.xml") ?? "", "test_b")
        }
    }

    @Test(arguments: [["--co"], ["-x", "tests"]])
    func testThatFlagsOfTheRecipeGoBefore(_ flags: [String]) async throws {
        try await withTemporaryDirectory { directory in
            let script = try project(
                Self.files.merging(["tox.ini": "[testenv]\ncommands = pytest examples\n"]) { $1 }, in: directory)
            // when
            let result = try await script.run(ProjectProfile.python.test, flags: flags)
            // then
            #expect(!result.stdout.contains("pytest is called as"))
        }
    }

    @Test func testThatAProjectThatConfiguresPytestIsLeftToIt() async throws {
        try await withTemporaryDirectory { directory in
            // given
            var files = Self.files
            files["pyproject.toml"] = "[tool.pytest.ini_options]\ntestpaths = [\"tests\"]\n"
            files["tox.ini"] = "[testenv]\ncommands = pytest examples\n"
            let script = try project(files, in: directory)
            // when
            let result = try await script.run(ProjectProfile.python.test)
            // then
            #expect(result.status == 0, "\(result.stdout)\(result.stderr)")
        }
    }

    /// Runs `resolve` with a pip that installs nothing, and records its arguments.
    private func resolve(_ files: [String: String], in directory: TemporaryDirectory) async throws -> (
        ProgramResult, String
    ) {
        let script = try UsualScript(files, in: directory)
        let real = try #require(TestTools.find("python3"))
        try script.addProgram(
            "python3",
            """
            if [ "$1 $2" = '-m venv' ]; then
              for place; do :; done
              mkdir -p "$place/bin"; ln -s "$(dirname "$0")/python3" "$place/bin/python"; exit
            fi
            if [ "$1 $2" = '-m pip' ]; then
              echo "$*" >>calls
              case $* in *--upgrade*) [ ! -f offline ] || exit 1 ;; esac
              exit 0
            fi
            exec '\(real)' "$@"
            """)
        return (try await script.run(ProjectProfile.python.resolve), script.text("calls") ?? "")
    }

    private static let modern = """
        [build-system]
        requires = ["pytest>=1"]
        [project]
        name = "kit"
        version = "1"
        license = "MIT"
        """

    @Test func testThatTheRequirementsOfTheBuildAreTheNewest() async throws {
        try await withTemporaryDirectory { directory in
            // when
            let (result, calls) = try await resolve(["pyproject.toml": Self.modern], in: directory)
            // then
            #expect(result.status == 0, "\(result.stdout)\(result.stderr)")
            expectContains(calls, "-m pip install -q --upgrade -r .martlet/build.txt\n")
        }
    }

    @Test func testThatWithoutARegistryTheMachinesOwnHaveToDo() async throws {
        try await withTemporaryDirectory { directory in
            // when
            let (result, calls) = try await resolve(["pyproject.toml": Self.modern, "offline": ""], in: directory)
            // then
            #expect(result.status == 0, "\(result.stdout)\(result.stderr)")
            expectContains(calls, "-m pip install -q -r .martlet/build.txt\n")
        }
    }

    @Test func testThatDependenciesThatAreNotThereAreNotResolved() async throws {
        try await withTemporaryDirectory { directory in
            // given
            let tox = "[testenv]\ndeps =\n  there-is-no-such-thing>=2\n  neither-this; python_version < \"3\"\n"
            // when
            let (result, _) = try await resolve(["pytest.ini": "", "tox.ini": tox], in: directory)
            // then
            #expect(result.status == 1)
            expectContains(result.stderr, "pip ended with 0, and these are not installed: there-is-no-such-thing\n")
            #expect((try? directory.text("tree/.martlet/resolved")) == nil)
        }
    }
}
