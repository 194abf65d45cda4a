import TestSupport
import Testing

@testable import Model

/// The work that usual commands skip in a workspace of an earlier job, if the result would be the same.
@Suite struct WarmScriptTests {
    /// Appends the program's name and arguments to the file `calls` of the tree.
    private static let note = #"echo "${0##*/} $*" >>calls"#

    /// Runs a command twice, and returns the calls of both.
    private func calls(
        of command: ProjectProfile.Command?, _ script: UsualScript, between: () throws -> Void = {}
    ) async throws -> [String] {
        for isWarm in [false, true] {
            if isWarm { try between() }
            let result = try await script.run(command)
            #expect(result.status == 0, "\(result.stdout)\(result.stderr)")
        }
        return (script.text("calls") ?? "").split(separator: "\n").map { String($0) }
    }

    @Test(
        .proves(
            .steps,
            "In a warm workspace usual commands skip what would have the same result: Meson, luarocks, npm's build, rebar3, Gradle; Go links only the tests that run"
        ),
        arguments: [
            ("kit.c", false), ("meson.build", true), ("sub/meson_options.txt", true), ("subprojects/left.wrap", true),
            ("meson-version", true), ("ninja-version", true), ("pkg-config-version", true),
        ])
    func testThatMesonIsSetUpAgainForOtherSettingsAlone(changed: String, isSetUp: Bool) async throws {
        try await withTemporaryDirectory { directory in
            // given
            let script = try mesonProject(["meson.build": "project('kit')\n"], in: directory)
            // when
            let calls = try await calls(of: ProjectProfile.meson.build, script) {
                try directory.write("tree/\(changed)", "changed\n")
            }
            // then
            expectSetUp(calls, again: isSetUp)
        }
    }

    /// Files whose dependencies Ninja does not know.
    @Test(
        .proves(
            .steps,
            "In a warm workspace usual commands skip what would have the same result: Meson, luarocks, npm's build, rebar3, Gradle; Go links only the tests that run"
        ),
        arguments: [
            ("run_command('cat', 'VERSION', check: true)", true), ("fs.exists('kit.c')", true),
            ("files = import('fs')", true), ("meson.add_postconf_script('generate')", true),
            ("configure_file(\n  output: 'kit.h',\n  command: ['generate'],\n)", true),
            ("configure_file(input: 'kit.h.in', output: 'kit.h', configuration: kit)", false),
            ("custom_target(output: 'kit.h', command: ['generate'])", false),
        ])
    func testThatMesonIsSetUpAgainWhereNinjaCannotKnowThatItMust(line: String, isSetUp: Bool) async throws {
        try await withTemporaryDirectory { directory in
            // given
            let script = try mesonProject(
                ["meson.build": "project('kit')\nsubdir('sub')\n", "sub/meson.build": line + "\n"], in: directory)
            // when
            let calls = try await calls(of: ProjectProfile.meson.build, script)
            // then
            expectSetUp(calls, again: isSetUp)
        }
    }

    /// Makes a project with substitutes for Meson's programs. Their versions are in files of the tree, if there are any.
    private func mesonProject(_ files: [String: String], in directory: TemporaryDirectory) throws -> UsualScript {
        let script = try UsualScript(files, in: directory)
        let version = #"if [ "$1" = --version ]; then cat "${0##*/}-version" 2>/dev/null; exit 0; fi"#
        for name in ["ninja", "pkg-config"] { try script.addProgram(name, version) }
        let setup = "if [ $1 = setup ]; then mkdir -p .martlet/build; : >.martlet/build/build.ninja; fi"
        try script.addProgram("meson", "\(version)\n\(Self.note)\n\(setup)")
        return script
    }

