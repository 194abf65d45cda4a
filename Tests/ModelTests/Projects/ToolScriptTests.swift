import Foundation
import TestSupport
import Testing

@testable import Model

/// The usual commands of types whose tools are rarely installed, run with substitutes that record their arguments.
@Suite struct ToolScriptTests {
    /// Appends the program's arguments to the file `calls` of the tree.
    private static let note = #"echo "$*" >>calls"#

    @Test(
        .proves(
            .steps,
            "Ruby, Haskell, Elixir: the machine's own packages are enough where they are all that a project needs"),
        arguments: [
            ("# {:jason, \"~> 1.0\"},\n", "deps.get\n"), ("", "deps.get\n"), ("{:kit, :out}\n", "deps.get\n"),
            ("{:jason, \"~> 1.0\"}", "local.hex --force --if-missing\nlocal.rebar --force --if-missing\ndeps.get\n"),
            ("{ :left,\n git: \"x\"}", "local.hex --force --if-missing\nlocal.rebar --force --if-missing\ndeps.get\n"),
        ])
    func testThatMixInstallsHexForDependenciesAlone(_ text: String, _ calls: String) async throws {
        try await withTemporaryDirectory { directory in
            // given
            let script = try UsualScript(["mix.exs": "defp deps do\n[\n\(text)\n]\nend\n"], in: directory)
            try script.addProgram("mix", Self.note)
            // when
            let result = try await script.run(ProjectProfile.mix.resolve)
            // then
            #expect(result.status == 0, "\(result.stderr)")
            #expect(script.text("calls") == calls)
        }
    }

    @Test(
        .proves(
            .steps,
            "Ruby, Haskell, Elixir: the machine's own packages are enough where they are all that a project needs"),
        arguments: [
            (0, "install --local at \nexec rake -P at \n"),
            (1, "install --local at \ninstall at /cache\ncheck at /cache\nexec rake -P at /cache\n"),
        ])
    func testThatTheMachinesGemsAreUsedWhereTheyAreAll(_ status: Int, _ calls: String) async throws {
        try await withTemporaryDirectory { directory in
            // given
            let script = try UsualScript(["Gemfile": "", "Rakefile": ""], in: directory)
            try script.addProgram(
                "bundle",
                "echo \"$* at ${BUNDLE_PATH-}\" >>calls\ncase $* in *--local) exit \(status) ;; exec*) exit 9 ;; esac")
            try script.addProgram("ruby", "")
            for command in [ProjectProfile.bundler.resolve, ProjectProfile.bundler.test] {
                // when
                _ = try await script.run(command, environment: ["BUNDLE_PATH": "/cache"])
            }
            // then
            #expect(script.text("calls") == calls)
        }
    }

    @Test(
        .proves(
            .steps,
            "Ruby, Haskell, Elixir: the machine's own packages are enough where they are all that a project needs"),
        arguments: [(0, "build build test"), (1, "build update build build test")])
    func testThatPackagesOfTheMachineNeedNoIndexOfHackage(_ status: Int, _ calls: String) async throws {
        try await withTemporaryDirectory { directory in
            // given
            let script = try UsualScript(["kit.cabal": "test-suite kit\n"], in: directory)
            try script.addProgram(
                "cabal",
                """
                echo "$1 ${CABAL_CONFIG:+by own-packages}" >>calls
                case $* in *--offline*--only-dependencies*) exit \(status) ;; esac
                """)
            for command in [ProjectProfile.cabal.resolve, ProjectProfile.cabal.build, ProjectProfile.cabal.test] {
                // when
                let result = try await script.run(command)
                // then
                #expect(result.status == 0, "\(result.stdout)\(result.stderr)")
            }
            let lines = (script.text("calls") ?? "").split(separator: "\n")
            #expect(lines.map { String($0.prefix { $0 != " " }) }.joined(separator: " ") == calls)
            // Once the index was fetched, all later calls use it.
            #expect(lines.count { $0.hasSuffix("by own-packages") } == (status == 0 ? 3 : 1))
        }
    }

