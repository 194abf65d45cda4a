import JobProtocol
import Model
import TestSupport
import Testing

@testable import Integrations

/// The script that runs `swift test`, with a program in place of `swift` that ends as it does.
@Suite struct SwiftTestScriptTests {
    @Test(arguments: [
        // A constructor of C that exits: SwiftPM ends with 0 as well.
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
}
