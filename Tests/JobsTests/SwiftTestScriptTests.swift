import BotSupport
import JobProtocol
import Model
import TestSupport
import Testing

@testable import Jobs

/// The script that runs `swift test`, with a program in place of `swift` that exits in the same ways.
@Suite struct SwiftTestScriptTests {
    @Test(
        .proves(
            .reports,
            "A usual command whose test process ended with 0 before its end is red, also before its first test; a script of npm that runs no test is red"
        ),
        arguments: [
            // A C constructor that exits: SwiftPM exits with 0 as well.
            ("", [], 1), ("echo >.martlet/test/events.jsonl", [], 0),
            ("echo >.martlet/test/events.jsonl; exit 1", [], 1),
            ("", ["--disable-swift-testing"], 0),
        ])
    func testThatARunWithoutEventsIsRed(swift: String, flags: [String], status: Int32) async throws {
        try await withTemporaryDirectory { directory in
            // given
            try directory.makeDirectory("tree/.martlet/test")
            try directory.write("bin/swift", "#!/bin/sh\n\(swift)\n", mode: 0o755)
            var debug = try Samples.configuration()
            debug.flags = flags
            let step = JobPlannerTests().plan(debug, type: .swiftPackage, tree: JobPlannerTests.packageTree).steps[2]
            // when
            let result = try await run(
                step.arguments, in: directory.path("tree"),
                environment: ["PATH": directory.path("bin") + ":/usr/bin:/bin"])
            // then
            #expect(result.status == status, "\(result.stdout)\(result.stderr)")
            #expect(result.stdout.contains("martlet: no report: ") == (swift.isEmpty && flags.isEmpty))
        }
    }

    /// Programs of a build: their names, and their contents.
    private static let program = """
        #!/bin/sh
        case "$*" in --list-tests) echo 'Listing 1 test in debug.xctest:'; echo; echo KitTests.KitTests/testAdds ;;
        *) echo 'error: no tests found; says a constructor'; exit 69 ;; esac

        """
    private static let linked = "    outputs: [\"/w/.build/x86_64-unknown-linux-gnu/debug/kitPackageTests.xctest\"]\n"

    @Test(
        .proves(
            .steps,
            "A Swift package's tests are listed by the program that the build linked; by SwiftPM where that is not certain"
        ),
        arguments: [
            (["kit": program], linked, [], true), (["kit": program], linked, ["-c", "debug"], true),
            // The product of an earlier manifest is no longer linked.
            (["kit": program, "old": program], linked, [], true),
            (["old": program], linked, [], false), ([:], linked, [], false), (["kit": program], "", [], false),
            (["kit": program, "old": program], linked + linked.replacing("kit", with: "old"), [], false),
            (["kit": "#!/bin/sh\nexit 1\n"], linked, [], false),
            (["kit": program], linked, ["--package-path", "sub"], false),
        ] as [([String: String], String, [String], Bool)])
    func testThatTheTestsAreListedByTheProgramThatTheBuildLinked(
        programs: [String: String], description: String, flags: [String], isOwn: Bool
    ) async throws {
        try await expectList(of: programs, description, flags, isOwn: isOwn)
    }

    /// SwiftPM builds in another directory then, so the program is one of an earlier build.
    @Test(
        .proves(
            .steps,
            "A Swift package's tests are listed by the program that the build linked; by SwiftPM where that is not certain"
        ))
    func testThatSwiftPMListsTheTestsOfAnotherBuildDirectory() async throws {
        let own = ["kit": Self.program]
        try await expectList(of: own, Self.linked, environment: ["SWIFTPM_BUILD_DIR": "/elsewhere"], isOwn: false)
        try await expectList(of: own, Self.linked, environment: ["SWIFTPM_BUILD_DIR": ""], isOwn: true)
    }

    private func expectList(
        of programs: [String: String], _ description: String, _ flags: [String] = [],
        environment: [String: String] = [:], isOwn: Bool, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        try await withTemporaryDirectory { directory in
            // given
            try directory.makeDirectory("tree/.martlet/test")
            try directory.makeDirectory("tree/.build/debug")
            try directory.write("bin/swift", "#!/bin/sh\necho \"asked: $*\"\n", mode: 0o755)
            for (name, text) in programs {
                try directory.write("tree/.build/debug/\(name)PackageTests.xctest", text, mode: 0o755)
            }
            try directory.write("tree/.build/debug.yaml", description)
            var debug = try Samples.configuration()
            debug.flags = flags
            let step = JobPlannerTests().plan(debug, type: .swiftPackage, tree: JobPlannerTests.packageTree).steps[1]
            // when
            let result = try await run(
                step.arguments, in: directory.path("tree"),
                environment: environment.merging(["PATH": directory.path("bin") + ":/usr/bin:/bin"]) { $1 })
            // then
            let asked = "asked: " + (["test", "list", "--skip-build"] + flags).joined(separator: " ") + "\n"
            #expect(
                result.stdout == (isOwn ? "KitTests.KitTests/testAdds\n" : asked), "\(result.stderr)",
                sourceLocation: sourceLocation)
            #expect(result.status == 0, sourceLocation: sourceLocation)
            expectFile(directory.path("tree/.martlet/test/list"), result.stdout)
        }
    }
}