    @Test(
        .proves(
            .steps, "The new kinds by their real tools: a sample of each is green and red with its number of tests"),
        arguments: [("spec", ""), ("test", " test"), ("tests", " tests")])
    func testThatBustedFindsSpecsInUsualDirectories(_ name: String, _ argument: String) async throws {
        try await withTemporaryDirectory { directory in
            // given
            let script = try UsualScript(["\(name)/kit_spec.lua": ""], in: directory)
            try script.addProgram("luarocks", "")
            try script.addProgram("busted", "\(Self.note)\necho '<testsuites/>' >.martlet/test/busted.xml")
            // when
            let result = try await script.run(ProjectProfile.lua.test)
            // then
            #expect(result.status == 0, "\(result.stdout)\(result.stderr)")
            #expect(script.text("calls") == "--output=junit -Xoutput .martlet/test/busted.xml\(argument)\n")
        }
    }

    @Test(
        .proves(.steps, "The new kinds by their real tools: a sample of each is green and red with its number of tests")
    )
    func testThatASetupScriptIsNotAskedToInstallItself() async throws {
        try await withTemporaryDirectory { directory in
            // given: `setup.py develop` of setuptools 80 calls pip again, which then needs the network.
            let script = try UsualScript(["setup.py": ""], in: directory)
            try directory.write("tree/.martlet/venv/bin/python", "#!/bin/sh\n\(Self.note)\n", mode: 0o755)
            try script.addProgram("python3", "")
            for command in [ProjectProfile.python.build, ProjectProfile.python.archive] {
                // when
                let result = try await script.run(command)
                // then
                #expect(result.status == 0, "\(result.stdout)\(result.stderr)")
            }
            let lines = (script.text("calls") ?? "").split(separator: "\n")
            #expect(lines.count == 2 && lines.allSatisfy { $0.contains(" --use-pep517 ") })
        }
    }

    @Test(
        .proves(
            .steps, "The new kinds by their real tools: a sample of each is green and red with its number of tests"),
        arguments: ["phpunit.xml", "phpunit.xml.dist", "phpunit.dist.xml"])
    func testThatTheMachinesPHPUnitTestsAProjectThatDoesNotDependOnIt(_ settings: String) async throws {
        try await withTemporaryDirectory { directory in
            // given
            let script = try UsualScript(["composer.json": "{}", settings: "<phpunit/>"], in: directory)
            for program in ["composer", "php"] { try script.addProgram(program, "exit 1") }
            try script.addProgram("phpunit", "echo '<testsuites/>' >\"$2\"")
            // when
            let result = try await script.run(ProjectProfile.composer.test)
            // then
            #expect(result.status == 0, "\(result.stdout)")
            #expect(script.text(".martlet/test/phpunit.xml") == "<testsuites/>\n")
        }
    }

    @Test(
        .proves(.steps, "The new kinds by their real tools: a sample of each is green and red with its number of tests")
    )
    func testThatErlangsTestsAreAskedForJUnitByAScriptThatIsGoneAfterwards() async throws {
        try await withTemporaryDirectory { directory in
            // given
            let script = try UsualScript(
                [
                    "rebar.config": "", "src/kit.erl": "-include_lib(\"eunit/include/eunit.hrl\").\n",
                    "test/kit_SUITE.erl": "",
                ],
                in: directory)
            try script.addProgram("rebar3", "\(Self.note)\ncp rebar.config.script \"script-$1\"")
            // when
            let result = try await script.run(ProjectProfile.rebar3.test)
            // then
            #expect(result.status == 0, "\(result.stdout)\(result.stderr)")
            #expect(script.text("calls") == "eunit\nct\n")
            #expect(script.text("rebar.config.script") == nil)
            for name in ["script-eunit", "script-ct"] {
                let text = script.text(name) ?? ""
                expectContains(text, "eunit_surefire")
                expectContains(text, "cth_surefire")
            }
        }
    }

