import Foundation
import TestSupport
import Testing

@testable import Model

/// The usual commands of projects in C, Go, Perl and shell, run with the real tools if they are installed.
@Suite struct NativeScriptTests {
    private static let main = "int main(void) { return 0; }\n"

    private func list(_ option: String, _ condition: String) -> String {
        """
        cmake_minimum_required(VERSION 3.13)
        project(kit C)
        # option(OLD_BUILD_TESTS "gone" OFF)
        \(option)
        add_executable(kit main.c)
        if(\(condition))
          enable_testing()
          add_test(NAME a COMMAND kit)
        endif()

        """
    }

    @Test(
        .enabled(if: TestTools.find("cmake") != nil && TestTools.find("cc") != nil, "cmake and cc are not here"),
        arguments: [
            ("option(KIT_BUILD_TESTS \"the tests\" OFF)", "KIT_BUILD_TESTS"),
            ("option( BUILD_TESTING \"\" OFF )", "BUILD_TESTING"),
            ("OPTION(\n  KIT_ENABLE_TESTING\n  \"\" OFF)", "KIT_ENABLE_TESTING"),
            ("option(WITH_UNIT_TESTS \"\" OFF)", "WITH_UNIT_TESTS"),
            ("option(KIT_BuildTests \"\" OFF)", "KIT_BuildTests"), ("", "BUILD_TESTING"),
            ("include(CMakeDependentOption)\ncmake_dependent_option(BUILD_TESTS \"\" OFF UNIX OFF)", "BUILD_TESTS"),
        ])
    func testThatTestsThatAnOptionAddsAreBuiltAndRun(_ option: String, _ condition: String) async throws {
        try await withTemporaryDirectory { directory in
            // given
            let script = try UsualScript(
                ["CMakeLists.txt": list(option, condition), "main.c": Self.main], in: directory)
            // when
            let build = try await script.run(ProjectProfile.cmake.build)
            let test = try await script.run(ProjectProfile.cmake.test)
            // then
            #expect(build.status == 0, "\(build.stdout)\(build.stderr)")
            #expect(test.status == 0, "\(test.stdout)\(test.stderr)")
            expectContains(script.text(".martlet/test/ctest.xml") ?? "", #"tests="1""#)
        }
    }

    @Test(.enabled(if: TestTools.find("cmake") != nil && TestTools.find("cc") != nil, "cmake and cc are not here"))
    func testThatAProjectThatCannotBeConfiguredWithItsTestsIsBuiltAndSaysSo() async throws {
        try await withTemporaryDirectory { directory in
            // given
            let text = list(
                "option(KIT_BUILD_TESTS \"\" OFF)\nif(KIT_BUILD_TESTS)\nfind_package(NoSuchThing REQUIRED)\nendif()",
                "OFF")
            let script = try UsualScript(["CMakeLists.txt": text, "main.c": Self.main], in: directory)
            // when
            let build = try await script.run(ProjectProfile.cmake.build)
            let test = try await script.run(ProjectProfile.cmake.test)
            // then
            #expect(build.status == 0, "\(build.stdout)\(build.stderr)")
            expectContains(
                test.stdout, "martlet: no tests: it cannot be configured with -DKIT_BUILD_TESTS=ON; see the log")
        }
    }

    @Test(
        .enabled(if: TestTools.find("cmake") != nil && TestTools.find("cc") != nil, "cmake and cc are not here"),
        arguments: [
            ("add_test(NAME b COMMAND kit\n", false), ("no_such_command()\n", false), ("include(gone.cmake)\n", false),
            ("find_package(NoSuchThing REQUIRED)\n", true), ("find_package(NoSuchThing 3 REQUIRED CONFIG)\n", true),
            ("find_library(KIT no-such-library REQUIRED)\n", true),
        ])
    func testThatAMistakeInTheTestsOfAnOptionIsRed(_ tests: String, _ isMissing: Bool) async throws {
        try await withTemporaryDirectory { directory in
            // given: an optional package is missing in every case.
            let option = """
                option(KIT_BUILD_TESTS "" OFF)
                find_package(NoSuchOption)
                if(KIT_BUILD_TESTS)
                  add_subdirectory(tests)
                endif()
                """
            let script = try UsualScript(
                ["CMakeLists.txt": list(option, "ON"), "main.c": Self.main, "tests/CMakeLists.txt": tests],
                in: directory)
            // when
            let build = try await script.run(ProjectProfile.cmake.build)
            // then
            #expect((build.status == 0) == isMissing, "\(build.stdout)\(build.stderr)")
            guard isMissing else { return }
            let test = try await script.run(ProjectProfile.cmake.test)
            #expect(test.status == 0, "\(test.stdout)\(test.stderr)")
            expectContains(test.stdout, "not all tests are run: it cannot be configured with -DKIT_BUILD_TESTS=ON;")
        }
    }

    @Test(.enabled(if: TestTools.find("cmake") != nil && TestTools.find("cc") != nil, "cmake and cc are not here"))
    func testThatAFlagOfTheRecipeGoesBeforeAndLibrariesGoWhereTheMachineHasThem() async throws {
        try await withTemporaryDirectory { directory in
            // given
            let text =
                list("option(KIT_BUILD_TESTS \"\" OFF)\ninclude(GNUInstallDirs)", "KIT_BUILD_TESTS")
                + "add_library(k STATIC main.c)\ninstall(TARGETS k ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})\n"
            let script = try UsualScript(["CMakeLists.txt": text, "main.c": Self.main], in: directory)
            // when
            let build = try await script.run(ProjectProfile.cmake.build, flags: ["-DKIT_BUILD_TESTS=OFF"])
            let test = try await script.run(ProjectProfile.cmake.test)
            let archive = try await script.run(ProjectProfile.cmake.archive)
            // then
            #expect(build.status == 0 && archive.status == 0, "\(build.stderr)\(archive.stderr)")
            expectContains(test.stdout, "martlet: no tests: CTest has none")
            let library = FileManager.default.fileExists(atPath: "/usr/lib64/libc.so.6") ? "lib64" : "lib"
            #expect(script.text(".martlet/products/usr/local/\(library)/libk.a") != nil)
        }
    }

    @Test(
        .enabled(if: TestTools.find("go") != nil, "go is not here"),
        arguments: ["go 1.13\n", "", "go 1.14\n", "go 1.19\n"])
    func testThatDependenciesInVendorAreFoundAtEveryVersion(_ version: String) async throws {
        try await withTemporaryDirectory { directory in
            // given
            let isMarked = version == "go 1.14\n" || version == "go 1.19\n"
            let script = try UsualScript(
                [
                    "go.mod": "module acme.example/kit\n\n\(version)\nrequire acme.example/left v1.0.0\n",
                    "kit.go": "package kit\n\nimport \"acme.example/left\"\n\nvar Kit = left.Left\n",
                    "kit_test.go":
                        "package kit\n\nimport \"testing\"\n\nfunc TestA(t *testing.T) { if Kit != 1 { t.Fatal(\"no\") } }\n",
                    "vendor/modules.txt":
                        "# acme.example/left v1.0.0\n\(isMarked ? "## explicit\n" : "")acme.example/left\n",
                    "vendor/acme.example/left/left.go": "package left\n\nconst Left = 1\n",
                ], in: directory)
            for command in [ProjectProfile.go.resolve, ProjectProfile.go.build, ProjectProfile.go.test] {
                // when
                let result = try await script.run(
                    command,
                    environment: ["GOFLAGS": "-modcacherw", "GOPATH": directory.path("go"), "GOTOOLCHAIN": "local"])
                // then
                #expect(result.status == 0, "\(result.stdout)\(result.stderr)")
            }
        }
    }

    @Test(.enabled(if: TestTools.find("make") != nil && TestTools.find("cc") != nil, "make and cc are not here"))
    func testThatAMakeProjectArchivesWhatItBuilt() async throws {
        let files = [
            "main.c": Self.main, "run.sh": "#!/bin/sh\n",
            "Makefile": "all:\n\tmkdir -p bin\n\tcc -c main.c\n\tcc -o bin/kit main.o\n\tar rc libkit.a main.o\n",
        ]
        let installing =
            files["Makefile", default: ""] + "install: all\n\tinstall -D bin/kit $(DESTDIR)/usr/local/bin/kit\n"
        for (makefile, kept, other) in [
            (files["Makefile", default: ""], ["bin/kit", "libkit.a"], "main.o"),
            (installing, ["usr/local/bin/kit"], "libkit.a"),
        ] {
            try await withTemporaryDirectory { directory in
                // given
                let script = try UsualScript(files.merging(["Makefile": makefile]) { $1 }, in: directory)
                let tree = directory.path("tree")
                for arguments in [["git", "init", "-q"], ["git", "add", "main.c", "run.sh", "Makefile"], ["make"]] {
                    let result = try await run(arguments, in: tree)
                    #expect(result.status == 0, "\(result.stderr)")
                }
                // when
                let result = try await script.run(ProjectProfile.make.archive)
                // then
                #expect(result.status == 0, "\(result.stdout)\(result.stderr)")
                for name in kept {
                    #expect(script.text(".martlet/products/\(name)") != nil, "\(name) \(result.stderr)")
                }
                for name in [other, "run.sh", "main.c"] {
                    #expect(script.text(".martlet/products/\(name)") == nil, "\(name)")
                }
            }
        }
    }

    @Test(.enabled(if: TestTools.find("prove") != nil && TestTools.find("make") != nil, "prove and make are not here"))
    func testThatAPerlDistributionIsBuiltAndTested() async throws {
        for (test, status) in [("ok(1)", 0), ("ok(0, 'broken')", 1)] as [(String, Int32)] {
            try await withTemporaryDirectory { directory in
                // given
                let script = try UsualScript(
                    [
                        "Makefile.PL":
                            "use ExtUtils::MakeMaker; WriteMakefile(NAME => 'Kit', VERSION_FROM => 'lib/Kit.pm');\n",
                        "lib/Kit.pm": "package Kit; our $VERSION = '1.0'; 1;\n",
                        "t/a.t": "use Test::More tests => 1; use Kit; \(test);\n",
                    ], in: directory)
                // when
                let build = try await script.run(ProjectProfile.perl.build)
                let result = try await script.run(ProjectProfile.perl.test)
                // then
                #expect(build.status == 0, "\(build.stdout)\(build.stderr)")
                #expect(result.status == status, "\(result.stdout)\(result.stderr)")
                expectContains(
                    script.text(".martlet/test/tap/t/a.t.tap") ?? "", status == 0 ? "ok 1" : "not ok 1 - broken")
            }
        }
    }

    /// The first file that prove leaves is checked. Its path may contain a blank.
    @Test(
        .proves(
            .steps, "A shellcheck that fails is no clean analysis; a test file of Perl may have a blank in its name"),
        .enabled(if: TestTools.find("prove") != nil, "prove is not here"))
    func testThatATestOfPerlWithABlankInItsNameHasAReport() async throws {
        try await withTemporaryDirectory { directory in
            // given
            let script = try UsualScript(
                ["cpanfile": "", "t/a test.t": "use Test::More tests => 1; ok(1);\n"], in: directory)
            // when
            let result = try await script.run(ProjectProfile.perl.test)
            // then
            #expect(result.status == 0, "\(result.stdout)\(result.stderr)")
            expectContains(script.text(".martlet/test/tap/t/a test.t.tap") ?? "", "ok 1")
        }
    }

    @Test(.enabled(if: TestTools.find("make") != nil, "make is not here"))
    func testThatAProjectWithAConfigureOfItsOwnIsBuiltAndTestedAndConfiguredOnce() async throws {
        try await withTemporaryDirectory { directory in
            // given
            let configure = """
                #!/bin/sh
                echo configured >>times
                printf "all:\\n\\ttouch kit\\ncheck: all\\n\\techo checked $1\\n" >Makefile
                """
            let script = try UsualScript(["configure": configure], in: directory)
            for flags in [["--with=1"], ["--with=1"], ["--with=2"]] {
                // when
                let build = try await script.run(ProjectProfile.autotools.build, flags: flags)
                let test = try await script.run(ProjectProfile.autotools.test)
                // then
                #expect(build.status == 0, "\(build.stdout)\(build.stderr)")
                expectContains(test.stdout, "checked \(flags[0])")
            }
            #expect(script.text("times") == "configured\nconfigured\n")
        }
    }

    @Test(
        .enabled(if: TestTools.find("make") != nil, "make is not here"),
        arguments: [
            ("all:\n", 0, true), ("all:\ntest:\n\t@echo checked\n", 0, false), ("check: gone\n", 2, false),
            ("check:\n  no tab\n", 2, false), ("check:\n\t$(MAKE) -f Sub check\n", 2, false),
        ])
    func testThatAMakefileThatFailsIsNotOneWithoutTests(_ makefile: String, _ status: Int32, _ isEmpty: Bool)
        async throws
    {
        try await withTemporaryDirectory { directory in
            // given
            let script = try UsualScript(["Makefile": makefile, "Sub": "all:\n"], in: directory)
            // when
            let result = try await script.run(
                ProjectProfile.autotools.test, environment: ["LC_ALL": "C.UTF-8", "MAKELEVEL": "2"])
            // then
            #expect(result.status == status, "\(result.stdout)\(result.stderr)")
            #expect(result.stdout.contains("martlet: no tests: ") == isEmpty)
        }
    }
}
