import Basics
import Foundation
import TestSupport
import Testing

/// The programs as they were built: the supervisor holds secrets, so a job's helpers are in a program of their own.
@Suite struct ToolsProgramTests {
    /// Texts of the analyzer, of the reader of manifests and of the assembler. Each is too long to be a value in the code, and so lies in the file.
    private static let texts = [
        "--analyzer-output", "show-dependencies", "no C targets: nothing to analyze", "there is nothing to archive",
    ]

    private func contains(_ text: String, _ program: String) throws -> Bool {
        let bytes = try WholeFile.read(try TestTools.builtProduct(program), limit: 1 << 30)
        return Data(bytes).range(of: Data(text.utf8)) != nil
    }

    @Test(arguments: texts) func testThatTheToolsHaveTheirTextsAndTheSupervisorHasNone(text: String) throws {
        #expect(try contains(text, "martlet-tools"))
        #expect(try !contains(text, "martlet-supervisor"))
    }

    @Test(.program("readelf")) func testThatTheToolsNeedNoLibrary() async throws {
        // given
        let program = try TestTools.builtProduct("martlet-tools")
        // when
        let usage = try await run([program, "--unknown"])
        let segments = try await run(["readelf", "--program-headers", program])
        // then
        #expect(usage.status == 64 && usage.stderr.contains("usage: martlet-tools"))
        #expect(segments.status == 0 && !segments.stdout.contains("INTERP"))
    }
}
