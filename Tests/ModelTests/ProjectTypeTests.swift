import TestSupport
import Testing

@testable import Model

/// Which type a repository is, by the names in its root.
@Suite struct ProjectTypeTests {
    @Test(
        arguments: [
            (["Package.swift"], .swiftPackage), (["Cargo.toml", "Cargo.lock", "src"], .cargo), (["go.mod"], .go),
            (["pom.xml"], .maven), (["CMakeLists.txt"], .cmake), (["pyproject.toml"], .python), (["setup.py"], .python),
            (["setup.cfg"], .python), (["requirements.txt"], .python), (["pytest.ini"], .python),
            (["package.json"], .npm),
            (["GNUmakefile"], .make), (["makefile"], .make), (["Makefile"], .make), (["package.swift", "README"], nil),
            (["cargo.toml"], nil), (["CMakeLists.txt.in", "src"], nil), ([], nil),
        ] as [([String], ProjectType?)])
    func testThatAFileOfTheRootTellsIt(_ names: [String], _ type: ProjectType?) {
        #expect(ProjectType.recognise(rootEntries: names)?.type == type)
    }

    @Test(arguments: Array(zip(ProjectType.allCases, ProjectType.allCases.dropFirst())))
    func testThatOfTwoTheEarlierWinsAndTheOtherIsNamed(_ earlier: ProjectType, _ later: ProjectType) throws {
        // given
        let names = [later.profile.markers[0], "README", earlier.profile.markers[0]]
        // when
        let recognition = try #require(ProjectType.recognise(rootEntries: names))
        // then
        #expect(recognition.type == earlier)
        #expect(recognition.marker == names[2])
        #expect(recognition.passedOver == [names[0]])
        #expect(recognition.sentence == "\(earlier.profile.title), by \(names[2]) (before \(names[0]))")
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