    @Test func testThatAFileThatChangesInTheSecondOfACompilationIsCompiled() async throws {
        try await withTemporaryDirectory { directory in
            // given: rebar3 compares the whole seconds of a source and of what it made of it.
            let script = try UsualScript(["rebar.config": "", "src/a.erl": "", "src/b.erl": ""], in: directory)
            try script.addProgram(
                "rebar3",
                """
                made=$(stat -c %Y made 2>/dev/null || echo 0)
                find . -name '*.erl' -printf '%Ts %p\\n' | sort -k 2 | while read -r second source; do
                  [ "$second" -le "$made" ] || echo "$source"
                done >calls
                touch made
                """)
            let first = try await script.run(ProjectProfile.rebar3.build)
            #expect(first.status == 0 && script.text("calls") == "./src/a.erl\n./src/b.erl\n", "\(first.stderr)")
            try directory.write("tree/src/b.erl", "% changed\n")
            // when
            let second = try await script.run(ProjectProfile.rebar3.build)
            // then
            #expect(second.status == 0, "\(second.stderr)")
            #expect(script.text("calls") == "./src/b.erl\n")
        }
    }

    @Test func testThatAScriptOfTheProjectForRebar3Stays() async throws {
        try await withTemporaryDirectory { directory in
            // given
            let script = try UsualScript(
                ["rebar.config": "", "rebar.config.script": "CONFIG.\n", "src/kit.erl": "a_test() -> ok.\n"],
                in: directory)
            try script.addProgram("rebar3", Self.note)
            // when
            let result = try await script.run(ProjectProfile.rebar3.test)
            // then
            #expect(result.status == 0 && script.text("rebar.config.script") == "CONFIG.\n")
            #expect(script.text("calls") == "eunit\n")
        }
    }

    @Test func testThatErlangWithoutTestsSaysSo() async throws {
        try await withTemporaryDirectory { directory in
            // given
            let script = try UsualScript(["rebar.config": "", "src/kit.erl": "add(A, B) -> A + B.\n"], in: directory)
            try script.addProgram("rebar3", Self.note)
            // when
            let result = try await script.run(ProjectProfile.rebar3.test)
            // then
            expectContains(result.stdout, "martlet: no tests: there is neither a test for EUnit")
            #expect(script.text("calls") == nil)
        }
    }

    @Test(
        .proves(
            .steps, "The new kinds by their real tools: a sample of each is green and red with its number of tests"),
        .enabled(if: TestTools.find("make") != nil, "make is not here"))
    func testThatAConfigureOfTheCommitIsNotRegenerated() async throws {
        try await withTemporaryDirectory { directory in
            // given: a checkout in which the sources of a file are newer than the file.
            let configure = """
                #!/bin/sh
                printf 'all: Makefile.in\\ncheck: all\\n\\t:\\nMakefile.in: Makefile.am\\n\\tautomake\\n' >Makefile
                """
            let script = try UsualScript(
                ["configure": configure, "configure.ac": "", "Makefile.am": "", "Makefile.in": ""], in: directory)
            let tree = directory.path("tree")
            let touched = try await run(["touch", "-d", "2001-01-01", "configure", "Makefile.in"], in: tree)
            #expect(touched.status == 0)
            for program in ["autoreconf", "automake"] { try script.addProgram(program, "\(Self.note)\nexit 1") }
            // when
            let build = try await script.run(ProjectProfile.autotools.build)
            // then
            #expect(build.status == 0, "\(build.stdout)\(build.stderr)")
            #expect(script.text("calls") == nil)
        }
    }

    @Test(
        .proves(
            .steps, "The new kinds by their real tools: a sample of each is green and red with its number of tests"),
        .enabled(if: TestTools.find("make") != nil && TestTools.find("bash") != nil, "make and bash are not here"),
        arguments: ["autogen.sh", "bootstrap", "bootstrap.sh", "buildconf"])
    func testThatAScriptThatMakesConfigureRunsByItsOwnShellAndAgainWhenItChanges(_ name: String) async throws {
        try await withTemporaryDirectory { directory in
            // given
            let made =
                "#!/usr/bin/env bash\n[[ 1 == 1 ]] || exit\necho made >>times\ncp in configure; chmod +x configure\n"
            let script = try UsualScript(
                ["in": "#!/bin/sh\nprintf 'all:\\n' >Makefile\n", "configure.ac": ""], in: directory)
            try directory.write("tree/\(name)", made, mode: 0o755)
            for _ in 1...2 {
                // when
                let build = try await script.run(ProjectProfile.autotools.build)
                // then
                #expect(build.status == 0, "\(build.stdout)\(build.stderr)")
                #expect(script.text("times") == "made\n")
            }
            // when
            try directory.write("tree/configure.ac", "AC_INIT\n")
            let build = try await script.run(ProjectProfile.autotools.build)
            // then
            #expect(build.status == 0 && script.text("times") == "made\nmade\n")
            // when: a checkout has deleted the files that the repository does not ignore.
            let removed = try await run(["rm", "configure"], in: directory.path("tree"))
            let again = try await script.run(ProjectProfile.autotools.build)
            // then
            #expect(removed.status == 0 && again.status == 0, "\(again.stdout)\(again.stderr)")
            #expect(script.text("times") == "made\nmade\nmade\n")
        }
    }

