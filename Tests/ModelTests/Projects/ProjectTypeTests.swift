import TestSupport
import Testing

@testable import Model

/// The type of a repository, recognized by the names in its root.
@Suite struct ProjectTypeTests {
    @Test(
        .proves(
            .steps,
            "Kinds of projects, each a row of data; which it is and why is said on page, API, `show`, `run`, `lint`, `bot --resolved`, `init`"
        ),
        arguments: [
            (["Package.swift"], .swiftPackage), (["Cargo.toml", "Cargo.lock", "src"], .cargo), (["go.mod"], .go),
            (["pom.xml"], .maven), (["CMakeLists.txt"], .cmake), (["pyproject.toml"], .python), (["setup.py"], .python),
            (["setup.cfg"], .python), (["requirements.txt"], .python), (["pytest.ini"], .python),
            (["package.json"], .npm), (["meson.build"], .meson), (["configure.ac"], .autotools),
            (["build.gradle.kts"], .gradle),
            (["Kit.csproj"], .dotnet), ([".csproj"], nil), (["composer.json"], .composer), (["Gemfile"], .bundler),
            (["kit.gemspec"], .bundler), (["Makefile.PL"], .perl), (["mix.exs"], .mix), (["kit-1.0-1.rockspec"], .lua),
            (["dune-project"], .dune), (["stack.yaml", "kit.cabal"], .stack), (["kit.cabal"], .cabal),
            (["build.zig"], .zig),
            (["kit.bats"], .shell), (["MODULE.bazel"], .bazel), (["rebar.config"], .rebar3),
            (["GNUmakefile"], .make), (["makefile"], .make), (["Makefile"], .make), (["package.swift", "README"], nil),
            (["cargo.toml"], nil), (["CMakeLists.txt.in", "src"], nil), ([], nil),
        ] as [([String], ProjectType?)])
    func testThatAFileOfTheRootTellsIt(_ names: [String], _ type: ProjectType?) {
        #expect(ProjectType.recognize(ProjectTree(rootEntries: names))?.type == type)
    }

    @Test(
        .proves(
            .steps,
            "Kinds of projects, each a row of data; which it is and why is said on page, API, `show`, `run`, `lint`, `bot --resolved`, `init`"
        ), arguments: Array(zip(ProjectType.allCases, ProjectType.allCases.dropFirst())))
    func testThatOfTwoTheEarlierWinsAndTheOtherIsNamed(_ earlier: ProjectType, _ later: ProjectType) throws {
        // given
        let names = [Self.file(of: later), "README", Self.file(of: earlier)]
        // when
        let recognition = try #require(ProjectType.recognize(ProjectTree(rootEntries: names)))
        // then: a type that certainly has tests takes precedence over one that may have none, and is not passed over.
        let named = recognition.passedOver + (recognition.others ?? []).map(\.marker)
        #expect(Set(named + [recognition.marker]) == [names[0], names[2]])
        for name in named { expectContains(recognition.sentence, name) }
    }

    /// Returns a name that a type's first marker matches.
    private static func file(of type: ProjectType) -> String {
        type.profile.markers[0].replacing("*", with: "kit")
    }

    @Test func testThatNoTwoTypesHaveAFileInCommon() {
        let all = ProjectType.allCases.flatMap(\.profile.markers)
        #expect(Set(all).count == all.count)
    }

    @Test(arguments: ProjectType.allCases)
    func testThatEveryProgramThatACommandNeedsHasAPackage(_ type: ProjectType) {
        let profile = type.profile
        let commands =
            [profile.resolve, profile.build, profile.test, profile.archive] + profile.analyses.map(\.command)
        let needed = Set(commands.compactMap { $0?.needs }.joined())
        #expect(needed.subtracting(profile.packages.keys).isEmpty)
    }

    @Test(arguments: ProjectType.allCases)
    func testThatEveryScriptIsOne(_ type: ProjectType) async throws {
        let profile = type.profile
        let commands =
            [profile.resolve, profile.build, profile.test, profile.archive] + profile.analyses.map(\.command)
        for command in commands.compactMap(\.self) {
            let result = try await run(["/bin/sh", "-n", "-c", command.text], in: "/")
            #expect(result.status == 0, "\(result.stderr)\(command.text)")
        }
    }
}