    /// Expects the calls of Meson in two builds.
    private func expectSetUp(_ calls: [String], again: Bool, _ location: SourceLocation = #_sourceLocation) {
        let words = calls.map { $0.split(separator: " ").dropFirst().prefix(2).joined(separator: " ") }
        let first = words.first ?? ""
        #expect(first.hasPrefix("setup "), sourceLocation: location)
        #expect(
            words == [first, "compile -C"] + (again ? ["setup --reconfigure"] : []) + ["compile -C"],
            sourceLocation: location)
    }

    @Test func testThatAMesonProjectThatCouldNotBeSetUpIsSetUpAgain() async throws {
        try await withTemporaryDirectory { directory in
            // given
            let script = try UsualScript(["meson.build": "project('kit')\n"], in: directory)
            try script.addProgram("ninja", "")
            try script.addProgram(
                "meson",
                """
                if [ "$1" = --version ]; then exit 0; fi
                \(Self.note)
                mkdir -p .martlet/build; : >.martlet/build/build.ninja; exit 1
                """)
            for _ in 0..<2 {
                // when
                let result = try await script.run(ProjectProfile.meson.build)
                // then
                #expect(result.status == 1)
            }
            #expect(script.text("calls")?.split(separator: "\n").count == 2)
        }
    }

    @Test(
        .proves(
            .steps,
            "In a warm workspace usual commands skip what would have the same result: Meson, luarocks, npm's build, rebar3, Gradle; Go links only the tests that run"
        ), arguments: [("left", "5.1", 1), ("right", "5.1", 2), ("left", "5.4", 2)])
    func testThatLuarocksInstallsAgainForAnotherRockspecOrLuaAlone(
        dependency: String, lua: String, installations: Int
    ) async throws {
        try await withTemporaryDirectory { directory in
            // given
            let script = try UsualScript(["kit-1.rockspec": "left\n", "lua-version": "5.1\n"], in: directory)
            try script.addProgram(
                "luarocks", "if [ \"$*\" = 'config lua_version' ]; then exec cat lua-version; fi\n\(Self.note)")
            // when
            let calls = try await calls(of: ProjectProfile.lua.resolve, script) {
                try directory.write("tree/kit-1.rockspec", "\(dependency)\n")
                try directory.write("tree/lua-version", "\(lua)\n")
            }
            // then
            let call = "luarocks --tree .martlet/rocks install --only-deps kit-1.rockspec"
            #expect(calls == Array(repeating: call, count: installations))
        }
    }

    @Test(
        .proves(
            .steps,
            "In a warm workspace usual commands skip what would have the same result: Meson, luarocks, npm's build, rebar3, Gradle; Go links only the tests that run"
        ),
        .enabled(if: TestTools.find("node") != nil, "node is not here"),
        arguments: [
            (#"{ "scripts": { "test": "x" } }"#, "", false), ("{}", "", false),
            (#"{ "scripts": { "build": "x" } }"#, "", true), ("{}", "workspaces=true\n", true), ("{ wrong", "", true),
        ])
    func testThatNpmIsStartedToBuildOnlyWhatHasABuild(package: String, npmrc: String, isStarted: Bool) async throws {
        try await withTemporaryDirectory { directory in
            // given
            let files = npmrc.isEmpty ? [:] : [".npmrc": npmrc]
            let script = try UsualScript(files.merging(["package.json": package]) { $1 }, in: directory)
            try script.addProgram("npm", Self.note)
            // when
            let result = try await script.run(ProjectProfile.npm.build)
            // then
            #expect(result.status == 0, "\(result.stderr)")
            #expect(script.text("calls") == (isStarted ? "npm run build --if-present\n" : nil))
        }
    }

    @Test(
        .proves(
            .steps,
            "In a warm workspace usual commands skip what would have the same result: Meson, luarocks, npm's build, rebar3, Gradle; Go links only the tests that run"
        ), .enabled(if: TestTools.find("go") != nil, "go is not here"))
    func testThatATestThatDoesNotCompileFailsTheBuildOfAGoModule() async throws {
        try await withTemporaryDirectory { directory in
            // given
            let script = try UsualScript(
                [
                    "go.mod": "module acme.example/kit\n", "kit.go": "package kit\n",
                    "kit_test.go": "package kit\n\nimport \"testing\"\n\nfunc TestA(t *testing.T) { missing() }\n",
                ], in: directory)
            // when
            let result = try await script.run(
                ProjectProfile.go.build,
                environment: ["GOFLAGS": "-modcacherw", "GOPATH": directory.path("go"), "GOTOOLCHAIN": "local"])
            // then
            #expect(result.status != 0)
            expectContains(result.stdout + result.stderr, "kit_test.go:5:28: undefined: missing\n")
            #expect(try await script.run(ProjectProfile.go.build, flags: ["-tags", "kit"]).status != 0)
        }
    }

    @Test(
        .proves(
            .steps,
            "In a warm workspace usual commands skip what would have the same result: Meson, luarocks, npm's build, rebar3, Gradle; Go links only the tests that run"
        ),
        arguments: [
            (["rebar.config": "{erl_opts, [debug_info]}.\n"], false),
            (["rebar.config": "{deps, [meck]}.\n"], true),
            (["rebar.config": "{project_plugins, [rebar3_hex]}.\n"], true),
            (["rebar.config": "", "apps/kit/rebar.config": "{deps, [meck]}.\n"], true),
            (["rebar.config": "", "rebar.config.script": "CONFIG.\n"], true),
            (["rebar.config": "", "_build/default/lib/meck/rebar.config": "{deps, []}.\n"], false),
        ] as [([String: String], Bool)])
    func testThatRebar3IsStartedToResolveOnlyWhereDependenciesMayBe(
        files: [String: String], isStarted: Bool
    ) async throws {
        try await withTemporaryDirectory { directory in
            // given
            let script = try UsualScript(files, in: directory)
            try script.addProgram("rebar3", Self.note)
            // when
            let result = try await script.run(ProjectProfile.rebar3.resolve)
            // then
            #expect(result.status == 0, "\(result.stderr)")
            #expect(script.text("calls") == (isStarted ? "rebar3 get-deps\n" : nil))
        }
    }

    @Test(
        arguments: [
            ("Rake::TestTask.new(:test) do |t|\n", "rake test", 0, ["test"], 0),
            (
                "# Tests\nrequire 'rake/testtask'\n\ndesc 'Tests.'\nRake::TestTask.new do |t|\n", "rake test", 0,
                ["test"], 0
            ),
            ("Rake::TestTask.new(:test) do |t|\n", "rake test", 1, ["test", "-P"], 1),
            // The task is not defined after all.
            ("Rake::TestTask.new(:test) do |t|\n", "rake spec", 1, ["test", "-P", "spec"], 0),
            ("Rake::TestTask.new(:unit) do |t|\n", "rake test", 0, ["-P", "test"], 0),
            ("task :test\n", "rake test", 0, ["-P", "test"], 0),
            // `rake test` would exit with 0, because the directory of that name is a file task.
            ("namespace :unit do\n  Rake::TestTask.new(:test) do |t|\n", "rake unit:test", 0, ["-P"], 0),
            ("namespace :unit do\nRake::TestTask.new(:test) do |t|\n", "rake unit:test", 0, ["-P"], 0),
            ("if ENV['ALL']\n  Rake::TestTask.new(:test) do |t|\n", "rake lint", 0, ["-P"], 0),
            ("Rake::TestTask.new(:test) do |t|\nend if ENV['ALL']\n", "rake lint", 0, ["-P"], 0),
            ("=begin\nRake::TestTask.new(:test) do |t|\n=end\n", "rake lint", 0, ["-P"], 0),
        ] as [(String, String, Int, [String], Int32)])
    func testThatRakeIsAskedForItsTasksOnlyWhereTheRakefileDoesNotSayThem(
        rakefile: String, tasks: String, ending: Int, calls: [String], status: Int32
    ) async throws {
        try await withTemporaryDirectory { directory in
            // given
            let script = try UsualScript(["Rakefile": rakefile, "test/kit_test.rb": ""], in: directory)
            try script.addProgram("ruby", "")
            try script.addProgram(
                "rake", "\(Self.note)\ncase $1 in -P) echo '\(tasks)' ;; test) exit \(ending) ;; esac")
            // when
            let result = try await script.run(ProjectProfile.bundler.test)
            // then
            #expect(result.status == status, "\(result.stdout)\(result.stderr)")
            #expect(
                (script.text("calls") ?? "").split(separator: "\n").map { $0.dropFirst("rake ".count) }
                    == calls.map { $0[...] })
        }
    }

    @Test(
        .proves(
            .steps,
            "In a warm workspace usual commands skip what would have the same result: Meson, luarocks, npm's build, rebar3, Gradle; Go links only the tests that run"
        ))
    func testThatGradleIsStartedOnceToResolve() async throws {
        try await withTemporaryDirectory { directory in
            // given
            let script = try UsualScript(["build.gradle": ""], in: directory)
            try script.addProgram("java", "")
            try script.addProgram("gradle", Self.note)
            // when
            let result = try await script.run(ProjectProfile.gradle.resolve)
            // then
            #expect(result.status == 0, "\(result.stderr)")
            let calls = (script.text("calls") ?? "").split(separator: "\n")
            #expect(calls.count == 1 && calls.allSatisfy { $0.hasSuffix(" martletResolve testClasses") })
        }
    }
}