    @Test(
        .proves(
            .steps, "The new kinds by their real tools: a sample of each is green and red with its number of tests"),
        .enabled(if: TestTools.find("prove") != nil && TestTools.find("make") != nil, "prove and make are not here"))
    func testThatTheMakefileSaysWhichOfPerlsTestsRun() async throws {
        let module = "package Kit; our $VERSION = '1.0'; 1;\n"
        let data = "print qq{1..1\\nnot ok 1\\n};\n"
        for (more, status) in [("", 0), (", test => { TESTS => 't/*.t t/data/*.t' }", 1)] as [(String, Int32)] {
            try await withTemporaryDirectory { directory in
                // given
                let make =
                    "use ExtUtils::MakeMaker; WriteMakefile(NAME => 'Kit', VERSION_FROM => 'lib/Kit.pm'\(more));\n"
                let script = try UsualScript(
                    [
                        "Makefile.PL": make, "lib/Kit.pm": module, "t/data/like-a-test.t": data, "t/Own.pm": "1;\n",
                        "t/a.t": "use Test::More tests => 1; require 't/Own.pm'; ok(1);\n",
                    ], in: directory)
                // when
                let build = try await script.run(ProjectProfile.perl.build)
                let result = try await script.run(ProjectProfile.perl.test)
                // then
                #expect(build.status == 0, "\(build.stdout)\(build.stderr)")
                #expect(result.status == status, "\(result.stdout)\(result.stderr)")
            }
        }
    }

    @Test(
        arguments: [
            ("libs/kit/core/core.cabal", "Test-Suite kit\n", true), ("kit.cabal", "\ttest-suite kit\n", true),
            ("libs/kit/core/package.yaml", "name: kit\ntests:\n", true), ("kit.cabal", "-- test-suite kit\n", false),
            ("dist-newstyle/src/left/left.cabal", "test-suite left\n", false),
            (".stack-work/left/left.cabal", "test-suite left\n", false),
        ])
    func testThatATestSuiteIsFoundInEveryPackageOfHaskell(
        _ path: String, _ text: String, _ isFound: Bool
    ) async throws {
        for (program, command) in [("stack", ProjectProfile.stack.test), ("cabal", ProjectProfile.cabal.test)] {
            try await withTemporaryDirectory { directory in
                // given
                let script = try UsualScript([path: text], in: directory)
                try script.addProgram(program, Self.note)
                // when
                let result = try await script.run(command)
                // then
                #expect(result.status == 0, "\(result.stderr)")
                #expect((script.text("calls") != nil) == isFound, "\(program) \(result.stdout)")
                #expect(result.stdout.contains("martlet: no tests: no package has a test suite\n") != isFound)
            }
        }
    }

    @Test func testThatReportsOfGradleAreFoundWherePathsHaveBlanks() async throws {
        for (text, status) in [("<testsuite/>", 0), ("", 1)] as [(String, Int32)] {
            try await withTemporaryDirectory { directory in
                // given
                let script = try UsualScript(["my app/src/test/java/A.java": ""], in: directory)
                try script.addProgram("java", "")
                try script.addProgram(
                    "gradle",
                    "place='my app/build/test-results/test'; mkdir -p \"$place\"; printf '\(text)' >\"$place/TEST-A.xml\""
                )
                // when
                let result = try await script.run(ProjectProfile.gradle.test)
                // then
                #expect(result.status == status, "\(result.stdout)\(result.stderr)")
            }
        }
    }
}
